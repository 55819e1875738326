/**
 * Where runs of anchors stand in the live text: every place that a longest map of unchanged lines gives them with the context that the contract wants
 * (contract §10.3–10.4, reading §3.5).
 *
 * Texts with repeated lines have several longest maps and a diff finds one of them by chance. Here a place counts when any longest map has it, and anchors that occur
 * more than once are proven only when no longest map says anything else of them. Never looks for similar text to edit there. Called by recover.ts.
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

/** Where a contiguous run of anchors may stand. */
export interface Candidates {
  /** At least one, each at an offset of its own. */
  readonly places: readonly Place[]
  /** One of the anchors occurs once on both sides, so that there is one place. */
  readonly pinned: boolean
}

/** Every place that a longest map gives to a contiguous run of anchors with the context that the contract wants, or why there is none. */
export function candidatesFor(anchors: LineRange, maps: Maps, lines: Occurrences): Candidates | DeclineReason {
  const holding = maps.all.filter((run) => run.from <= anchors.start && anchors.end <= run.from + run.length)
  if (holding.length === 0) return brokenAt(anchors, maps)
  const fitting = holding.map((run) => fit(anchors, run, lines)).filter((place) => place.neighbours > 0)
  const duplicated = lines.duplicated(anchors)
  const granted = duplicated === undefined ? fitting : fitting.filter(hasBoth)
  if (granted.length > 0) return { places: widest(granted), pinned: lines.pin(anchors) !== undefined }
  if (duplicated !== undefined) return { kind: 'duplicated line', line: duplicated }
  return { kind: 'context changed', line: anchors.start }
}

/** The same place may be listed cut short by the chosen map and in full. */
function widest(places: readonly Place[]): readonly Place[] {
  const best = new Map<number, Place>()
  for (const place of places) {
    const known = best.get(place.offset)
    if (known === undefined || known.within.length < place.within.length) best.set(place.offset, place)
  }
  return [...best.values()]
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
 * Why a place of anchors that all occur elsewhere too is not proven; undefined when it is. Any longest map that takes one of them to another live line, or another tagged
 * line to where one of them would stand, disputes it: over equal lines a change can be drawn in several ways, and nobody can tell what was inserted or went away from what
 * was there. So does a twin of the whole unchanged run around them: where it stands between changes, two twins may have changed places.
 */
export function dispute(place: Place, { all }: Maps, lines: Occurrences): DeclineReason | undefined {
  const { anchors, offset, within } = place
  const image = anchors.shift(offset)
  for (const run of all) {
    if (run.to - run.from === offset) continue
    const line = firstIn(anchors, run.from, run.length)
    if (line !== undefined) return twoPlaces(line, line + offset, line + run.to - run.from)
    const now = firstIn(image, run.to, run.length)
    if (now !== undefined) return { kind: 'one of two left', lines: [now - offset, now + run.from - run.to] }
  }
  const twin = lines.twinOf(within, anchors.start)
  if (twin === undefined) return undefined
  if (twin.in === 'live') return twoPlaces(anchors.start, anchors.start + offset, twin.line)
  return { kind: 'one of two left', lines: [anchors.start, twin.line] }
}

function twoPlaces(line: number, here: number, there: number): DeclineReason {
  return { kind: 'two places', line, places: here < there ? [here, there] : [there, here] }
}

/** The first line of `range` that is one of the `length` lines from `from` on. */
function firstIn(range: LineRange, from: number, length: number): number | undefined {
  const line = Math.max(range.start, from)
  return line < Math.min(range.end, from + length) ? line : undefined
}

/** The first line of `range` that is in none of `runs`. */
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

/** Where anchor lines occur in the two texts; found at the first question, in one pass for all anchors. */
export class Occurrences {
  private found: Found | undefined

  constructor(
    readonly tagged: Document,
    readonly live: Document,
    private readonly anchors: LineSet,
  ) {}

  /** The first line of `range` that occurs more than once in the tagged or in the live text. */
  duplicated(range: LineRange): number | undefined {
    return this.first(range, false)
  }

  /** The first line of `range` that occurs once in the tagged text and at most once in the live one. */
  pin(range: LineRange): number | undefined {
    return this.first(range, true)
  }

  /**
   * Another place where all lines of an unchanged run stand in this order, by the line there that reads like `line` of the run. Out of steps the answer is that there
   * is one.
   */
  twinOf(run: UnchangedRun, line: number): { readonly in: 'tagged' | 'live'; readonly line: number } | undefined {
    const key = trimmedKey(this.tagged, line)
    let steps: number = limits.recoverSteps
    for (const side of ['live', 'tagged'] as const) {
      const own = side === 'live' ? line - run.from + run.to : line
      for (const other of this.lines(side).get(key) ?? []) {
        if (other === own) continue
        const first = other - (line - run.from)
        if (first < 1 || first + run.length - 1 > this[side].lineCount) continue
        // From the line outwards: texts that read alike here differ soon.
        let same = true
        for (let distance = 1; same && distance < run.length; distance++) {
          if (--steps < 0) return { in: side, line: other }
          for (const at of [line - distance, line + distance]) {
            if (at < run.from || at >= run.from + run.length) continue
            if (trimmedKey(this.tagged, at) !== trimmedKey(this[side], at - run.from + first)) same = false
          }
        }
        if (same) return { in: side, line: other }
      }
    }
    return undefined
  }

  private first(range: LineRange, once: boolean): number | undefined {
    for (let line = range.start; line < range.end; line++) {
      const key = trimmedKey(this.tagged, line)
      const times = Math.max(this.lines('tagged').get(key)?.length ?? 0, this.lines('live').get(key)?.length ?? 0)
      if (times > 1 !== once) return line
    }
    return undefined
  }

  private lines(side: 'tagged' | 'live'): ReadonlyMap<string, readonly number[]> {
    this.found ??= this.find()
    return this.found[side]
  }

  /** Lines are decoded only when an anchor is as long. */
  private find(): Found {
    const wanted = new Set<string>()
    const lengths = new Set<number>()
    for (const line of this.anchors.lines()) {
      const text = trimmedKey(this.tagged, line)
      wanted.add(text)
      lengths.add(text.length)
    }
    const linesIn = (text: Document): Map<string, number[]> => {
      const found = new Map<string, number[]>()
      for (let line = 1; line <= text.lineCount; line++) {
        if (!lengths.has(trimmedLength(text, line))) continue
        const key = trimmedKey(text, line)
        if (!wanted.has(key)) continue
        const known = found.get(key)
        if (known) known.push(line)
        else found.set(key, [line])
      }
      return found
    }
    return { tagged: linesIn(this.tagged), live: linesIn(this.live) }
  }
}

/** Per text of an anchor the lines that read so. */
type Found = Readonly<Record<'tagged' | 'live', ReadonlyMap<string, readonly number[]>>>

function trimmedLength(text: Document, line: number): number {
  const { start, end } = text.slice(line)
  return trimmedEnd(text.bytes, start, end) - start
}
