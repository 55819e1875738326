/**
 * Facts about a text that only a parser or a store can give, as values: the engine asks for them, ports answer.
 *
 * Every answer that is not a fact says why there is none; nothing here is a guess.
 */
import type { BlockReason } from '../errors/blocks.js'
import type { LineSpan } from '../errors/table.js'

export interface BlockFound {
  readonly found: true
  /** The span of the construct, attached leading nodes included when the anchor stands on one of them. At least two lines. */
  readonly span: LineSpan
}

export interface BlockMissing {
  readonly found: false
  readonly reason: BlockReason
  /** For a single-line construct: its line. */
  readonly singleLine?: LineSpan
  /** The nearest multi-line construct around the anchor; its first line is its opener. */
  readonly enclosing?: LineSpan
  /** Where nothing encloses the anchor: the next multi-line construct below it. */
  readonly next?: LineSpan
}

export type BlockAnswer = BlockFound | BlockMissing

/**
 * `clean` and `broken` are verdicts of a parser that finished; `unknown-language` is certain too; `no-verdict` means that a language is known but
 * no verdict could be had (too large, timed out, worker lost), reading §6.2.
 */
export type ParseVerdict =
  | { readonly verdict: 'clean' }
  | { readonly verdict: 'broken'; readonly errorLine: number }
  | { readonly verdict: 'unknown-language' }
  | { readonly verdict: 'no-verdict'; readonly why: 'too-large' | 'timed-out' | 'parser-lost' }
