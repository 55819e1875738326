/** The events of one session in memory: a bounded log and its live readers. Slow readers cost nothing: each reads the log at its own place. Called by the memory store. */
import type { StoreBounds } from '../bounds.js'
import { eventSequence } from '../cursor.js'
import type { NewEvent, StoredEvent } from '../store.js'
import type { Hold, Retained } from './retained.js'

interface Logged {
  readonly sequence: number
  readonly event: StoredEvent
  readonly bytes: number
  hold?: Hold
}

export class EventLog {
  private log: Logged[] = []
  private sequence = 0
  private bytes = 0
  private waiters: (() => void)[] = []

  constructor(
    private readonly bounds: StoreBounds,
    private readonly retained: Retained,
  ) {}

  append(event: NewEvent, now: number): void {
    const sequence = ++this.sequence
    const bytes = Buffer.byteLength(JSON.stringify(event.data))
    const logged: Logged = { sequence, event: { ...event, id: String(sequence), at: now }, bytes }
    this.log.push(logged)
    this.bytes += bytes
    logged.hold = this.retained.hold('log', bytes, () => this.remove(logged))
    while (
      this.log.length > 1 &&
      (this.log.length > this.bounds.eventsPerSession || this.bytes > this.bounds.eventBytesPerSession)
    )
      this.dropOldest()
    this.wake()
  }

  /** Ends when `ended` or `signal` aborts, after what was logged before. */
  async *read(lastId: string | undefined, ended: AbortSignal, signal: AbortSignal): AsyncGenerator<StoredEvent> {
    let after = eventSequence(lastId)
    if (after > this.sequence) after = 0
    const wake = (): void => this.wake()
    signal.addEventListener('abort', wake)
    ended.addEventListener('abort', wake)
    try {
      for (;;) {
        if (signal.aborted) return
        const next = this.log.find((l) => l.sequence > after)
        if (next) {
          after = next.sequence
          yield next.event
        } else if (ended.aborted) return
        else await new Promise<void>((resolve) => this.waiters.push(resolve))
      }
    } finally {
      signal.removeEventListener('abort', wake)
      ended.removeEventListener('abort', wake)
    }
  }

  clear(): void {
    for (const logged of this.log) logged.hold?.free()
  }

  private dropOldest(): void {
    const oldest = this.log[0]
    if (oldest) this.remove(oldest)
  }

  private remove(logged: Logged): void {
    logged.hold?.free()
    this.bytes -= logged.bytes
    if (this.log[0] === logged) this.log.shift()
    else this.log = this.log.filter((l) => l !== logged)
  }

  private wake(): void {
    const waiters = this.waiters
    this.waiters = []
    for (const resolve of waiters) resolve()
  }
}
