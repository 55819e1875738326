/**
 * The memory store: all sessions of one process (contract §4, reading §8.1–8.8). The default.
 *
 * Keeps the store contract without leases, because an owner of a permit cannot die without the store: nothing is ever left over. Loses everything with the
 * process. Called by main and by tests.
 */
import { assertRegister } from './registers.js'
import type { StoreBounds } from './bounds.js'
import { storeBounds } from './bounds.js'
import { Permits } from './memory/permits.js'
import { Retained } from './memory/retained.js'
import { MemorySession } from './memory/session.js'
import type { PackedReview } from './review-packing.js'
import { fits, packReview } from './review-packing.js'
import type {
  Answer,
  Begun,
  Claim,
  GuardCount,
  Intent,
  NewEvent,
  NewSession,
  Permit,
  RecordAnswer,
  Recorder,
  Recording,
  RegisterContent,
  RegisterSummary,
  ReviewPage,
  Session,
  SessionRef,
  SnapshotEntry,
  Store,
  StoredEvent,
  StoredReview,
  Usage,
  Version,
  Wanted,
} from './store.js'

export interface MemoryStoreOptions {
  /** Milliseconds since the epoch: TTLs and what is shown as a time. */
  readonly now: () => number
  /** Milliseconds of a clock that never steps: how long a wait took. */
  readonly monotonic: () => number
  /** A fresh unguessable token. */
  readonly random: () => string
  readonly bounds?: Partial<StoreBounds>
}

/** How often sessions that expired unseen are dropped. */
const sweepMs = 1_000

export function createMemoryStore(options: MemoryStoreOptions): Store {
  return new MemoryStore(options)
}

interface Held {
  readonly ref: SessionRef
  readonly keys: readonly string[]
  staged?: { readonly intent: Intent; readonly review: Promise<PackedReview> | undefined }
}

class MemoryStore implements Store {
  private readonly bounds: StoreBounds
  private readonly retained: Retained
  private readonly permits: Permits
  private readonly sessions = new Map<string, MemorySession>()
  private readonly held = new Map<string, Held>()
  private readonly sweeper: NodeJS.Timeout

  constructor(private readonly options: MemoryStoreOptions) {
    this.bounds = storeBounds(options.bounds)
    this.retained = new Retained(this.bounds.retainedBytesPerProcess)
    this.permits = new Permits(options.monotonic)
    this.sweeper = setInterval(() => this.sweep(), sweepMs).unref()
  }

  async create(session: NewSession, maxPerTenant: number): Promise<Session | 'full'> {
    this.sweep()
    if (this.sessions.has(session.sessionId)) throw new RangeError('a session id is used once')
    let open = 0
    for (const other of this.sessions.values()) if (other.tenant === session.tenant) open++
    if (open >= maxPerTenant) return 'full'
    const created = new MemorySession(session, this.bounds, this.retained, this.options.now)
    this.sessions.set(session.sessionId, created)
    return created.shown
  }

  async open(sessionId: string, slide: boolean): Promise<Session | undefined> {
    const session = this.find(sessionId)
    if (slide) session?.slide()
    return session?.shown
  }

  async openAndClaim(
    sessionId: string,
    key: string,
    requestDigest: string,
    waitMs: number,
    tenant?: string,
  ): Promise<{ readonly session: Session; readonly claim: Claim } | undefined> {
    if (tenant !== undefined && this.find(sessionId)?.tenant !== tenant) return undefined
    const session = await this.open(sessionId, true)
    return session && { session, claim: await this.claim(session, key, requestDigest, waitMs) }
  }

  async drop(sessionId: string): Promise<boolean> {
    const session = this.find(sessionId)
    if (session) this.end(sessionId, session)
    return session !== undefined
  }

  async switchWorkspace(ref: SessionRef, workspace: string): Promise<Session | undefined> {
    const session = this.alive(ref)
    session?.switchTo(workspace)
    return session?.shown
  }

  async usage(ref: SessionRef): Promise<Usage> {
    const session = this.alive(ref)
    return session
      ? { ...session.snapshots.usage, registers: session.registers.size }
      : { paths: 0, versions: 0, retainedBytes: 0, registers: 0 }
  }

  async history(ref: SessionRef, path: string): Promise<readonly Version[]> {
    return this.alive(ref)?.snapshots.history(path) ?? []
  }

  async record(ref: SessionRef, recording: Recording, by: Recorder): Promise<RecordAnswer> {
    return this.alive(ref)?.snapshots.record(recording, by, this.options.now()) ?? 'gone'
  }

  async recordAll(ref: SessionRef, recordings: readonly Recording[], by: Recorder): Promise<readonly RecordAnswer[]> {
    const session = this.alive(ref)
    return recordings.map((recording) => session?.snapshots.record(recording, by, this.options.now()) ?? 'gone')
  }

  async text(ref: SessionRef, textDigest: string, peek = false): Promise<Uint8Array | undefined> {
    return this.alive(ref)?.snapshots.text(textDigest, peek)
  }

  async snapshots(ref: SessionRef): Promise<readonly SnapshotEntry[]> {
    return this.alive(ref)?.snapshots.entries() ?? []
  }

  async pathsWith(ref: SessionRef, basename: string, tag: string): Promise<readonly string[]> {
    return this.alive(ref)?.snapshots.pathsWith(basename, tag) ?? []
  }

