/**
 * The window of a text that a Read shows: rows from an offset, within a count of lines and a budget of bytes (contract §5.1, http-api "Read").
 *
 * Says which lines were shown in full, because only those count as seen (contract §4.3). Pure; the scanner gives the same shape for files that are not
 * held in memory.
 */
import type { Document, Terminator } from './document.js'
import { clip } from './hunks.js'
import { LineRange } from './line-range.js'
import { LineSet } from './line-set.js'

export interface WindowAsk {
  /** First line, 1-based. */
  readonly offset: number
  readonly limit: number
  /** Exact text of whole lines instead of numbered rows. */
  readonly raw: boolean
}

export interface WindowBounds {
  readonly contentBytes: number
  readonly lineChars: number
}

export interface TextWindow {
  /** Numbered rows joined by LF, or the raw text. */
  readonly content: string
  readonly lineCount: number
  /** Lines shown in full. */
  readonly shown: LineSet
  readonly clippedRows: number
  /** True when the window ended because of the byte budget. */
  readonly budgetEnded: boolean
}

/** A numbered row, clipped with `…`; the number does not count against `lineChars`. */
export function numberedRow(
  line: number,
  text: string,
  lineChars: number,
): { readonly row: string; readonly clipped: boolean } {
  const cut = clip(text, lineChars)
  return { row: `${line}:${cut.text}${cut.clipped ? '…' : ''}`, clipped: cut.clipped }
}

/** Collects the rows of a window; the one place that knows when it is full. At least one row is shown, except in raw form, which shows whole lines only. */
export class WindowRows {
  /** Bytes from the start of a line that are enough to show it or to know that it is too long: a UTF-16 unit takes at most three. */
  readonly enoughBytes: number
  private readonly rows: string[] = []
  private readonly shown: LineRange[] = []
  private bytes = 0
  private clippedRows = 0
  private full = false

  constructor(
    private readonly ask: WindowAsk,
    private readonly bounds: WindowBounds,
  ) {
    this.enoughBytes = ask.raw ? bounds.contentBytes + 1 : (bounds.lineChars + 2) * 3
  }

  /** True once a line did not fit any more; further lines are not wanted. */
  get ended(): boolean {
    return this.full
  }

  /** The content of the next line lies from `start` to `end` in `bytes`: at least the first `enoughBytes` of it, or all. */
  add(line: number, bytes: Buffer, start: number, end: number, terminator: Terminator): void {
    const text = bytes.toString('utf8', start, Math.min(end, start + this.enoughBytes))
    const { row, clipped } = this.ask.raw
      ? { row: text + terminator, clipped: false }
      : numberedRow(line, text, this.bounds.lineChars)
    // Of a line that is shown whole the bytes are known; its number and the rest of the row are ASCII.
    const isWhole = !clipped && end - start <= this.enoughBytes
    const size = (isWhole ? row.length - text.length + end - start : Buffer.byteLength(row)) + (this.ask.raw ? 0 : 1)
    if (this.bytes + size > this.bounds.contentBytes && (this.ask.raw || this.rows.length > 0)) {
      this.full = true
      return
    }
    this.bytes += size
    this.rows.push(row)
    if (clipped) this.clippedRows++
    else this.show(line)
  }

  private show(line: number): void {
    const last = this.shown.at(-1)
    if (last?.end === line) this.shown[this.shown.length - 1] = new LineRange(last.start, line + 1)
    else this.shown.push(new LineRange(line, line + 1))
  }

  window(): TextWindow {
    return {
      content: this.rows.join(this.ask.raw ? '' : '\n'),
      lineCount: this.rows.length,
      shown: LineSet.of(this.shown),
      clippedRows: this.clippedRows,
      budgetEnded: this.full,
    }
  }
}

/** An offset past the end shows nothing. */
export function windowOf(document: Document, ask: WindowAsk, bounds: WindowBounds): TextWindow {
  const rows = new WindowRows(ask, bounds)
  const last = Math.min(document.lineCount, ask.offset + ask.limit - 1)
  for (let line = ask.offset; line <= last && !rows.ended; line++) {
    const { start, end } = document.slice(line)
    const terminator = document.terminator(line)
    rows.add(line, document.bytes, start, end - terminator.length, terminator)
  }
  return rows.window()
}
