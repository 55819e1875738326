/**
 * The syntax port: what the engine may ask about a text that needs a parser or a large diff.
 *
 * Answers are facts or a reason why there is none; a parser that is slow, lost or unsure never answers with a guess. Text goes in
 * and spans come out in 1-based inclusive lines. The implementation parses in worker threads, never on the event loop. Called by tools.
 */
import type { BlockAnswer, BlockFound, BlockMissing, ParseVerdict } from '../text/facts.js'
import type { LineIds } from '../text/line-ids.js'
import type { LineMapAnswer } from '../text/line-map.js'

export type { BlockAnswer, BlockFound, BlockMissing, ParseVerdict }

export interface SyntaxPort {
  /** One answer per line asked, in order; the text is parsed once. `path` chooses the language (name, extension, shebang). */
  blocksAt(path: string, text: string, lines: readonly number[], signal?: AbortSignal): Promise<readonly BlockAnswer[]>
  /** One verdict per text, in order. `budgetMs` bounds the wait for all of them; past it the rest are `no-verdict`. */
  parses(
    path: string,
    texts: readonly string[],
    budgetMs?: number,
    signal?: AbortSignal,
  ): Promise<readonly ParseVerdict[]>
  /** The verdict on the next text of a file: sooner had than that on a text alone when an earlier one was asked about. */
  follows(path: string, text: string, budgetMs: number, signal?: AbortSignal): Promise<ParseVerdict>
  /** True when the language of the path is known, without parsing. */
  knows(path: string, firstLine: string): boolean
  /** The map of unchanged lines between two texts whose lines are numbered: at once where that is quick, else in a worker. */
  lineMap(lines: LineIds, signal?: AbortSignal): Promise<LineMapAnswer>
  /** Resolves when every grammar is loaded and has parsed its sample; rejects with the first that does not. */
  ready(): Promise<void>
  stats(): { readonly workers: number; readonly queued: number; readonly completed: number; readonly replaced: number }
  close(): Promise<void>
}
