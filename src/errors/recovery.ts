/**
 * What the next prompt should do differently when the repeat guard ends one (contract §9.3): one hint per class of last failure.
 */
import type { ErrorCode } from './table.js'

type GuardedCode = ErrorCode | 'PATCH_COMMAND_FAILED'

const reread = 'read the file again and use the tag and the line numbers of that answer'

const hints: Partial<Record<GuardedCode, string>> = {
  EDIT_PARSE_FAILED:
    'correct the operation syntax, no Read is needed: a PUT with body rows must end its header with ":", for example PUT 48.=48:',
  EDIT_TAG_REQUIRED: 'take the four hex digits behind # in the newest header of this file and send them as tag',
  EDIT_TAG_MISMATCH: reread,
  EDIT_TAG_UNKNOWN: reread,
  WRITE_STALE: reread,
  EDIT_LINES_UNSEEN:
    'read the lines the edit names, or use the complete reveal of the refusal, then edit with that tag',
  EDIT_RANGE_INVALID:
    'read the file and count ranges by the numbers it shows: first line before last, no line named by two ops, PUT >$: to append',
  EDIT_BLOCK_UNRESOLVED: 'name the lines instead of the block: PUT N.=M: or CUT N.=M with the numbers that Read shows',
  EDIT_REGISTER_EMPTY: 'CUT the lines with a register first, for example CUT 5.=7 @a, then paste it with PUT >9 @a',
  EDIT_REGISTER_AMBIGUOUS: 'name every capture, for example CUT 5.=7 @a, and paste it by its name',
  EDIT_REPAIR_AMBIGUOUS: 'name only the lines that change and leave the rows around them out of the body',
  EDIT_NO_CHANGE:
    'the file already holds this text; read it and go on with the next change, and send MV alone to move the file',
  EDIT_AMPLIFICATION_LIMIT: 'split the change into several calls',
  INVALID_ARGUMENT: 'correct the argument that the refusal names before calling again',
  NOT_FOUND: 'look the path up with Grep, or create the file with Write',
  CONFLICT: 'choose another destination, or read the files and begin from what they hold now',
  FILE_TOO_LARGE: 'work on a smaller file',
  TOOL_BINARY_CONTENT: 'choose a text file',
  ENCODING_UNSUPPORTED: 'choose a file that is valid UTF-8',
  IDEMPOTENCY_KEY_REUSED: 'send a new Idempotency-Key with every new request',
  PATCH_COMMAND_FAILED: 'stop patching through the shell; read the file and use Edit with line anchors',
}

/** `suggestion`: the corrected row or the spelling to use, when the refusal knows it. */
export function guardRecovery(code: GuardedCode, suggestion?: string): string {
  const hint = hints[code] ?? 'read the file, then write one op with the line numbers it shows'
  return suggestion === undefined ? hint : `${hint}; here: ${suggestion}`
}
