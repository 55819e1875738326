/**
 * Builds the refusals of the patch language: which row, what was found there, and what to write instead.
 *
 * Writes no message text (that is `errors/parse-problems.ts`), only ops. Called by parser and diagnosis.
 */
import { clipText, quoteText } from '../errors/clip.js'
import type { ParseProblem } from '../errors/parse-problems.js'
import { reversedRangeText } from '../errors/parse-problems.js'
import { ToolError } from '../errors/tool-error.js'
import type { Gap, Op, Span } from './ops.js'
import { headerText, locatorText } from './print.js'
import type { LocatedToken, PatchBounds } from './lexer.js'
import { isSpan } from './lexer.js'

/** A refused row, `rows[at]`, and what stands over it. */
export interface Site {
  readonly rows: readonly string[]
  readonly at: number
  readonly bounds: PatchBounds
  /** The op above, closed before this row unless `under` says otherwise. */
  readonly above?: Op
  /** The colon header whose body this row would belong to, and the body so far. */
  readonly under?: { readonly header: string; readonly body: readonly string[] }
}

/** What stands where the refused row stood: known for certain (`write`), or only as a worked example (`like`). */
export type Correction = { readonly write: string } | { readonly like: string }

/** UTF-16 units of a correction that repeats the caller's text; a longer one is shown shortened, as an example. */
const CORRECTION_CHARS = 200
const FOUND_CHARS = 200

export const EXAMPLE_TEXT = 'new text'
/** One worked example per verb, for rows of which not enough can be read. */
export const EXAMPLES = {
  PUT: `PUT 5.=7:\n+${EXAMPLE_TEXT}`,
  CUT: 'CUT 5.=7',
  REM: 'REM',
  MV: 'MV docs/new-name.md',
} as const

/** What a CUT with rows below it may have meant: rows in place of its lines, or above them when they go to a register. */
export function cutOverRows(at: Gap | Span, register: string | undefined): string {
  if (register === undefined || !isSpan(at)) return headerText({ kind: 'put', at, rows: [] })
  const first = at.kind === 'range' ? at.first : at.line
  const above: Gap = first === 1 ? { kind: 'before', line: 1 } : { kind: 'after', line: first - 1 }
  return `${headerText({ kind: 'cut', at, register })}\n${headerText({ kind: 'put', at: above, rows: [] })}`
}

/** The CUT whose author may have meant the line that a gap names. */
export function cutNear(at: Gap | Span, register: string | undefined): string {
  return headerText({ kind: 'cut', at: spanNear(at), ...(register === undefined ? {} : { register }) })
}

function spanNear(at: Gap | Span): Span {
  if (at.kind === 'end') return { kind: 'range', first: 5, last: 7 }
  if (at.kind === 'range' || at.kind === 'block') return at
  return at.kind === 'afterBlock' ? { kind: 'block', line: at.line } : { kind: 'range', first: at.line, last: at.line }
}

/** EDIT_PARSE_FAILED for `rows[index]`. */
export function refuse(
  rows: readonly string[],
  index: number,
  problem: ParseProblem,
  correction: Correction,
): ToolError<'EDIT_PARSE_FAILED'> {
  const params = { opsLine: index + 1, found: clipText(rows[index] ?? '', FOUND_CHARS), problem }
  if ('like' in correction)
    return new ToolError('EDIT_PARSE_FAILED', { ...params, example: shortened(correction.like) })
  return correction.write.length > CORRECTION_CHARS
    ? new ToolError('EDIT_PARSE_FAILED', { ...params, example: shortened(correction.write) })
    : new ToolError('EDIT_PARSE_FAILED', { ...params, suggestion: correction.write })
}

const shortened = (text: string): string => quoteText(text, CORRECTION_CHARS)

/** A number of more digits than any file has lines; the digits are never read (reading §4.5). */
export const refuseLongNumber = (index: number): ToolError<'EDIT_RANGE_INVALID'> =>
  new ToolError('EDIT_RANGE_INVALID', { problem: 'number too long', opsLine: index + 1 })

/**
 * `7.=3`: a count in place of the last line, or an empty range that stands for a gap. Never the numbers exchanged, which
 * would apply to lines nobody named.
 */
export function refuseReversed(
  index: number,
  token: LocatedToken,
  range: { readonly first: number; readonly last: number },
  digits: number,
): ToolError<'EDIT_RANGE_INVALID'> {
  const { first, last } = range
  const ending = token.register === undefined ? (token.colon ? ':' : '') : ` @${token.register}`
  const counted = first + last - 1
  const suggestion = reversedRangeText({
    first,
    last,
    ...(String(counted).length > digits
      ? {}
      : { counted: `${token.verb} ${locatorText({ kind: 'range', first, last: counted })}${ending}` }),
    ...(token.verb === 'PUT' && last === first - 1
      ? { insert: `PUT ${locatorText({ kind: 'before', line: first })}${ending || ':'}` }
      : {}),
  })
  return new ToolError('EDIT_RANGE_INVALID', { problem: 'reversed', opsLine: index + 1, line: first, suggestion })
}
