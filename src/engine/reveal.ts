/**
 * What a refusal hands back so that the honest retry needs no Read: rows of the live text, anchors first, then context (contract §9.1, reading §3.6).
 *
 * Bounded in rows and characters. It is complete only when every anchor line is shown at full width, because a truncated reveal proves nothing
 * and must merge nothing. Called by the gates and by Write's stale guard.
 */
import type { ReadAdvice, RevealFields } from '../errors/table.js'
import { limits } from '../limits.js'
import type { Document } from '../text/document.js'
import { clip } from '../text/hunks.js'
import { LineRange } from '../text/line-range.js'
import { LineSet } from '../text/line-set.js'
import { windowOf } from '../text/window.js'

export interface RevealBounds {
  /** Rows at most; 0 in a dry run, which reveals nothing. */
  readonly rows: number
  readonly rowChars: number
  readonly contextLines: number
  readonly read: ReadBounds
}

/** What one Read answers, and how many of them a refusal lists. */
export interface ReadBounds {
  readonly lines: number
  /** UTF-16 units past which a plain Read clips a row. */
  readonly lineChars: number
  /** Bytes of one answer; a wider line has no raw form either. */
  readonly contentBytes: number
  readonly steps: number
  /** Lines that are looked at for rows too wide; an edit of more has its own refusal. */
  readonly probedLines: number
}

/** The bounds of the contract; a dry run reveals nothing. */
export function revealBounds(dryRun: boolean): RevealBounds {
  return {
    rows: dryRun ? 0 : limits.revealLines,
    rowChars: limits.revealLineChars,
    contextLines: limits.revealContextLines,
    read: {
      lines: limits.readMaxLines,
      lineChars: limits.maxLineChars,
      contentBytes: limits.readContentBytes,
      steps: limits.revealReads,
      probedLines: limits.expandedLines,
    },
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
  const complete = bounds.rows > 0 && allAnchors && !lines.some((row) => row.clipped && wanted.has(row.line))
  return {
    liveTag: live.tag,
    lines,
    revealComplete: complete,
    ...(complete || wanted.isEmpty ? {} : { reading: readingOf(live, wanted, bounds.read) }),
  }
}

/** The reads that show `wanted`, lines of `live`, as Read itself would answer them. */
function readingOf(live: Document, wanted: LineSet, bounds: ReadBounds): ReadAdvice {
  const width = widest(live, wanted, bounds)
  if (typeof width === 'object') return width
  const raw = width === 'raw'
  const steps: { offset: number; limit: number }[] = []
  let left = wanted
  for (let range = left.ranges[0]; range; range = left.ranges[0]) {
    const offset = range.start
    const last = left.ranges.at(-1)?.last ?? offset
    if (steps.length === bounds.steps) return { steps, raw, until: last }
    const ask = { offset, limit: Math.min(bounds.lines, last - offset + 1), raw }
    // At least one line, because none of those that were looked at is too wide.
    const end = offset + Math.max(1, windowOf(live, ask, bounds).lineCount)
    const covered = left.within(new LineRange(offset, end))
    steps.push({ offset, limit: (covered.ranges.at(-1)?.last ?? offset) - offset + 1 })
    left = left.minus(covered)
  }
  return { steps, raw }
}

/** Whether a plain Read clips a row of `wanted`, and the first line that no Read shows. */
function widest(live: Document, wanted: LineSet, bounds: ReadBounds): 'plain' | 'raw' | { tooWide: number } {
  let probes = bounds.probedLines
  let width: 'plain' | 'raw' = 'plain'
  for (const line of wanted.lines()) {
    if (probes-- === 0) break
    const bytes = live.content(line).length
    if (bytes <= bounds.lineChars) continue
    if (bytes + live.terminator(line).length > bounds.contentBytes) return { tooWide: line }
    if (width === 'plain' && live.text(line).length > bounds.lineChars) width = 'raw'
  }
  return width
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
