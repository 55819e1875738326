/**
 * Where runs of anchors stand in the live text: every place that a longest map of unchanged lines gives them with the context that the contract wants
 * (contract §10.3–10.4, reading §3.5).
 *
 * Texts with repeated lines have several longest maps and a diff finds one of them by chance. Here a place counts when any longest map has it, and it is
 * proven when no longest map has another one. Never looks for similar text and never outside the maps. Called by recover.ts.
 *
 * The file's two ends count as lines that only stand for themselves: a neighbour that does not exist is mapped when the anchor stands at the same end.
 */
import type { DeclineReason } from '../errors/declines.js'
import type { Document } from '../text/document.js'
import { trimmedEnd } from '../text/line-ids.js'
import type { LineMap, UnchangedRun } from '../text/line-map.js'
import { mappedLine } from '../text/line-map.js'
import { LineRange } from '../text/line-range.js'
import type { LineSet } from '../text/line-set.js'

/** A run of anchors and the lines that stand with it, at one offset. */
export interface Place {
  readonly anchors: LineRange
  readonly offset: number
  /** The anchors with those neighbours that map with them. */
  readonly window: LineRange
  /** The unchanged run that holds the window. */
  readonly within: RankedRun
}

/** `rank`: unchanged lines before it in every longest map that holds it. */
export interface RankedRun extends UnchangedRun {
  readonly rank: number
}

export interface Maps {
  readonly map: LineMap
  /** Every run of every longest map, sorted by `from`. */
  readonly all: readonly RankedRun[]
}

export function mapsOf(map: LineMap): Maps {
  let rank = 0
  const ranked = map.runs.map((run) => {
    rank += run.length
    return { ...run, rank: rank - run.length }
  })
  if (map.alternatives.length === 0) return { map, all: ranked }
  return { map, all: [...ranked, ...map.alternatives].sort((p, q) => p.from - q.from) }
}

/** The one place of a contiguous run of anchors, or why there is none that is proven. */
export function placeOf(anchors: LineRange, maps: Maps, lines: Occurrences): Place | DeclineReason {
  const holding = maps.all.filter((run) => run.from <= anchors.start && anchors.end <= run.from + run.length)
  if (holding.length === 0) return brokenAt(anchors, maps)
  const fitting = holding.map((run) => fit(anchors, run, lines)).filter((place) => place.neighbours > 0)
  const duplicated = fitting.every((place) => place.neighbours === 2) ? undefined : lines.duplicated(anchors)
  const proven = duplicated === undefined ? fitting : fitting.filter((place) => place.neighbours === 2)
  const [place] = proven
  if (place === undefined) {
    const line = duplicated ?? lines.duplicated(anchors)
    return line === undefined ? { kind: 'context changed', line: anchors.start } : { kind: 'duplicated line', line }
  }
  const other = proven.find((p) => p.offset !== place.offset)
  if (other) {
    const places = [anchors.start + place.offset, anchors.start + other.offset].sort((p, q) => p - q)
    return { kind: 'two places', line: anchors.start, places: [places[0] ?? 0, places[1] ?? 0] }
  }
  const rival = rivalOf(place, maps)
  if (rival !== undefined) return { kind: 'one of two left', lines: [anchors.start, rival] }
  // The same run may be listed cut short by the chosen map and in full; the widest window says the most.
  return proven.reduce((widest, p) => (p.window.length > widest.window.length ? p : widest))
}

interface Fit extends Place {
  readonly neighbours: 0 | 1 | 2
}

function fit(anchors: LineRange, run: RankedRun, lines: Occurrences): Fit {
  const offset = run.to - run.from
  const { start, last } = anchors
  const above = start === 1 ? offset === 0 : run.from < start
  const below =
    last === lines.tagged.lineCount ? last + offset === lines.live.lineCount : last + 1 < run.from + run.length
  const window = new LineRange(
    above && start > 1 ? start - 1 : start,
    below && last < lines.tagged.lineCount ? anchors.end + 1 : anchors.end,
  )
  return { anchors, offset, window, within: run, neighbours: above && below ? 2 : above || below ? 1 : 0 }
}

/**
 * The line of the tagged text whose copy the live text keeps in some longest map where others keep the anchors: two regions alike, neighbours included, of
 * which one is gone. Which one changed cannot be told.
 */
function rivalOf(place: Place, maps: Maps): number | undefined {
  if (place.window.length < place.anchors.length + 2) return undefined
  const window = place.window.shift(place.offset)
  const rival = maps.all.find(
    (run) => run.to <= window.start && window.end <= run.to + run.length && run.to - run.from !== place.offset,
  )
  return rival && place.anchors.start + place.offset - (rival.to - rival.from)
}

/** Why no longest map keeps the anchors together. */
function brokenAt(anchors: LineRange, { map, all }: Maps): DeclineReason {
  let line = anchors.start
  for (const run of all) {
    if (run.from > line || line >= anchors.end) break
    line = Math.max(line, run.from + run.length)
  }
  if (line < anchors.end) return { kind: 'line changed', line }
  for (line = anchors.start; line < anchors.last; line++) {
    const here = mappedLine(map.runs, line)
    const next = mappedLine(map.runs, line + 1)
    if (here === undefined) break
    if (next !== undefined && next !== here + 1) return { kind: 'inserted between', lines: [line, line + 1] }
  }
  return { kind: 'line changed', line }
}

/** How often anchor lines occur in the two texts; counted at the first question, in one pass for all anchors. */
export class Occurrences {
  private counts: Map<string, number> | undefined

  constructor(
    readonly tagged: Document,
    readonly live: Document,
    private readonly anchors: LineSet,
  ) {}

  /** The first line of `range` that occurs more than once in the tagged or in the live text. */
  duplicated(range: LineRange): number | undefined {
    this.counts ??= this.count()
    for (let line = range.start; line < range.end; line++) {
      if ((this.counts.get(key(this.tagged, line)) ?? 0) > 1) return line
    }
    return undefined
  }

  /** Per anchor text the larger of its two counts. Lines are decoded only when one of their length is asked for. */
  private count(): Map<string, number> {
    const wanted = new Map<string, number>()
    const lengths = new Set<number>()
    for (const line of this.anchors.lines()) {
      const text = key(this.tagged, line)
      wanted.set(text, 0)
      lengths.add(text.length)
    }
    for (const text of [this.tagged, this.live]) {
      const found = new Map<string, number>()
      for (let line = 1; line <= text.lineCount; line++) {
        if (!lengths.has(trimmedLength(text, line))) continue
        const content = key(text, line)
        if (wanted.has(content)) found.set(content, (found.get(content) ?? 0) + 1)
      }
      for (const [content, times] of found) wanted.set(content, Math.max(times, wanted.get(content) ?? 0))
    }
    return wanted
  }
}

function trimmedLength(text: Document, line: number): number {
  const { start, end } = text.slice(line)
  return trimmedEnd(text.bytes, start, end) - start
}

/** The bytes of a line without trailing blanks, one character each. */
function key(text: Document, line: number): string {
  const { start, end } = text.slice(line)
  return text.bytes.toString('latin1', start, trimmedEnd(text.bytes, start, end))
}
