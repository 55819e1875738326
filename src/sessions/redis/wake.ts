/**
 * Waiting for a turn: woken by name over one channel, and looking again from time to time because a message may be lost. Called by permits and claims.
 */
import type { RedisClient } from './client.js'
import type { Keys } from './keys.js'

export interface Turn {
  /** Resolves when the name is called, at the latest after `ms`; at once when it was called since the last time. Rejects with the reason of `signal`. */
  wait(ms: number, signal?: AbortSignal): Promise<void>
  end(): void
}

interface Waiting {
  called: boolean
  wake?: (() => void) | undefined
}

export class Wakes {
  private readonly waiting = new Map<string, Set<Waiting>>()
  private readonly stop: () => void

  constructor(client: RedisClient, keys: Keys) {
    this.stop = client.listen(keys.wakeChannel, (name) => {
      for (const waiting of this.waiting.get(name) ?? []) {
        waiting.called = true
        waiting.wake?.()
      }
    })
  }

  /** Open it before the first look, so that no call is missed between that look and the wait. */
  turn(name: string): Turn {
    const waiting: Waiting = { called: false }
    const all = this.waiting.get(name) ?? new Set()
    this.waiting.set(name, all)
    all.add(waiting)
    return {
      wait: async (ms, signal) => {
        signal?.throwIfAborted()
        if (!waiting.called) await sleep(waiting, ms, signal)
        waiting.called = false
        signal?.throwIfAborted()
      },
      end: () => {
        all.delete(waiting)
        if (all.size === 0 && this.waiting.get(name) === all) this.waiting.delete(name)
      },
    }
  }

  close(): void {
    this.stop()
    for (const all of this.waiting.values()) for (const waiting of all) waiting.wake?.()
  }
}

async function sleep(waiting: Waiting, ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      waiting.wake = undefined
      resolve()
    }
    const timer = setTimeout(done, Math.max(0, ms))
    signal?.addEventListener('abort', done)
    waiting.wake = done
  })
}
