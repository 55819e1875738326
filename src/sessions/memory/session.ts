/** Everything one session holds in memory, and the ends that calls in flight wait for. Called by the memory store. */
import { setMaxListeners } from 'node:events'
import type { StoreBounds } from '../bounds.js'
import type { PackedReview } from '../review-packing.js'
import type { Intent, NewSession, Session } from '../store.js'
import { Claims } from './claims.js'
import { EventLog } from './events.js'
import { Guard } from './guard.js'
import { Registers } from './registers.js'
import type { Retained } from './retained.js'
import { Reviews } from './reviews.js'
import { Snapshots } from './snapshots.js'

export class MemorySession {
  readonly snapshots: Snapshots
  readonly registers: Registers
  readonly guard: Guard
  readonly reviews: Reviews
  readonly claims: Claims
  readonly events: EventLog
  private facts: Omit<Session, 'expiresAt'>
  private expiry: number
  /** Ends with the session. */
  private readonly end = awaited()
  /** Ends with the epoch. */
  private life = awaited()

  constructor(
    session: NewSession,
    bounds: StoreBounds,
    retained: Retained,
    private readonly now: () => number,
  ) {
    this.facts = { ...session, createdAt: now(), epoch: 1 }
    this.expiry = this.facts.createdAt + session.ttlSeconds * 1000
    this.snapshots = new Snapshots(bounds, retained)
    this.registers = new Registers(bounds, retained)
    this.guard = new Guard(bounds)
    this.reviews = new Reviews(bounds, retained)
    this.claims = new Claims(bounds, retained, now)
    this.events = new EventLog(bounds, retained)
  }

  get shown(): Session {
    return { ...this.facts, expiresAt: this.expiry }
  }

  get tenant(): string {
    return this.facts.tenant
  }

  get epoch(): number {
    return this.facts.epoch
  }

  get expired(): boolean {
    return this.expiry <= this.now()
  }

  get ended(): AbortSignal {
    return this.end.signal
  }

  get epochEnded(): AbortSignal {
    return this.life.signal
  }

  slide(): void {
    this.expiry = this.now() + this.facts.ttlSeconds * 1000
  }

  switchTo(workspace: string): void {
    this.facts = { ...this.facts, workspace, epoch: this.facts.epoch + 1 }
    this.snapshots.clear()
    this.registers.clear()
    this.guard.clear()
    this.life.abort()
    this.life = awaited()
  }

  drop(): void {
    this.end.abort()
    this.life.abort()
    this.snapshots.clear()
    this.registers.clear()
    this.guard.clear()
    this.reviews.clear()
    this.claims.clear()
    this.events.clear()
  }

  /** What commit does, in the order of the contract of the store. Everything that takes time was done before. */
  publish(intent: Intent, review: PackedReview | undefined): void {
    const now = this.now()
    for (const path of intent.forget) this.snapshots.forget(path, true)
    for (const { from, to } of intent.moves ?? []) this.snapshots.move(from, to)
    for (const recording of intent.recordings) this.snapshots.record(recording, 'display', now)
    this.snapshots.sweepTexts()
    for (const { name, lines } of intent.registers) this.registers.put(name, lines, now)
    if (review) this.reviews.add(review)
    if (intent.rolledBack !== undefined) this.reviews.markRolledBack(intent.rolledBack)
    if (intent.answer) this.claims.answer(intent.answer.key, intent.answer.answer)
    if (intent.clearGuard) this.guard.forgive(intent.clearGuard.promptId, intent.clearGuard.path)
    for (const event of intent.events) this.events.append(event, now)
  }
}

/** Any number of calls may wait for one of these. */
function awaited(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}
