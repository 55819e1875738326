/**
 * The notation of the patch tests: one line per case, `⏎` for a line feed.
 *
 * Accepted ops read `put 5.=7 |a|b|`, `paste <5 @r`, `cut 5* @r`, `remove`, `move dest`, joined by ` ; `. A refusal reads
 * `ROW kind = correction` or `ROW kind ~ example`; codes other than EDIT_PARSE_FAILED stand in place of the kind.
 */
import { ToolError } from '../../src/errors/tool-error.js'
import { parseOps } from '../../src/patch/parser.js'
import { locatorText } from '../../src/patch/print.js'
import type { Op, Patch } from '../../src/patch/ops.js'

export const unfold = (text: string): string => text.replaceAll('⏎', '\n')
export const fold = (text: string): string => text.replaceAll('\n', '⏎')

const registerOf = (op: { readonly register?: string }): string => (op.register === undefined ? '' : ` @${op.register}`)

function opText(op: Op): string {
  switch (op.kind) {
    case 'put':
      return `put ${locatorText(op.at)} |${op.rows.join('|')}|`
    case 'paste':
    case 'cut':
      return `${op.kind} ${locatorText(op.at)}${registerOf(op)}`
    case 'remove':
      return 'remove'
    case 'move':
      return `move ${op.dest}`
  }
}

export const patchText = (patch: Patch): string =>
  [...(patch.named ? [`${patch.named.path} at ${patch.named.tag}`] : []), ...patch.ops.map(opText)].join(' ; ')

export function refusalText(error: ToolError): string {
  if (error.is('EDIT_PARSE_FAILED')) {
    const { opsLine, problem, suggestion, example } = error.params
    return `${opsLine} ${problem.kind} ${suggestion === undefined ? `~ ${example ?? 'nothing'}` : `= ${suggestion}`}`
  }
  if (error.is('EDIT_RANGE_INVALID')) {
    const { opsLine, problem, suggestion } = error.params
    return `${opsLine} EDIT_RANGE_INVALID ${problem}${suggestion === undefined ? '' : `: ${suggestion}`}`
  }
  return `${error.code} ${error.detail}`
}

/** What the parser makes of `ops`, in the notation. Lets every error through that is not of the table. */
export function verdict(ops: string): string {
  const result = outcome(ops)
  return fold(result instanceof ToolError ? refusalText(result) : patchText(result))
}

export function outcome(ops: string): Patch | ToolError {
  try {
    return parseOps(ops)
  } catch (error) {
    if (error instanceof ToolError) return error
    throw error
  }
}
