/**
 * Body rows that restate the lines directly beside their range (contract §8.4, reading §6.1): what they are, never whether they go.
 *
 * Line equality alone decides, blanks included and terminators excluded: the longest run at the head of the body that equals the lines directly above
 * the range, and the longest at its tail that equals those directly below. A neighbour counts only when it survives the call and nothing comes
 * to stand between it and the range. A run of blank lines is no echo. Called by repair.
 */
import type { Document } from '../text/document.js'
import type { LineRange } from '../text/line-range.js'
import type { ResolvedOp } from './resolved.js'

/** Rows at the head of a body that restate the lines above its range, rows at its tail that restate those below. Both at least 0. */
export interface Echo {
  readonly head: number
  readonly tail: number
}

/** Lines directly above and below a range that survive the call with nothing in between. */
interface Neighbours {
  readonly above: number
  readonly below: number
}

const NO_ECHO: Echo = { head: 0, tail: 0 }

/** The body of an op that repair may touch: rows that an author wrote over lines (reading §6.5). Undefined for gaps, cuts and register pastes. */
export function replacedBody(op: ResolvedOp): readonly string[] | undefined {
  if (op.source !== 'body' || op.range.isGap) return undefined
  return op.replacements[0]?.rows
}

/** One echo per op, in the order of `ops`. Costs follow the bodies, not the file. */
export function findEchoes(base: Document, ops: readonly ResolvedOp[]): readonly Echo[] {
  const neighbours = survivors(base, ops)
  return ops.map((op) => {
    const rows = replacedBody(op)
    const free = neighbours.get(op)
    return rows === undefined || free === undefined ? NO_ECHO : echoOf(base, op.range, rows, free)
  })
}

function survivors(base: Document, ops: readonly ResolvedOp[]): ReadonlyMap<ResolvedOp, Neighbours> {
  const sorted = ops
    .flatMap((op) => op.replacements.map(({ range }) => ({ op, range })))
    .sort((a, b) => a.range.start - b.range.start || a.range.end - b.range.end)
  const free = new Map<ResolvedOp, Neighbours>()
  for (const [i, { op, range }] of sorted.entries()) {
    const above = range.start - (sorted[i - 1]?.range.end ?? 1)
    const below = (sorted[i + 1]?.range.start ?? base.lineCount + 1) - range.end
    free.set(op, { above, below })
  }
  return free
}

function echoOf(base: Document, range: LineRange, rows: readonly string[], free: Neighbours): Echo {
  const head = restatedHead(rows, Math.min(free.above, rows.length), (distance) => base.text(range.start - distance))
  const backwards = [...rows].reverse()
  const tail = restatedHead(backwards, Math.min(free.below, rows.length), (distance) =>
    base.text(range.last + distance),
  )
  return {
    head: rows.slice(0, head).every(isBlank) ? 0 : head,
    tail: backwards.slice(0, tail).every(isBlank) ? 0 : tail,
  }
}

/**
 * The largest k for which the first k rows equal the k lines nearest to the range, read towards it. `lineAt(1)` is the nearest line, `lineAt(2)` the one
 * behind it. A border search (Knuth, Morris and Pratt), so that repetitive bodies cost no more than others.
 */
function restatedHead(rows: readonly string[], lines: number, lineAt: (distance: number) => string): number {
  // Most bodies do not hold the nearest line at all; then no run can end in it.
  if (lines === 0 || !rows.includes(lineAt(1))) return 0
  const fallback = borders(rows)
  let matched = 0
  for (let distance = lines; distance >= 1; distance--) {
    const line = lineAt(distance)
    while (matched > 0 && rows[matched] !== line) matched = fallback[matched - 1] ?? 0
    if (rows[matched] === line) matched++
  }
  return matched
}

/** For every prefix of `rows` the length of its longest proper prefix that is also its suffix. */
function borders(rows: readonly string[]): Uint32Array {
  const border = new Uint32Array(rows.length)
  let length = 0
  for (let i = 1; i < rows.length; i++) {
    while (length > 0 && rows[i] !== rows[length]) length = border[length - 1] ?? 0
    if (rows[i] === rows[length]) length++
    border[i] = length
  }
  return border
}

export function isBlank(row: string): boolean {
  return row.trim() === ''
}
