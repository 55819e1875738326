/**
 * A set of line numbers as sorted, disjoint, maximal ranges: what a session has been shown (contract §4.1).
 *
 * Immutable. Costs follow the number of ranges, never the number of lines. Used by stores, gates and reveals.
 */
import { LineRange } from './line-range.js'

/** Lines shown; `unknown` is the contract's None: provenance was not recorded and no anchor is refused (contract §4.1, reading §2.7). */
export type Seen = LineSet | 'unknown'

export class LineSet {
  static readonly empty = new LineSet([])

  /** Lines 1…count. */
  static all(count: number): LineSet {
    return count === 0 ? LineSet.empty : new LineSet([new LineRange(1, count + 1)])
  }

  /** Any ranges in any order; gaps are dropped, touching ranges join. */
  static of(ranges: Iterable<LineRange>): LineSet {
    const sorted = [...ranges].filter((r) => !r.isGap).sort((a, b) => a.start - b.start)
    const joined: LineRange[] = []
    for (const range of sorted) {
      const last = joined.at(-1)
      if (last && range.start <= last.end)
        joined[joined.length - 1] = new LineRange(last.start, Math.max(last.end, range.end))
      else joined.push(range)
    }
    return new LineSet(joined)
  }

  static ofLines(lines: Iterable<number>): LineSet {
    return LineSet.of([...lines].map((line) => LineRange.inclusive(line, line)))
  }

  /** Reads what `toString` wrote. Throws RangeError on anything else. */
  static parse(text: string): LineSet {
    if (text === '') return LineSet.empty
    return LineSet.of(
      text.split(',').map((part) => {
        const match = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part)
        if (!match) throw new RangeError(`bad line set ${JSON.stringify(text.slice(0, 80))}`)
        return LineRange.inclusive(Number(match[1]), Number(match[2] ?? match[1]))
      }),
    )
  }

  private constructor(readonly ranges: readonly LineRange[]) {}

  get isEmpty(): boolean {
    return this.ranges.length === 0
  }

  get size(): number {
    return this.ranges.reduce((sum, r) => sum + r.length, 0)
  }

  has(line: number): boolean {
    const range = this.ranges[this.indexAtOrAfter(line)]
    return range !== undefined && range.contains(line)
  }

  covers(range: LineRange): boolean {
    if (range.isGap) return true
    const found = this.ranges[this.indexAtOrAfter(range.start)]
    return found !== undefined && found.start <= range.start && range.end <= found.end
  }

  union(other: LineSet): LineSet {
    if (other.isEmpty || this === other) return this
    if (this.isEmpty) return other
    return LineSet.of([...this.ranges, ...other.ranges])
  }

  /** The lines of this set that are not in `other`. */
  minus(other: LineSet): LineSet {
    const rest: LineRange[] = []
    let j = 0
    for (const range of this.ranges) {
      let start = range.start
      while (j < other.ranges.length && (other.ranges[j]?.end ?? 0) <= start) j++
      for (let k = j; k < other.ranges.length; k++) {
        const cut = other.ranges[k]
        if (!cut || cut.start >= range.end) break
        if (cut.start > start) rest.push(new LineRange(start, cut.start))
        start = Math.max(start, cut.end)
      }
      if (start < range.end) rest.push(new LineRange(start, range.end))
    }
    return LineSet.of(rest)
  }

  /** The lines of this set that lie in `range`. */
  within(range: LineRange): LineSet {
    const kept: LineRange[] = []
    for (let i = this.indexAtOrAfter(range.start); i < this.ranges.length; i++) {
      const r = this.ranges[i]
      if (!r || r.start >= range.end) break
      const start = Math.max(r.start, range.start)
      const end = Math.min(r.end, range.end)
      if (start < end) kept.push(new LineRange(start, end))
    }
    return new LineSet(kept)
  }

  *lines(): Generator<number> {
    for (const range of this.ranges) for (let line = range.start; line < range.end; line++) yield line
  }

  /** `1-200,250`; parse(toString(x)) = x. */
  toString(): string {
    return this.ranges.map((r) => (r.length === 1 ? String(r.start) : `${r.start}-${r.last}`)).join(',')
  }

  /** Inclusive spans, as answers show them. */
  spans(): { start: number; end: number }[] {
    return this.ranges.map((r) => ({ start: r.start, end: r.last }))
  }

  /** Index of the first range whose end lies behind `line`. */
  private indexAtOrAfter(line: number): number {
    let low = 0
    let high = this.ranges.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.ranges[middle]?.end ?? 0) <= line) low = middle + 1
      else high = middle
    }
    return low
  }
}
