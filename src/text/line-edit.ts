/**
 * An edit as replacements of whole lines, over a text of exactly `baseLines` lines.
 *
 * Everything about an edit follows from it: the new document, hunks, shifts and where old lines are now. It refuses a text of another length and
 * replacements that touch. Blind to why lines are replaced. Made by the engine, applied once by it.
 *
 * A written row that comes to open line 1 loses its U+FEFF here already, so that whatever shows the rows of an edit shows what lands (reading §1.5).
 *
 * Laws: apply equals a naive splice; untouched lines keep their bytes; an edit of no replacement is the identity.
 */
import type { LineIndex } from './document.js'
import { BOM_BYTES, Document, indexLines } from './document.js'
import { LineRange } from './line-range.js'
import { LineSet } from './line-set.js'

/** The lines of `range` go away and `rows` (text without terminators) stand in their place. A gap takes nothing away. */
export interface Replacement {
  readonly range: LineRange
  readonly rows: readonly string[]
}

/** From old line `from` on, numbers move by `by` (cumulative). */
export interface Shift {
  readonly from: number
  readonly by: number
}

export class LineEdit {
  readonly replacements: readonly Replacement[]

  /** Sorts; replacements that overlap, or two at one gap, are a fault of the caller. A gap directly before a range is no overlap. */
  constructor(
    readonly baseLines: number,
    replacements: readonly Replacement[],
  ) {
    const sorted = [...replacements].sort((a, b) => a.range.start - b.range.start || a.range.end - b.range.end)
    for (const [i, { range }] of sorted.entries()) {
      const before = sorted[i - 1]
      if (range.end > baseLines + 1) throw new RangeError(`${range.toString()} is outside a text of ${baseLines} lines`)
      if (
        before &&
        (before.range.end > range.start || (before.range.isGap && range.isGap && before.range.start === range.start))
      ) {
        throw new RangeError(`${before.range.toString()} and ${range.toString()} touch`)
      }
    }
    this.replacements = withoutMarkAtHead(sorted)
  }

  get additions(): number {
    return this.replacements.reduce((sum, r) => sum + r.rows.length, 0)
  }

  get deletions(): number {
    return this.replacements.reduce((sum, r) => sum + r.range.length, 0)
  }

  get resultLines(): number {
    return this.baseLines + this.additions - this.deletions
  }

  /** The old lines that stay. */
  get kept(): LineSet {
    return LineSet.all(this.baseLines).minus(LineSet.of(this.replacements.map((r) => r.range)))
  }

  /** The new lines that this edit wrote. */
  get written(): LineSet {
    const ranges: LineRange[] = []
    let by = 0
    for (const { range, rows } of this.replacements) {
      ranges.push(new LineRange(range.start + by, range.start + by + rows.length))
      by += rows.length - range.length
    }
    return LineSet.of(ranges)
  }

  /** The new numbers of those old lines that stay. */
  carry(lines: LineSet): LineSet {
    const moved: LineRange[] = []
    let from = 1
    let by = 0
    for (const { range, rows } of this.replacements) {
      for (const r of lines.within(new LineRange(from, range.start)).ranges) moved.push(r.shift(by))
      from = range.end
      by += rows.length - range.length
    }
    for (const r of lines.within(new LineRange(from, this.baseLines + 1)).ranges) moved.push(r.shift(by))
    return LineSet.of(moved)
  }

  /** One entry per change of offset, none past the last old line. */
  shifts(): Shift[] {
    const shifts: Shift[] = []
    let by = 0
    for (const { range, rows } of this.replacements) {
      by += rows.length - range.length
      if (range.end > this.baseLines) continue
      if (shifts.at(-1)?.from === range.end) shifts.pop()
      if (by !== (shifts.at(-1)?.by ?? 0)) shifts.push({ from: range.end, by })
    }
    return shifts
  }

  /**
   * The edited document. Untouched lines are copied as bytes; new rows take the dominant terminator; whether the last line is terminated stays a property
   * of the file (reading §1.3–1.5).
   */
  apply(base: Document): Document {
    if (base.lineCount !== this.baseLines)
      throw new RangeError(`an edit of ${this.baseLines} lines meets a text of ${base.lineCount}`)
    const result = new Assembly(base, this.resultLines)
    let from = 1
    for (const { range, rows } of this.replacements) {
      result.keep(from, range.start)
      result.add(rows)
      from = range.end
    }
    result.keep(from, this.baseLines + 1)
    return result.finish()
  }
}

