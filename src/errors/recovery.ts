/**
 * What the next prompt should do differently when the repeat guard ends one (contract §9.3): one hint per class of last failure.
 */
import type { ErrorCode } from './table.js'

type GuardedCode = ErrorCode | 'PATCH_COMMAND_FAILED'

const reread = 'read the file again and use the tag and the line numbers of that answer'

const hints: Partial<Record<GuardedCode, string>> = {
  EDIT_PARSE_FAILED:
    'correct the operation syntax, no Read is needed: a PUT with body rows must end its header with ":", for example PUT 48.=48:',
  EDIT_TAG_MISMATCH: reread,
  EDIT_TAG_UNKNOWN: reread,
  WRITE_STALE: reread,
  EDIT_LINES_UNSEEN:
    'read the lines the edit names, or use the complete reveal of the refusal, then edit with that tag',
  EDIT_NO_CHANGE: 'the file already holds this text; read it and go on with the next change',
  PATCH_COMMAND_FAILED: 'stop patching through the shell; read the file and use Edit with line anchors',
}

/** `suggestion`: the corrected header of a parse failure, when it is known. */
export function guardRecovery(code: GuardedCode, suggestion?: string): string {
  const hint = hints[code] ?? 'read the file, then write one op with the line numbers it shows'
  return suggestion === undefined ? hint : `${hint}; here: ${suggestion}`
}
