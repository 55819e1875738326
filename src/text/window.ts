/**
 * The window of a text that a Read shows: rows from an offset, within a count of lines and a budget of bytes (contract §5.1, http-api "Read").
 *
 * Says which lines were shown in full, because only those count as seen (contract §4.3). Pure; the scanner gives the same shape for files that are not
 * held in memory.
 */
import type { Document } from './document.js'
import { clip } from './hunks.js'
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
export function numberedRow(line: number, text: string, lineChars: number): { readonly row: string; readonly clipped: boolean } {
  const cut = clip(text, lineChars)
  return { row: `${line}:${cut.text}${cut.clipped ? '…' : ''}`, clipped: cut.clipped }
}

/** At least one row is shown, except in raw form, which shows whole lines only. An offset past the end shows nothing. */
export function windowOf(document: Document, ask: WindowAsk, bounds: WindowBounds): TextWindow {
  const rows: string[] = []
  const shown: number[] = []
  let bytes = 0
  let clippedRows = 0
  let budgetEnded = false
  const last = Math.min(document.lineCount, ask.offset + ask.limit - 1)
  for (let line = ask.offset; line <= last; line++) {
    const { row, clipped } = ask.raw
      ? { row: document.text(line) + document.terminator(line), clipped: false }
      : numberedRow(line, headOf(document, line, bounds.lineChars), bounds.lineChars)
    const size = Buffer.byteLength(row) + (ask.raw ? 0 : 1)
    if (bytes + size > bounds.contentBytes && (ask.raw || rows.length > 0)) {
      budgetEnded = true
      break
    }
    bytes += size
    rows.push(row)
    if (clipped) clippedRows++
    else shown.push(line)
  }
  return { content: rows.join(ask.raw ? '' : '\n'), lineCount: rows.length, shown: LineSet.ofLines(shown), clippedRows, budgetEnded }
}

/** Enough of a line to clip it, without decoding one of many megabytes: `chars` UTF-16 units take at most three bytes each. */
function headOf(document: Document, line: number, chars: number): string {
  const content = document.content(line)
  const enough = (chars + 2) * 3
  return content.length <= enough ? content.toString('utf8') : content.subarray(0, enough).toString('utf8')
}
