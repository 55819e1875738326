/**
 * What the search and its thread say to each other; plain data, copied on the way.
 */
import type { ErrorCode } from '../errors/table.js'
import type { FilesFound, LinesFound, SearchQuery, SearchScope, SearchText } from './search-port.js'
import type { RunBounds } from './search-run.js'

export interface WorkerSetup {
  readonly program: string
  readonly denyRead: readonly string[]
  readonly bounds: RunBounds
}

export type Task =
  | { readonly kind: 'files'; readonly scope: SearchScope }
  | { readonly kind: 'lines'; readonly texts: readonly SearchText[]; readonly most: number }
  | { readonly kind: 'ends'; readonly lines: readonly Uint8Array[] }

interface Answers {
  readonly files: FilesFound
  readonly lines: LinesFound
  readonly ends: readonly number[]
}

export type Answer<T extends Task> = Answers[T['kind']]

export type Order =
  | { readonly id: number; readonly query: SearchQuery; readonly spentMs: number; readonly task: Task }
  /** Kills the processes of an order, which is answered all the same. */
  | { readonly cancel: number }

export type Reply = { readonly id: number } & (
  | { readonly answer: Answers[keyof Answers] }
  | { readonly refused: { readonly code: ErrorCode; readonly params: unknown } }
  | { readonly fault: string }
)
