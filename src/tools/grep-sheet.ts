/**
 * What a Grep answers, filled file by file in its final order (contract §4.3, §5.2; http-api "Grep").
 *
 * Every number comes from the text that the tag names. Says which lines were shown in full, because only those count as seen. Reads nothing and records
 * nothing. Called by grep.ts.
 */
import type { GrepAnswer } from '../schemas/operations.js'
import type { Document } from '../text/document.js'
import { clip } from '../text/hunks.js'
import { LineSet } from '../text/line-set.js'
import { headerOf } from './load-text.js'

export type OutputMode = 'content' | 'filesWithMatches' | 'count'

export interface SheetBounds {
  /** Entries: rows in mode content, files in the others. */
  readonly headLimit: number
  readonly contentBytes: number
  readonly lineChars: number
  readonly windowChars: number
}

export interface Hit {
  readonly line: number
  /** Where the first match of a long line ends, in bytes from its start. */
  readonly end: number
}

/** A file with a match. In mode content `hits` are its first lines, as many as there was room for when they were found. */
export interface HitFile {
  readonly path: string
  readonly document: Document
  readonly hits: readonly Hit[]
  readonly count: number
}

type Match = { readonly path: string; readonly line: number; readonly text: string }
type Common = Pick<GrepAnswer, 'truncated' | 'skipped'> & { readonly count: number; readonly notice?: string }

export class GrepSheet {
  private readonly tags = new Map<string, string>()
  private readonly rows: string[] = []
  private readonly matches: Match[] = []
  private readonly counts: { readonly path: string; readonly count: number; readonly tag: string }[] = []
  private bytes = 0
  private windows = 0

  constructor(
    private readonly mode: OutputMode,
    private readonly bounds: SheetBounds,
  ) {}

  /** Entries that still fit. */
  get room(): number {
    if (this.bytes >= this.bounds.contentBytes) return 0
    return this.bounds.headLimit - (this.mode === 'content' ? this.matches.length : this.counts.length)
  }

  /** The byte budget, not the head limit, ended the answer. */
  get overBudget(): boolean {
    return this.bytes >= this.bounds.contentBytes
  }

  /** Rows that show only the text around a match. */
  get windowedRows(): number {
    return this.windows
  }

  get shownEntries(): number {
    return this.mode === 'content' ? this.matches.length : this.counts.length
  }

  get isEmpty(): boolean {
    return this.counts.length === 0
  }

  /** Puts the file on the sheet as far as there is room; answers the lines that were shown in full. */
  add({ path, document, hits, count }: HitFile): LineSet {
    const tag = document.tag
    this.tags.set(path, tag)
    this.counts.push({ path, count, tag })
    const header = headerOf(path, tag)
    if (this.mode !== 'content') {
      this.put(this.mode === 'count' ? `${header} ${count}` : header)
      return LineSet.empty
    }
    this.put(header)
    const shown: number[] = []
    for (const { line, end } of hits) {
      if (this.room <= 0) break
      const { text, whole } = this.rowText(document, line, end)
      this.matches.push({ path, line, text })
      this.put(`${line}:${text}`)
      if (whole) shown.push(line)
      else this.windows++
    }
    return LineSet.ofLines(shown)
  }

  answer(common: Common, fileCount: number): GrepAnswer {
    const content = this.rows.length === 0 ? 'No line matches.' : this.rows.join('\n')
    const rest = { ...common, content, tags: Object.fromEntries(this.tags) }
    switch (this.mode) {
      case 'content':
        return { matches: this.matches, files: fileCount, ...rest }
      case 'filesWithMatches':
        return { files: this.counts.map(({ path, tag }) => ({ path, tag })), ...rest }
      case 'count':
        return { counts: this.counts, files: fileCount, ...rest }
    }
  }

  private put(row: string): void {
    this.rows.push(row)
    this.bytes += Buffer.byteLength(row) + 1
  }

  /** The line, or a window around the end of its first match when it is too long to show; never decodes much more than it shows. */
  private rowText(document: Document, line: number, end: number): { readonly text: string; readonly whole: boolean } {
    const { lineChars, windowChars } = this.bounds
    const bytes = document.content(line)
    // A UTF-16 unit takes one to three bytes.
    if (bytes.length <= lineChars) return { text: bytes.toString('utf8'), whole: true }
    if (bytes.length <= 3 * lineChars) {
      const text = bytes.toString('utf8')
      if (text.length <= lineChars) return { text, whole: true }
    }
    const from = characterStart(bytes, Math.max(0, end - Math.floor(windowChars / 2)))
    const until = characterStart(bytes, Math.min(bytes.length, from + 4 * windowChars))
    const cut = clip(bytes.toString('utf8', from, until), windowChars)
    const ends = !cut.clipped && until === bytes.length
    return { text: `${from === 0 ? '' : '…'}${cut.text}${ends ? '' : '…'}`, whole: false }
  }
}

/** The start of the character that holds the byte at `at`. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--
  return start
}
