/**
 * The map of unchanged lines between two texts (contract §10.2): old line → new line, 1-based, strictly increasing in both, as long as possible.
 *
 * Texts with repeated lines have several longest maps. `runs` is one of them; `alternatives` is what the others hold beside it, so that whoever must
 * prove something about a line sees every place that a longest map gives it and not just the one that was found first. A line in none of them
 * changed, moved or went away; nothing is guessed about it. Pure; called by the syntax port, directly for small texts and in a worker for large ones.
 */
import type { Document } from './document.js'
import type { LineIds } from './line-ids.js'
import { lineIds, textIds } from './line-ids.js'
import type { Snake } from './longest-maps.js'
import { longestMaps } from './longest-maps.js'

/** A run of `length` unchanged lines: old lines from `from`, new lines from `to`. Runs are sorted and maximal. */
export interface UnchangedRun {
  readonly from: number
  readonly to: number
  readonly length: number
}

/** A run of which at least one pair is in another longest map and not in `runs`. */
export interface AlternativeRun extends UnchangedRun {
  /** Unchanged lines before its first in every longest map that holds it. */
  readonly rank: number
}

export interface LineMap {
  readonly runs: readonly UnchangedRun[]
  /** Every pair of every longest map is in `runs` or in one of these; each extends as far as equal lines go. Sorted by `from`, then `to`. */
  readonly alternatives: readonly AlternativeRun[]
}

export type LineMapAnswer = LineMap | { readonly gaveUp: 'maxEdits' | 'time' | 'parser-lost' }

export interface LineMapBounds {
  /**
   * Edit distance, in lines that both texts hold, past which the diff gives up; lines that only one text holds cost nothing to place. Also bounds
   * the alternatives, at sixteen per edit.
   */
  readonly maxEdits: number
  readonly timeMs: number
}

/** Maps two lists of lines, compared as given. Cost is O((n + m)·r + d²) with d bounded by `maxEdits` and r the repetition at changes. */
export function lineMap(
  from: readonly string[],
  to: readonly string[],
  bounds: LineMapBounds,
  now?: () => number,
): LineMapAnswer {
  return mapIds(textIds(from, to), bounds, now)
}

/** Maps two documents, their lines compared without trailing blanks. */
export function documentMap(from: Document, to: Document, bounds: LineMapBounds, now?: () => number): LineMapAnswer {
  return mapIds(lineIds(from, to), bounds, now)
}

/** Maps lines that are numbers already. `now` is a monotonic clock in milliseconds; without one time stands still and `maxEdits` alone is the bound. */
export function mapIds(ids: LineIds, bounds: LineMapBounds, now = (): number => 0): LineMapAnswer {
  const deadline = now() + bounds.timeMs
  const common = commonLines(ids)
  if (common.leastEdits > bounds.maxEdits) return { gaveUp: 'maxEdits' }
  const { a, b } = common
  const maps = longestMaps(a.ids, b.ids, bounds.maxEdits, () => now() > deadline)
  if (typeof maps === 'string') return { gaveUp: maps }
  const chosen = new Runs()
  for (let x = 0; x < maps.chosen.length; x++) {
    const y = maps.chosen[x] ?? -1
    if (y >= 0) chosen.add(a.lines[x] ?? 0, b.lines[y] ?? 0)
  }
  const alternatives = maps.others.flatMap((snake) => unfolded(snake, a, b))
  alternatives.sort((p, q) => p.from - q.from || p.to - q.to)
  return { runs: chosen.finish(), alternatives }
}

/** The lines of one text that the other holds too: their numbers, and which lines (1-based) they are. */
interface CommonLines {
  readonly ids: Int32Array
  readonly lines: Int32Array
  /** Per index how many indices from it on stand for consecutive lines. */
  readonly together: Int32Array
}

/**
 * Lines that only one text holds are in no map, so leaving them out changes no longest map and takes most of the distance away. What is out of
 * proportion among the rest must go in any case: a lower bound of the distance.
 */
function commonLines({ from, to, count }: LineIds): { a: CommonLines; b: CommonLines; leastEdits: number } {
  const inFrom = new Int32Array(count)
  const inTo = new Int32Array(count)
  for (const id of from) inFrom[id] = (inFrom[id] ?? 0) + 1
  for (const id of to) inTo[id] = (inTo[id] ?? 0) + 1
  let leastEdits = 0
  for (let id = 0; id < count; id++) {
    const old = inFrom[id] ?? 0
    const now = inTo[id] ?? 0
    if (old > 0 && now > 0) leastEdits += Math.abs(old - now)
  }
  return { a: heldBy(inTo, from), b: heldBy(inFrom, to), leastEdits }
}

function heldBy(counts: Int32Array, ids: Int32Array): CommonLines {
  const kept = new Int32Array(ids.length)
  const lines = new Int32Array(ids.length)
  let length = 0
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] ?? 0
    if (counts[id] === 0) continue
    kept[length] = id
    lines[length++] = i + 1
  }
  const together = new Int32Array(length).fill(1)
  for (let i = length - 2; i >= 0; i--) {
    if ((lines[i] ?? 0) + 1 === lines[i + 1]) together[i] = (together[i + 1] ?? 0) + 1
  }
  return { ids: kept.subarray(0, length), lines: lines.subarray(0, length), together }
}

/** Joins pairs of lines, given in increasing order, to maximal runs. */
class Runs {
  private readonly done: UnchangedRun[] = []
  private from = 0
  private to = 0
  private length = 0

  add(from: number, to: number): void {
    if (this.length > 0 && from === this.from + this.length && to === this.to + this.length) {
      this.length++
      return
    }
    this.close()
    this.from = from
    this.to = to
    this.length = 1
  }

  finish(): UnchangedRun[] {
    this.close()
    return this.done
  }

  private close(): void {
    if (this.length > 0) this.done.push({ from: this.from, to: this.to, length: this.length })
  }
}

/** A snake of common lines as runs of the texts: lines that only one text holds lie between them. */
function unfolded(snake: Snake, a: CommonLines, b: CommonLines): AlternativeRun[] {
  const runs: AlternativeRun[] = []
  for (let done = 0; done < snake.length;) {
    const x = snake.x + done
    const y = snake.y + done
    const length = Math.min(a.together[x] ?? 1, b.together[y] ?? 1, snake.length - done)
    runs.push({ from: a.lines[x] ?? 0, to: b.lines[y] ?? 0, length, rank: snake.rank + done })
    done += length
  }
  return runs
}

/** Where an old line is in the map; undefined when it is not. O(log runs). */
export function mappedLine(runs: readonly UnchangedRun[], line: number): number | undefined {
  let low = 0
  let high = runs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((runs[middle]?.from ?? 0) <= line) low = middle + 1
    else high = middle
  }
  const run = runs[low - 1]
  return run !== undefined && line < run.from + run.length ? line - run.from + run.to : undefined
}
