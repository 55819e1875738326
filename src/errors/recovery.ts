/**
 * What the next prompt should do differently when the repeat guard ends one (contract §9.3): one hint per class of last failure.
 */
import type { ErrorCode } from './table.js'

/** `suggestion`: the corrected header of a parse failure, when it is known. */
export function guardRecovery(code: ErrorCode | 'PATCH_COMMAND_FAILED', suggestion?: string): string {
  switch (code) {
    case 'EDIT_PARSE_FAILED':
      return `correct the operation syntax, no Read is needed: a PUT with body rows must end its header with ":", for example PUT 48.=48:${suggestion === undefined ? '' : `; here: ${suggestion}`}`
    case 'EDIT_TAG_MISMATCH':
    case 'EDIT_TAG_UNKNOWN':
    case 'WRITE_STALE':
      return 'read the file again and use the tag and the line numbers of that answer'
    case 'EDIT_LINES_UNSEEN':
      return 'read the lines the edit names, or use the complete reveal of the refusal, then edit with that tag'
    case 'EDIT_NO_CHANGE':
      return 'the file already holds this text; read it and go on with the next change'
    case 'PATCH_COMMAND_FAILED':
      return 'stop patching through the shell; read the file and use Edit with line anchors'
    default:
      return 'read the file, then write one op with the line numbers it shows'
  }
}
