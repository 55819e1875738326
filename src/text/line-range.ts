/**
 * Positions in a text, as one class. Refuses to exist in a bad shape. Used everywhere lines are named.
 */

/** Lines [start, end), 1-based. Empty ranges are gaps: [5,5) is the gap before line 5. */
export class LineRange {
  static inclusive(first: number, last: number): LineRange {
    return new LineRange(first, last + 1)
  }

  static gapBefore(line: number): LineRange {
    return new LineRange(line, line)
  }

  constructor(
    readonly start: number,
    readonly end: number,
  ) {
    if (!(start >= 1 && start <= end)) throw new RangeError(`bad range [${start},${end})`)
  }

  get length(): number {
    return this.end - this.start
  }

  get isGap(): boolean {
    return this.start === this.end
  }

  /** The last line of a range that is no gap. */
  get last(): number {
    return this.end - 1
  }

  contains(line: number): boolean {
    return this.start <= line && line < this.end
  }

  intersects(other: LineRange): boolean {
    return this.start < other.end && other.start < this.end
  }

  shift(by: number): LineRange {
    return new LineRange(this.start + by, this.end + by)
  }

  toString(): string {
    return `[${this.start},${this.end})`
  }
}
