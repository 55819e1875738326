/**
 * What a refusal hands back so that the honest retry needs no Read: rows of the live text, anchors first, then context (contract §9.1, reading §3.6).
 *
 * Bounded in rows and characters. It is complete only when every anchor line is shown at full width, because a truncated reveal proves nothing
 * and must merge nothing. Called by the gates and by Write's stale guard.
 */
import type { RevealFields } from '../errors/table.js'
import { limits } from '../limits.js'
import type { Document } from '../text/document.js'
import { clip } from '../text/hunks.js'
import { LineRange } from '../text/line-range.js'
import { LineSet } from '../text/line-set.js'

export interface RevealBounds {
  /** Rows at most; 0 in a dry run, which reveals nothing. */
  readonly rows: number
  readonly rowChars: number
  readonly contextLines: number
  /** UTF-16 units past which a plain Read clips a row, and bytes past which a raw one shows none. */
  readonly readChars: number
  readonly readBytes: number
}

/** The bounds of the contract; a dry run reveals nothing. */
export function revealBounds(dryRun: boolean): RevealBounds {
  return {
    rows: dryRun ? 0 : limits.revealLines,
    rowChars: limits.revealLineChars,
    contextLines: limits.revealContextLines,
    readChars: limits.maxLineChars,
    readBytes: limits.readContentBytes,
  }
}

/** Reveals `anchors` (numbers of the live text; those past its end are clamped to its last line). Work is bounded by `rows`, not by the anchors. */
export function reveal(live: Document, anchors: LineSet, bounds: RevealBounds): RevealFields {
  const wanted = clamped(anchors, live.lineCount)
  const shown = new Set<number>()
  for (const line of wanted.lines()) {
    if (shown.size >= bounds.rows) break
    shown.add(line)
  }
  const allAnchors = wanted.size <= bounds.rows
  for (const range of allAnchors ? wanted.ranges : []) {
    for (const line of around(range, live.lineCount, bounds.contextLines)) {
      if (shown.size >= bounds.rows) break
      shown.add(line)
    }
  }
  const lines = [...shown]
    .sort((a, b) => a - b)
    .map((line) => {
      const { text, clipped } = clip(live.text(line), bounds.rowChars)
      return { line, text, clipped }
    })
  const complete = allAnchors && !lines.some((row) => row.clipped && wanted.has(row.line))
  const first = wanted.ranges[0]
  const last = wanted.ranges.at(-1)
  return {
    liveTag: live.tag,
    lines,
    revealComplete: complete,
    ...(complete || !first || !last
      ? {}
      : { readRange: { start: first.start, end: last.last }, ...wideLine(live, lines, wanted, bounds) }),
  }
}

/** The first clipped anchor that a plain Read would clip too. */
function wideLine(
  live: Document,
  rows: RevealFields['lines'],
  wanted: LineSet,
  bounds: RevealBounds,
): Pick<RevealFields, 'wide'> {
  for (const { line, clipped } of rows) {
    const bytes = clipped && wanted.has(line) ? live.content(line).length : 0
    if (bytes <= bounds.readChars) continue
    if (bytes + 2 > bounds.readBytes) return { wide: { line, shownBy: 'nothing' } }
    if (live.text(line).length > bounds.readChars) return { wide: { line, shownBy: 'raw' } }
  }
  return {}
}

/** The rows of a complete reveal that count as shown from now on. */
export function shownBy(fields: RevealFields): LineSet {
  return fields.revealComplete
    ? LineSet.ofLines(fields.lines.filter((row) => !row.clipped).map((row) => row.line))
    : LineSet.empty
}

function clamped(lines: LineSet, lineCount: number): LineSet {
  if (lineCount === 0) return LineSet.empty
  const inside = lines.within(new LineRange(1, lineCount + 1))
  return inside.size === lines.size ? inside : inside.union(LineSet.ofLines([lineCount]))
}

/** Lines around a range, the nearest first. */
function* around(range: LineRange, lineCount: number, distance: number): Generator<number> {
  for (let step = 1; step <= distance; step++) {
    if (range.start - step >= 1) yield range.start - step
    if (range.last + step <= lineCount) yield range.last + step
  }
}
