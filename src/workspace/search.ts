/**
 * Search by ripgrep, behind the search port (reading §8.12).
 *
 * Every search has its turn, its deadline and its child processes; ripgrep starts in the root, follows no link, reads no ignore file but the one that is written
 * for it, and is given no path of the caller as an argument. Decides nothing about what is shown. Called by main and by tests.
 */
import { lstat } from 'node:fs/promises'
import { rgPath as packagedRipgrep } from '@vscode/ripgrep'
import { limits } from '../limits.js'
import { codeOf } from './faults.js'
import type { Answer, Task } from './search-messages.js'
import type { Search, SearchPort } from './search-port.js'
import { Turns } from './search-queue.js'
import { SearchThread } from './search-thread.js'

export interface SearchOptions {
  /** The ripgrep to run, 13 or newer. Defaults to the one of the package. */
  readonly rgPath?: string
  /** DENY_READ: globs of paths, relative to their root, that are never searched. */
  readonly denyRead?: readonly string[]
  /** Bytes of a file that is searched. */
  readonly maxFileBytes?: number
  readonly searchMs?: number
  readonly searchLinesMs?: number
  readonly searchesAtOnce?: number
  readonly searchesWaiting?: number
  readonly searchWaitMs?: number
  readonly searchFiles?: number
  readonly searchCountFiles?: number
  readonly searchCountMs?: number
}

/** Starts nothing yet. */
export function createSearch(options: SearchOptions = {}): SearchPort {
  const bounds = { ...limits, ...options }
  const program = options.rgPath ?? packagedRipgrep
  const thread = new SearchThread({ program, denyRead: options.denyRead ?? [], bounds })
  const turns = new Turns('searches', {
    atOnce: bounds.searchesAtOnce,
    waiting: bounds.searchesWaiting,
    waitMs: bounds.searchWaitMs,
  })
  return {
    run: async (query, signal, use) => {
      const giveBack = await turns.take(signal)
      const started = performance.now()
      const stop = new AbortController()
      const either = AbortSignal.any([signal, stop.signal])
      const asked = new Set<Promise<unknown>>()
      const ask = <T extends Task>(task: T): Promise<Answer<T>> => {
        const answer = thread.ask(query, performance.now() - started, task, either)
        asked.add(answer)
        return answer
      }
      try {
        return await use({
          kindOf,
          files: (scope) => ask({ kind: 'files', scope }),
          lines: (texts, most) => ask({ kind: 'lines', texts, most }),
          ends: (lines) => ask({ kind: 'ends', lines }),
        })
      } finally {
        stop.abort(new Error('the search has ended'))
        await Promise.allSettled(asked)
        giveBack()
      }
    },
  }
}

const kindOf: Search['kindOf'] = async (canonical) => {
  try {
    const stat = await lstat(canonical)
    return stat.isDirectory() ? 'directory' : stat.isFile() ? 'file' : 'other'
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return 'absent'
    throw error
  }
}
