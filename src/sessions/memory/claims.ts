/**
 * Idempotency keys of one session in memory: claims and answers (reading §8.8). A claim that is never answered is free again after `claimMaxMs`.
 * Called by the memory store.
 */
import type { StoreBounds } from '../bounds.js'
import type { Answer, Claim } from '../store.js'
import type { Hold, Retained } from './retained.js'

interface Entry {
  readonly requestDigest: string
  readonly claimedAt: number
  answer?: Answer
  hold?: Hold
}

export class Claims {
  /** Oldest first. */
  private readonly entries = new Map<string, Entry>()
  private waiters: (() => void)[] = []

  constructor(
    private readonly bounds: StoreBounds,
    private readonly retained: Retained,
    private readonly now: () => number,
  ) {}

  async claim(key: string, requestDigest: string, waitMs: number, ended: AbortSignal): Promise<Claim> {
    let timedOut = waitMs <= 0
    const timer = setTimeout(() => {
      timedOut = true
      this.wake()
    }, waitMs)
    try {
      for (;;) {
        const entry = this.entries.get(key)
        if (entry === undefined || this.lapsed(entry)) {
          this.entries.delete(key)
          this.entries.set(key, { requestDigest, claimedAt: this.now() })
          this.shrink()
          return { status: 'mine' }
        }
        if (entry.requestDigest !== requestDigest) return { status: 'reused' }
        if (entry.answer) return { status: 'answered', answer: entry.answer }
        if (timedOut || ended.aborted) return { status: 'busy' }
        await new Promise<void>((resolve) => this.waiters.push(resolve))
      }
    } finally {
      clearTimeout(timer)
    }
  }

  /** The answer that stands: the first one. */
  answer(key: string, answer: Answer): Answer {
    const entry = this.entries.get(key)
    if (entry === undefined || entry.answer) return entry?.answer ?? answer
    entry.answer = answer
    entry.hold = this.retained.hold('log', Buffer.byteLength(answer.body), () => this.entries.delete(key))
    this.shrink()
    this.wake()
    return answer
  }

  unclaim(key: string): void {
    const entry = this.entries.get(key)
    if (entry === undefined || entry.answer) return
    this.entries.delete(key)
    this.wake()
  }

  clear(): void {
    for (const entry of this.entries.values()) entry.hold?.free()
    this.entries.clear()
    this.wake()
  }

  private lapsed(entry: Entry): boolean {
    return entry.answer === undefined && this.now() - entry.claimedAt >= this.bounds.claimMaxMs
  }

  private shrink(): void {
    const answered = [...this.entries].filter(([, e]) => e.answer !== undefined)
    let bytes = answered.reduce((sum, [, e]) => sum + (e.hold?.bytes ?? 0), 0)
    for (const [key, entry] of answered.slice(0, -1)) {
      if (this.entries.size <= this.bounds.answersPerSession && bytes <= this.bounds.answerBytesPerSession) break
      bytes -= entry.hold?.bytes ?? 0
      entry.hold?.free()
      this.entries.delete(key)
    }
  }

  private wake(): void {
    const waiters = this.waiters
    this.waiters = []
    for (const resolve of waiters) resolve()
  }
}
