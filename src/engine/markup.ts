/**
 * Recognises pasted Read output in the content of a Write (contract §5.3, reading §8.7).
 *
 * Two shapes count and nothing else: a `[path#TAG]` line followed by rows that are all numbered and consecutive; or headerless rows of that shape whose text
 * is exactly what the session was shown at those numbers. Anything else, `80: web` in YAML for example, is content. Called by prepareWrite.
 */
import type { Document } from '../text/document.js'
import type { Seen } from '../text/line-set.js'

export interface Stripped {
  readonly text: string
  /** Rows that lost their number, and the header when there was one. */
  readonly rows: number
  /** Read output has no final newline, so its absence says nothing about the file. */
  readonly finalNewline: boolean
}

const HEADER = /^\[.+#[0-9A-Fa-f]{4}\]\r?$/
const NUMBERED = /^([1-9][0-9]{0,6}):/

/** The text without its markup, or undefined when there is none. `shown`: the live text and what the session saw of it. */
export function stripMarkup(
  content: string,
  shown: { readonly text: Document; readonly seen: Seen } | undefined,
): Stripped | undefined {
  const finalNewline = content.endsWith('\n')
  const lines = content.split('\n')
  if (finalNewline) lines.pop()
  const hasHeader = HEADER.test(lines[0] ?? '')
  const rows = hasHeader ? lines.slice(1) : lines
  const first = numberOf(rows[0])
  if (first === undefined || !rows.every((row, i) => numberOf(row) === first + i)) return undefined
  const texts = rows.map((row) => row.slice(row.indexOf(':') + 1))
  if (!hasHeader && !(shown && texts.every((text, i) => wasShown(shown, first + i, text)))) return undefined
  return { text: texts.join('\n') + (finalNewline ? '\n' : ''), rows: texts.length, finalNewline }
}

function numberOf(row: string | undefined): number | undefined {
  const match = row === undefined ? null : NUMBERED.exec(row)
  return match ? Number(match[1]) : undefined
}

function wasShown(shown: { readonly text: Document; readonly seen: Seen }, line: number, text: string): boolean {
  if (shown.seen === 'unknown' || !shown.seen.has(line)) return false
  return line <= shown.text.lineCount && shown.text.text(line) === (text.endsWith('\r') ? text.slice(0, -1) : text)
}
