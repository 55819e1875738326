/**
 * The syntax port: what the engine may ask about a text that needs a parser or a large diff.
 *
 * Answers are facts or a reason why there is none; a parser that is slow, lost or unsure never answers with a guess. Text goes in
 * and spans come out in 1-based inclusive lines. The implementation parses in worker threads, never on the event loop. Called by tools.
 */
import type { BlockReason } from '../errors/blocks.js'
import type { LineSpan } from '../errors/table.js'
import type { LineMapAnswer } from '../text/line-map.js'

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
  /** The nearest multi-line construct around the anchor, or the next one below it. */
  readonly enclosing?: LineSpan
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

export interface SyntaxPort {
  /** One answer per line asked, in order; the text is parsed once. `path` chooses the language (name, extension, shebang). */
  blocksAt(path: string, text: string, lines: readonly number[], signal?: AbortSignal): Promise<readonly BlockAnswer[]>
  /** One verdict per text, in order. `budgetMs` bounds the wait for all of them; past it the rest are `no-verdict`. */
  parses(path: string, texts: readonly string[], budgetMs?: number, signal?: AbortSignal): Promise<readonly ParseVerdict[]>
  /** True when the language of the path is known, without parsing. */
  knows(path: string, firstLine: string): boolean
  /** The map of unchanged lines between two texts (arrays of lines compared as given); small ones at once, large ones in a worker. */
  lineMap(from: readonly string[], to: readonly string[], signal?: AbortSignal): Promise<LineMapAnswer>
  /** Resolves when every grammar is loaded and has parsed its sample; rejects with the first that does not. */
  ready(): Promise<void>
  stats(): { readonly workers: number; readonly queued: number; readonly completed: number; readonly replaced: number }
  close(): Promise<void>
}