  async register(ref: SessionRef, name: string, peek = false): Promise<RegisterContent | undefined> {
    return this.alive(ref)?.registers.get(name, peek)
  }

  async registers(ref: SessionRef): Promise<readonly RegisterSummary[]> {
    return this.alive(ref)?.registers.list() ?? []
  }

  async begin(ref: SessionRef, wanted: Wanted, waitMs: number, signal?: AbortSignal): Promise<Begun> {
    const session = this.alive(ref)
    if (session === undefined) return { status: 'gone' }
    const started = this.options.monotonic()
    const keys = [`session ${ref.sessionId}`, ...[...new Set(wanted.files)].sort().map((file) => `file ${file}`)]
    const taken = await this.permits.take(keys, waitMs, session.epochEnded, signal)
    if (taken === 'gone') return { status: 'gone' }
    if (taken === 'busy') return { status: 'busy', waitedMs: Math.round(this.options.monotonic() - started) }
    if (this.alive(ref) !== session) {
      this.permits.give(keys)
      return { status: 'gone' }
    }
    const token = this.options.random()
    this.held.set(token, { ref, keys })
    const histories = new Map(wanted.histories.map((path) => [path, session.snapshots.history(path)]))
    return { status: 'held', permit: { token, fresh: () => this.held.has(token) }, histories, leftovers: [] }
  }

  async stage(permit: Permit, intent: Intent): Promise<'staged' | 'lost' | 'gone'> {
    for (const register of intent.registers) assertRegister(register.lines, this.bounds)
    const held = this.held.get(permit.token)
    if (held === undefined) return 'lost'
    if (this.alive(held.ref) === undefined) return 'gone'
    const review = intent.review && packReview(intent.review, this.bounds.reviewEvidenceBytesPerSession)
    // Commit awaits it; a fault before that must not end the process.
    review?.catch(() => undefined)
    held.staged = { intent, review }
    return 'staged'
  }

  async commit(permit: Permit): Promise<'recorded' | 'gone'> {
    const held = this.held.get(permit.token)
    if (held === undefined) return 'gone'
    try {
      if (held.staged === undefined) throw new Error('commit comes after stage')
      const review = await held.staged.review
      const session = this.alive(held.ref)
      if (session === undefined) return 'gone'
      session.publish(held.staged.intent, review)
      return 'recorded'
    } finally {
      this.letGo(permit)
    }
  }

  async release(permit: Permit): Promise<void> {
    this.letGo(permit)
  }

  async settle(): Promise<'absent'> {
    // Nothing is ever left over here.
    return 'absent'
  }

  async claim(ref: SessionRef, key: string, requestDigest: string, waitMs: number): Promise<Claim> {
    const session = this.alive(ref)
    return session ? session.claims.claim(key, requestDigest, waitMs, session.ended) : { status: 'mine' }
  }

  async answer(ref: SessionRef, key: string, answer: Answer): Promise<Answer> {
    return this.alive(ref)?.claims.answer(key, answer) ?? answer
  }

  async unclaim(ref: SessionRef, key: string): Promise<void> {
    this.alive(ref)?.claims.unclaim(key)
  }

  async countFailure(
    ref: SessionRef,
    promptId: string,
    path: string,
    code: string,
    hasGrace: boolean,
  ): Promise<GuardCount> {
    return this.alive(ref)?.guard.count(promptId, path, code, hasGrace) ?? { attempt: 0, grace: false }
  }

  async keeps(before: Uint8Array): Promise<boolean> {
    return fits(before, this.bounds.reviewBytesPerSession)
  }

  async review(ref: SessionRef, reviewId: string): Promise<StoredReview | undefined> {
    return this.alive(ref)?.reviews.get(reviewId)
  }

  async reviews(ref: SessionRef, limit: number, cursor?: string): Promise<ReviewPage | undefined> {
    const session = this.alive(ref)
    return session ? session.reviews.page(limit, cursor) : { reviews: [] }
  }

  async append(ref: SessionRef, event: NewEvent): Promise<void> {
    this.alive(ref)?.events.append(event, this.options.now())
  }

  async *events(ref: SessionRef, lastId: string | undefined, signal: AbortSignal): AsyncGenerator<StoredEvent> {
    const session = this.alive(ref)
    if (session) yield* session.events.read(lastId, session.ended, signal)
  }

  async ping(): Promise<boolean> {
    return true
  }

  async close(): Promise<void> {
    clearInterval(this.sweeper)
    for (const [sessionId, session] of this.sessions) this.end(sessionId, session)
  }

  private find(sessionId: string): MemorySession | undefined {
    const session = this.sessions.get(sessionId)
    if (!session?.expired) return session
    this.end(sessionId, session)
    return undefined
  }

  private alive(ref: SessionRef): MemorySession | undefined {
    const session = this.find(ref.sessionId)
    return session?.epoch === ref.epoch ? session : undefined
  }

  private end(sessionId: string, session: MemorySession): void {
    this.sessions.delete(sessionId)
    session.drop()
  }

  private sweep(): void {
    for (const [sessionId, session] of this.sessions) if (session.expired) this.end(sessionId, session)
  }

  private letGo(permit: Permit): void {
    const held = this.held.get(permit.token)
    if (held && this.held.delete(permit.token)) this.permits.give(held.keys)
  }
}
