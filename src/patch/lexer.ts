/**
 * Cuts `ops` into rows and reads one row as a header, strictly by the grammar at the head of parser.ts.
 *
 * Knows one row at a time and no meaning: which headers take rows, which ranges are reversed and what stands beside what is
 * the parser's. Every step is linear in the row; nothing is allocated for the size of a number. Called by parser and diagnosis.
 */
import type { Gap, Span } from './ops.js'

/** Bounds of one `ops` payload (contract §12); `limits` has them all. */
export interface PatchBounds {
  readonly opsBytes: number
  readonly opsPerCall: number
  readonly lineNumberDigits: number
  readonly registerNameChars: number
}

export type LocatedToken = {
  readonly verb: 'PUT' | 'CUT'
  readonly at: Gap | Span
  readonly colon: boolean
  readonly register?: string
}
export type HeaderToken = LocatedToken | { readonly verb: 'REM' } | { readonly verb: 'MV'; readonly dest: string }

/** The rows of `ops` without terminators; a CR before LF is transport (reading §1.6). */
export function rowsOf(ops: string): readonly string[] {
  const rows = ops.split('\n')
  for (let i = 0; i < rows.length - 1; i++) {
    const row = rows[i] ?? ''
    if (row.endsWith('\r')) rows[i] = row.slice(0, -1)
  }
  return rows
}

const isBlank = (char: string | undefined): boolean => char === ' ' || char === '\t' || char === '\r'

/** A header without its trailing blanks. A loop, because the usual pattern is quadratic in a long run of blanks. */
export function withoutTrailingBlanks(row: string): string {
  let end = row.length
  while (end > 0 && isBlank(row[end - 1])) end--
  return row.slice(0, end)
}

/** The index of the first row at or after `from` that is not empty; `rows.length` when there is none. */
export function skipEmpty(rows: readonly string[], from: number): number {
  let at = from
  while (at < rows.length && rows[at] === '') at++
  return at
}

/** Whether the first row below `rows[at]` that is not empty is a body row. */
export const bodyFollows = (rows: readonly string[], at: number): boolean =>
  rows[skipEmpty(rows, at + 1)]?.startsWith('+') === true

export const isSpan = (at: Gap | Span): at is Span => at.kind === 'range' || at.kind === 'block'

const LOCATED =
  /^(?<verb>PUT|CUT) (?:(?<first>[1-9]\d*)\.=(?<last>[1-9]\d*)|(?<block>[1-9]\d*)\*|<(?<before>[1-9]\d*)|>(?<after>[1-9]\d*)(?<star>\*)?|>\$)(?<colon>:)?(?: @(?<register>[A-Za-z0-9_-]+))?$/

/** Reads `header`, a row without trailing blanks. Undefined: the grammar has no such header. */
export function lexHeader(header: string, bounds: PatchBounds): HeaderToken | 'long number' | undefined {
  if (header === 'REM') return { verb: 'REM' }
  if (header.startsWith('MV ')) {
    const destination = lexDestination(header.slice(3))
    return 'dest' in destination ? { verb: 'MV', dest: destination.dest } : undefined
  }
  const groups = LOCATED.exec(header)?.groups
  if (groups === undefined) return undefined
  const { verb, first, last, block, before, after, star, colon, register } = groups
  if (register !== undefined && register.length > bounds.registerNameChars) return undefined
  const digits = first ?? block ?? before ?? after ?? ''
  if (Math.max(digits.length, last?.length ?? 0) > bounds.lineNumberDigits) return 'long number'
  const at = locator(first, last, block, before, after, star !== undefined)
  const known = verb === 'CUT' ? 'CUT' : 'PUT'
  return register === undefined
    ? { verb: known, at, colon: colon !== undefined }
    : { verb: known, at, colon: colon !== undefined, register }
}

function locator(
  first: string | undefined,
  last: string | undefined,
  block: string | undefined,
  before: string | undefined,
  after: string | undefined,
  star: boolean,
): Gap | Span {
  if (first !== undefined && last !== undefined) return { kind: 'range', first: Number(first), last: Number(last) }
  if (block !== undefined) return { kind: 'block', line: Number(block) }
  if (before !== undefined) return { kind: 'before', line: Number(before) }
  if (after !== undefined) return { kind: star ? 'afterBlock' : 'after', line: Number(after) }
  return { kind: 'end' }
}

export type DestinationFault =
  'no destination' | 'empty destination' | 'open quote' | 'text behind quote' | 'unknown escape' | 'spacing'

/** What stands behind `MV `: the rest of the row, or `"quoted"` with `\"` and `\\` (reading §4.6). */
export function lexDestination(text: string): { readonly dest: string } | { readonly fault: DestinationFault } {
  if (text === '') return { fault: 'no destination' }
  if (isBlank(text[0])) return { fault: 'spacing' }
  if (!text.startsWith('"')) return { dest: text }
  const parts: string[] = []
  let from = 1
  for (let i = 1; i < text.length; i++) {
    if (text[i] === '"') {
      if (i < text.length - 1) return { fault: 'text behind quote' }
      const dest = parts.join('') + text.slice(from, i)
      return dest === '' ? { fault: 'empty destination' } : { dest }
    }
    if (text[i] !== '\\') continue
    if (text[i + 1] !== '"' && text[i + 1] !== '\\')
      return { fault: i + 1 < text.length ? 'unknown escape' : 'open quote' }
    parts.push(text.slice(from, i))
    from = i + 1
    i++
  }
  return { fault: 'open quote' }
}

const NAMED = /^\[(?<path>.+)#(?<tag>[0-9A-Fa-f]{4})\]$/s

/** Reads `[path#TAG]`; the path ends at the last `#XXXX]` (reading §4.9). `header` is a row without trailing blanks. */
export function lexNamed(header: string): { readonly path: string; readonly tag: string } | undefined {
  const groups = NAMED.exec(header)?.groups
  return groups?.path === undefined || groups.tag === undefined
    ? undefined
    : { path: groups.path, tag: groups.tag.toUpperCase() }
}
