/**
 * The shape of an entry of the error table, and what entries share: issues, reveals, spans and their words. Used by the two halves of the table.
 */
import type { LineRow } from '../text/rows.js'

export interface Issue {
  readonly path: string
  readonly message: string
}

/** What a refusal hands back so that the honest retry needs no Read (reading §3.6). */
export interface RevealFields {
  readonly liveTag?: string
  readonly lines: readonly LineRow[]
  readonly revealComplete: boolean
  /** The range to read when the reveal is not complete: first and last line. */
  readonly readRange?: { readonly start: number; readonly end: number }
  /** A line of that range that a plain Read would clip: `raw` shows it, or nothing does because it is wider than an answer. */
  readonly wide?: { readonly line: number; readonly shownBy: 'raw' | 'nothing' }
}

export interface LineSpan {
  readonly start: number
  readonly end: number
}

/** One code: what it answers for its parameters. */
export interface Entry<P> {
  readonly status: number
  readonly retriable: boolean
  readonly title: string
  readonly detail: (params: P) => string
  /** Public members of the problem document beside the common ones. */
  readonly fields?: (params: P) => Record<string, unknown>
}

export const entry = <P>(e: Entry<P>): Entry<P> => e
export const spanText = (span: LineSpan): string =>
  span.start === span.end ? `line ${span.start}` : `lines ${span.start}-${span.end}`
const readHint = (range: LineSpan, raw: boolean): string =>
  `Read it with offset ${range.start} and limit ${range.end - range.start + 1}${raw ? ' and raw true' : ''}`

/** The next step after a reveal: the retry when it was complete, the range to read otherwise. */
export const retryAfterReveal = (p: RevealFields, retry: string): string => {
  if (p.revealComplete) return `${retry}; no Read is needed`
  if (p.wide?.shownBy === 'nothing')
    return `line ${p.wide.line} is wider than any answer, so it cannot be edited; edit the lines around it, or write the whole file with Write`
  if (p.readRange) return `${readHint(p.readRange, p.wide !== undefined)}, then retry with the tag it returns`
  return 'Read the file, then retry with the tag it returns'
}

export const revealOf = (p: RevealFields): Record<string, unknown> => ({
  ...(p.liveTag === undefined ? {} : { liveTag: p.liveTag }),
  lines: p.lines,
  revealComplete: p.revealComplete,
})
