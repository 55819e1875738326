/**
 * All longest common subsequences of two arrays of numbers at once: one that is chosen, and the runs in which others differ from it.
 *
 * Myers' furthest-reaching search is done from both ends. A point of the edit grid lies on a shortest path exactly when its distances from both ends
 * add up to the whole; equal elements along a diagonal keep both distances, so a maximal run of equal elements ("snake") lies on shortest paths
 * as a whole or not at all. Gives up past a distance, never approximates. Called by line-map.ts.
 */

/** `length` equal elements from a[x] and b[y] on, as many as there are; 0-based. */
export interface Snake {
  readonly x: number
  readonly y: number
  readonly length: number
  /** Pairs before it in every longest common subsequence that holds it. */
  readonly rank: number
}

export interface LongestMaps {
  /** Per element of `a` its partner's index in `b`, or -1. Increasing, and as many pairs as can be. */
  readonly chosen: Int32Array
  /** Every snake of every longest common subsequence that is not wholly in `chosen`. */
  readonly others: readonly Snake[]
}

/** How many snakes may differ from the chosen ones, per edit of the bound: texts with more are repetition without end. */
const OTHERS_PER_EDIT = 16

/** `late` is asked once per step of work that is linear at most. Memory is 8·d² bytes. */
export function longestMaps(
  a: Int32Array,
  b: Int32Array,
  maxEdits: number,
  late: () => boolean,
): LongestMaps | 'maxEdits' | 'time' {
  const ahead = search(a, b, maxEdits, late)
  if (typeof ahead === 'string') return ahead
  const chosen = trace(ahead, a.length, b.length)
  if (ahead.distance === 0) return { chosen, others: [] }
  const behind = search(a.slice().reverse(), b.slice().reverse(), ahead.distance, late)
  if (typeof behind === 'string') return behind
  const others = differing(a, b, ahead, behind, chosen, maxEdits * OTHERS_PER_EDIT, late)
  return typeof others === 'string' ? others : { chosen, others }
}

/** Row d holds, per diagonal k = x - y of d's parity, the furthest x that at most d edits reach, or -1. */
class Frontiers {
  distance = 0
  private cells = new Int32Array(256)

  at(d: number, k: number): number {
    return d < 0 || k < -d || k > d ? -1 : (this.cells[(d * (d + 1)) / 2 + ((k + d) >> 1)] ?? -1)
  }

  /** The cells with room for row d, and where it begins. */
  row(d: number): { cells: Int32Array; base: number } {
    const base = (d * (d + 1)) / 2
    if (base + d >= this.cells.length) {
      const larger = new Int32Array(Math.max(base + d + 1, this.cells.length * 2))
      larger.set(this.cells)
      this.cells = larger
    }
    return { cells: this.cells, base }
  }
}

function search(a: Int32Array, b: Int32Array, maxEdits: number, late: () => boolean): Frontiers | 'maxEdits' | 'time' {
  const n = a.length
  const m = b.length
  const result = new Frontiers()
  for (let d = 0; d <= maxEdits; d++) {
    if (late()) return 'time'
    const { cells, base } = result.row(d)
    for (let i = 0, k = -d; i <= d; i++, k += 2) {
      let x = d === 0 ? 0 : step(cells, base, d, i, k, n, m)
      if (x >= 0) {
        let y = x - k
        while (x < n && y < m && a[x] === b[y]) {
          x++
          y++
        }
      }
      cells[base + i] = x
      if (x >= n && k === n - m) {
        result.distance = d
        return result
      }
    }
  }
  return 'maxEdits'
}

/** The furthest x on diagonal k before its snake: by a deletion, by an insertion, or reached before at the rim of the grid. */
function step(cells: Int32Array, base: number, d: number, i: number, k: number, n: number, m: number): number {
  const before = base - d
  let x = -1
  if (i > 0) {
    const deleted = cells[before + i - 1] ?? -1
    if (deleted >= 0 && deleted < n) x = deleted + 1
  }
  if (i < d) {
    const inserted = cells[before + i] ?? -1
    if (inserted > x && inserted - k <= m) x = inserted
    if (i > 0) x = Math.max(x, cells[before - d + i] ?? -1)
  }
  return x
}

/** One shortest path, from its end to its start. */
function trace(ahead: Frontiers, n: number, m: number): Int32Array {
  const chosen = new Int32Array(n).fill(-1)
  let x = n
  let y = m
  let d = ahead.distance
  while (x > 0 || y > 0) {
    const k = x - y
    while (d >= 2 && ahead.at(d - 2, k) >= x) d -= 2
    const deleted = d === 0 ? -1 : ahead.at(d - 1, k - 1)
    const inserted = d === 0 ? -1 : ahead.at(d - 1, k + 1)
    const afterDeletion = deleted >= 0 && deleted < n ? deleted + 1 : -1
    const afterInsertion = inserted - k <= m ? inserted : -1
    const start = d === 0 ? 0 : Math.max(afterDeletion, afterInsertion)
    while (x > start) chosen[--x] = --y
    if (d === 0) break
    if (afterInsertion === start) y--
    else x--
    d--
  }
  return chosen
}

function differing(
  a: Int32Array,
  b: Int32Array,
  ahead: Frontiers,
  behind: Frontiers,
  chosen: Int32Array,
  maxOthers: number,
  late: () => boolean,
): Snake[] | 'maxEdits' | 'time' {
  const n = a.length
  const m = b.length
  const whole = ahead.distance
  const others: Snake[] = []
  for (let k = -Math.min(whole, m); k <= Math.min(whole, n); k++) {
    if (late()) return 'time'
    const mirrored = n - m - k
    for (let d = Math.abs(k); d <= whole - Math.abs(mirrored); d += 2) {
      const rest = whole - d
      // Points on this diagonal that are exactly d edits from the start and exactly the rest from the end.
      let x = Math.max(0, k, ahead.at(d - 2, k) + 1, n - behind.at(rest, mirrored))
      const last = Math.min(ahead.at(d, k), n - Math.max(0, mirrored, behind.at(rest - 2, mirrored) + 1))
      while (x <= last) {
        const from = x
        while (x < n && x - k < m && a[x] === b[x - k]) x++
        if (x === from) x++
        else if (chosen[from] !== from - k || chosen[x - 1] !== x - 1 - k) {
          if (others.length >= maxOthers) return 'maxEdits'
          others.push({ x: from, y: from - k, length: x - from, rank: (from + from - k - d) / 2 })
        }
      }
    }
  }
  return others
}
