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
  /** What to read when the reveal is not complete. */
  readonly reading?: ReadAdvice
}

/** Reads that show lines in full, each within what one Read answers; or a line that no Read shows. */
export type ReadAdvice =
  | {
      readonly steps: readonly { readonly offset: number; readonly limit: number }[]
      /** Plain rows would be clipped. */
      readonly raw: boolean
      /** The last line to read, when it takes more reads than `steps` lists. */
      readonly until?: number
    }
  | { readonly tooWide: number }

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
export const linesText = (count: number): string => (count === 1 ? '1 line' : `${count} lines`)
export const spanText = (span: LineSpan): string =>
  span.start === span.end ? `line ${span.start}` : `lines ${span.start}-${span.end}`
const readHint = ({ steps, raw, until }: Extract<ReadAdvice, { steps: unknown }>): string => {
  const reads = steps.map(({ offset, limit }) => `offset ${offset} and limit ${limit}${raw ? ' and raw true' : ''}`)
  const more = until === undefined ? '' : `, and on from the offset that each notice names up to line ${until}`
  return `Read it with ${reads.join(', then ')}${more}`
}

/** The next step after a reveal: the retry when it was complete, what to read otherwise. */
export const retryAfterReveal = ({ revealComplete, reading }: RevealFields, retry: string): string => {
  if (revealComplete) return `${retry}; no Read is needed`
  if (reading === undefined) return 'Read the file, then retry with the tag it returns'
  if ('tooWide' in reading)
    return `line ${reading.tooWide} is wider than any answer, so it cannot be edited; edit the lines around it, or write the whole file with Write`
  return `${readHint(reading)}, then retry with the tag it returns`
}

export const revealOf = (p: RevealFields): Record<string, unknown> => ({
  ...(p.liveTag === undefined ? {} : { liveTag: p.liveTag }),
  lines: p.lines,
  revealComplete: p.revealComplete,
})
