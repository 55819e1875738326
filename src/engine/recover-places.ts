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
import { limits } from '../limits.js'
import type { Document } from '../text/document.js'
import { trimmedEnd, trimmedKey } from '../text/line-ids.js'
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
  const duplicated = fitting.length > 0 && fitting.every(hasBoth) ? undefined : lines.duplicated(anchors)
  const places = duplicated === undefined ? fitting : fitting.filter(hasBoth)
  const [first] = places
  if (first === undefined) {
    if (duplicated !== undefined) return { kind: 'duplicated line', line: duplicated }
    return { kind: 'context changed', line: anchors.start }
  }
  // The same place may be listed cut short by the chosen map and in full; the widest window says the most.
  const place = places.reduce((widest, p) => (p.window.length > widest.window.length ? p : widest), first)
  return disputed(place, maps) ?? place
}

interface Fit extends Place {
  readonly neighbours: 0 | 1 | 2
}

const hasBoth = (place: Fit): boolean => place.neighbours === 2

function fit(anchors: LineRange, run: RankedRun, lines: Occurrences): Fit {
  const offset = run.to - run.from
  const { start, last } = anchors
  const { lineCount } = lines.tagged
  const above = start === 1 ? offset === 0 : run.from < start
  const below = last === lineCount ? last + offset === lines.live.lineCount : last + 1 < run.from + run.length
  const window = new LineRange(above && start > 1 ? start - 1 : start, below && last < lineCount ? last + 2 : last + 1)
  return { anchors, offset, window, within: run, neighbours: above && below ? 2 : above || below ? 1 : 0 }
}

/**
 * Whether another longest map takes the whole window, neighbours included, to other live lines, or keeps other tagged lines in its place. Then nobody can
 * tell which of the equal regions is which. A map that moves only a part of the window is no dispute: it is the same change, drawn with its borders
 * shifted over equal lines. At an end of the file the window includes that end, which never moves; with one neighbour the anchors are unique.
 */
function disputed({ anchors, offset, window }: Place, { all }: Maps): DeclineReason | undefined {
  if (window.length < anchors.length + 2) return undefined
  const others = all.filter((run) => run.to - run.from !== offset)
  const there = elsewhere(window, others)
  if (there) {
    const places = [anchors.start + offset, there].sort((p, q) => p - q)
    return { kind: 'two places', line: anchors.start, places: [places[0] ?? 0, places[1] ?? 0] }
  }
  const mirrored = others.map(({ from, to, length, rank }) => ({ from: to, to: from, length, rank }))
  const rival = elsewhere(window.shift(offset), mirrored)
  return rival === undefined ? undefined : { kind: 'one of two left', lines: [anchors.start, rival] }
}

/**
 * The partner of the second line of `window` in a longest map that has a partner for every line of it among `runs`; undefined when there is none. Pairs of two
 * consecutive lines are in one longest map exactly when their ranks are consecutive and their partners in order. Out of steps, the answer is that there is one.
 */
function elsewhere(window: LineRange, runs: readonly RankedRun[]): number | undefined {
  const near = runs.filter((run) => run.from < window.end && window.start < run.from + run.length)
  if (firstUncovered(window, near) !== undefined) return undefined
  const whole = near.find((run) => run.from <= window.start && window.end <= run.from + run.length)
  if (whole) return whole.to + window.start + 1 - whole.from
  let second: number | undefined
  let steps: number = limits.recoverSteps
  /** Rank of a pair → the lowest partner with which a map may have got there. */
  let reached: Map<number, number> | undefined
  for (let line = window.start; line < window.end; line++) {
    const next = new Map<number, number>()
    for (const run of near) {
      if (--steps < 0) return second ?? window.start
      if (line < run.from || line >= run.from + run.length) continue
      const rank = run.rank + line - run.from
      const partner = run.to + line - run.from
      const before = reached?.get(rank - 1)
      if (reached && (before === undefined || before >= partner)) continue
      next.set(rank, Math.min(partner, next.get(rank) ?? Infinity))
    }
    if (next.size === 0) return undefined
    if (line === window.start + 1) [second] = next.values()
    reached = next
  }
  return second
}

/** The first line of `range` that is in none of `runs`, which are sorted by `from` or mirrored. */
function firstUncovered(range: LineRange, runs: readonly UnchangedRun[]): number | undefined {
  let line = range.start
  for (const run of [...runs].sort((p, q) => p.from - q.from)) {
    if (run.from > line || line >= range.end) break
    line = Math.max(line, run.from + run.length)
  }
  return line < range.end ? line : undefined
}

/** Why no longest map keeps the anchors together. */
function brokenAt(anchors: LineRange, { map, all }: Maps): DeclineReason {
  const gone = firstUncovered(anchors, all)
  if (gone !== undefined) return { kind: 'line changed', line: gone }
  let line = anchors.start
  for (; line < anchors.last; line++) {
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
      if ((this.counts.get(trimmedKey(this.tagged, line)) ?? 0) > 1) return line
    }
    return undefined
  }

  /** Per anchor text the larger of its two counts. Lines are decoded only when one of their length is asked for. */
  private count(): Map<string, number> {
    const wanted = new Map<string, number>()
    const lengths = new Set<number>()
    for (const line of this.anchors.lines()) {
      const text = trimmedKey(this.tagged, line)
      wanted.set(text, 0)
      lengths.add(text.length)
    }
    for (const text of [this.tagged, this.live]) {
      const found = new Map<string, number>()
      for (let line = 1; line <= text.lineCount; line++) {
        if (!lengths.has(trimmedLength(text, line))) continue
        const content = trimmedKey(text, line)
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