/** The same replacements, where the row that opens line 1 holds no U+FEFF at its start: the file keeps its own byte order mark, or none. */
function withoutMarkAtHead(sorted: readonly Replacement[]): readonly Replacement[] {
  let head = 1
  for (const [i, { range, rows }] of sorted.entries()) {
    if (range.start > head) return sorted
    const first = rows[0]
    if (first?.startsWith('\uFEFF')) return sorted.with(i, { range, rows: rows.with(0, first.replace(/^\uFEFF+/, '')) })
    if (first !== undefined) return sorted
    head = range.end
  }
  return sorted
}

/** Builds the bytes and the line index of an edited document side by side, so that the result needs no second scan. */
class Assembly {
  private readonly chunks: Buffer[] = []
  private readonly starts: Uint32Array
  private readonly term: '\n' | '\r\n'
  private count = 0
  private length: number
  private crlf: number
  private lf: number
  private mayTrail: boolean

  constructor(
    private readonly base: Document,
    resultLines: number,
  ) {
    this.starts = new Uint32Array(resultLines + 1)
    this.term = base.dominantTerminator
    this.length = base.hasBom ? 3 : 0
    if (base.hasBom) this.chunks.push(BOM_BYTES)
    this.crlf = 0
    this.lf = 0
    this.mayTrail = base.index.mayTrail
  }

  /** Old lines [from, to) as they are. */
  keep(from: number, to: number): void {
    if (from >= to) return
    const first = this.base.slice(from).start
    const last = this.base.slice(to - 1).end
    const delta = this.length - first
    const starts = this.base.index.starts
    for (let line = from; line < to; line++) this.starts[this.count++] = (starts[line - 1] ?? 0) + delta
    this.chunks.push(this.base.bytes.subarray(first, last))
    this.length += last - first
    if (to - 1 === this.base.lineCount && !this.base.endsWithNewline && this.count < this.starts.length - 1)
      this.terminate()
  }

  /** New rows, each terminated; `finish` takes the last terminator away where the file had none. */
  add(rows: readonly string[]): void {
    for (const text of rows) {
      const bytes = Buffer.from(text + this.term, 'utf8')
      this.starts[this.count++] = this.length
      this.chunks.push(bytes)
      this.length += bytes.length
      if (/[ \t\r]$/.test(text) || this.term === '\r\n') this.mayTrail = true
    }
  }

  finish(): Document {
    const unterminated = !this.base.endsWithNewline
    if (unterminated) this.unterminate()
    this.starts[this.count] = this.length
    const bytes = Buffer.concat(this.chunks, this.length)
    // Bytes that come to stand at the head of a file without a mark would be read as one from now on: judge them afresh.
    if (!this.base.hasBom && bytes[0] === BOM_BYTES[0] && bytes.subarray(0, 3).equals(BOM_BYTES))
      return Document.trusted(bytes)
    this.countTerminators(bytes)
    const index: LineIndex = { starts: this.starts, lfCount: this.lf, crlfCount: this.crlf, mayTrail: this.mayTrail }
    return Document.assembled(bytes, this.base.hasBom ? 3 : 0, index)
  }

  private terminate(): void {
    this.chunks.push(Buffer.from(this.term))
    this.length += this.term.length
    if (this.term === '\r\n') this.mayTrail = true
  }

  private unterminate(): void {
    const last = this.chunks.at(-1)
    if (!last || this.count === 0 || last[last.length - 1] !== 10) return
    const cut = last[last.length - 2] === 13 ? 2 : 1
    // The terminator goes, but a last line that held nothing else would vanish with it: an empty last line cannot be unterminated.
    if (this.length - cut === this.starts[this.count - 1]) return
    this.chunks[this.chunks.length - 1] = last.subarray(0, last.length - cut)
    this.length -= cut
    this.mayTrail = true
  }

  private countTerminators(bytes: Buffer): void {
    if (this.base.index.crlfCount === 0 && this.term === '\n') {
      // No CRLF can have come into being: rows hold no LF, and kept lines none either.
      this.lf = this.count - (this.length > 0 && this.count > 0 && bytes[bytes.length - 1] !== 10 ? 1 : 0)
      if (!this.mayTrail) return
    }
    const recount = indexLines(bytes, this.base.hasBom ? 3 : 0)
    this.lf = recount.lfCount
    this.crlf = recount.crlfCount
    this.mayTrail = recount.mayTrail
  }
}
