/**
 * Exclusive permits in one process, first come first served (reading §8.3). No leases: an owner cannot die without this process. Called by the memory store.
 */

interface Waiter {
  readonly grant: () => void
}

/** Why a wait ended without the permit. */
export type Refused = 'busy' | 'gone'

export class Permits {
  /** A key that is present is held; its queue waits for it. */
  private readonly queues = new Map<string, Set<Waiter>>()

  constructor(private readonly monotonic: () => number) {}

  /**
   * Takes `keys` in their order, waiting at most `waitMs` for all of them together. Holds nothing when it answers a refusal or rejects with the reason of
   * `signal`. `ended` is the end of the session's life.
   */
  async take(
    keys: readonly string[],
    waitMs: number,
    ended: AbortSignal,
    signal: AbortSignal | undefined,
  ): Promise<'held' | Refused> {
    signal?.throwIfAborted()
    const until = this.monotonic() + waitMs
    const taken: string[] = []
    for (const key of keys) {
      if (this.takeNow(key) || (await this.wait(key, until - this.monotonic(), ended, signal))) taken.push(key)
      else {
        this.give(taken)
        if (ended.aborted) return 'gone'
        signal?.throwIfAborted()
        return 'busy'
      }
    }
    return 'held'
  }

  give(keys: readonly string[]): void {
    for (const key of keys) {
      const queue = this.queues.get(key)
      const [next] = queue ?? []
      if (queue && next) {
        queue.delete(next)
        next.grant()
      } else this.queues.delete(key)
    }
  }

  private takeNow(key: string): boolean {
    if (this.queues.has(key)) return false
    this.queues.set(key, new Set())
    return true
  }

  /** False when the time is over or either signal aborts first. */
  private async wait(
    key: string,
    waitMs: number,
    ended: AbortSignal,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const queue = this.queues.get(key)
    if (queue === undefined || waitMs <= 0 || ended.aborted || signal?.aborted) return false
    return new Promise((resolve) => {
      const settle = (granted: boolean): void => {
        queue.delete(waiter)
        clearTimeout(timer)
        ended.removeEventListener('abort', stop)
        signal?.removeEventListener('abort', stop)
        resolve(granted)
      }
      const stop = (): void => settle(false)
      const waiter: Waiter = { grant: () => settle(true) }
      const timer = setTimeout(stop, waitMs)
      ended.addEventListener('abort', stop)
      signal?.addEventListener('abort', stop)
      queue.add(waiter)
    })
  }
}
