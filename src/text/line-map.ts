/**
 * The map of unchanged lines between two texts (contract §10.2): old line → new line, 1-based, strictly increasing in both.
 *
 * A line that is not in the map changed, moved or went away; nothing is guessed about it. Pure; called by the syntax port, directly
 * for small texts and in a worker for large ones.
 */
import { diffArrays } from 'diff'

/** A run of `length` unchanged lines: old lines from `from`, new lines from `to`. Runs are sorted and maximal. */
export interface UnchangedRun {
  readonly from: number
  readonly to: number
  readonly length: number
}

export type LineMapAnswer =
  { readonly runs: readonly UnchangedRun[] } | { readonly gaveUp: 'maxEdits' | 'time' | 'parser-lost' }

export interface LineMapBounds {
  /** Edit distance in lines past which the diff gives up. */
  readonly maxEdits: number
  readonly timeMs: number
}

/**
 * Diffs two arrays of lines. Interns lines to small integers first, so that the diff compares numbers, and takes the common head and
 * tail off before it starts. Cost is O((n + m) + d²) with d bounded by `maxEdits`.
 */
export function lineMap(from: readonly string[], to: readonly string[], bounds: LineMapBounds): LineMapAnswer {
  const ids = new Map<string, number>()
  const intern = (line: string): number => {
    const known = ids.get(line)
    if (known !== undefined) return known
    ids.set(line, ids.size)
    return ids.size - 1
  }
  const a = from.map(intern)
  const b = to.map(intern)
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++

  const runs: UnchangedRun[] = []
  if (head > 0) runs.push({ from: 1, to: 1, length: head })
  const middleA = a.slice(head, a.length - tail)
  const middleB = b.slice(head, b.length - tail)
  if (middleA.length > 0 && middleB.length > 0) {
    const started = performance.now()
    const parts = diffArrays(middleA, middleB, { maxEditLength: bounds.maxEdits, timeout: bounds.timeMs })
    if (parts === undefined) {
      return { gaveUp: performance.now() - started >= bounds.timeMs ? 'time' : 'maxEdits' }
    }
    let oldLine = head + 1
    let newLine = head + 1
    for (const part of parts) {
      if (!part.added && !part.removed) push(runs, { from: oldLine, to: newLine, length: part.count })
      if (!part.added) oldLine += part.count
      if (!part.removed) newLine += part.count
    }
  }
  if (tail > 0) push(runs, { from: a.length - tail + 1, to: b.length - tail + 1, length: tail })
  return { runs }
}

function push(runs: UnchangedRun[], run: UnchangedRun): void {
  const last = runs.at(-1)
  if (last && last.from + last.length === run.from && last.to + last.length === run.to) {
    runs[runs.length - 1] = { ...last, length: last.length + run.length }
  } else runs.push(run)
}
