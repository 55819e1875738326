/**
 * Permits in Redis: one per session and per file, under one random token, with leases that are renewed until the permit ends (reading §8.3).
 *
 * The first attempt asks for everything at once; only where something is held by another is the order kept: the session, then the files by their keys. What
 * was taken out of order is given back before anything is waited for. Called by redis.ts and by intents.
 */
import type { Begun, Leftover, Permit, SessionRef, Wanted } from '../store.js'
import type { RedisContext } from './context.js'
import { allOf, inBackground } from './context.js'
import { parseHead } from './intent-codec.js'
import type { Mark } from './intent-codec.js'
import { parseMark } from './intent-codec.js'
import type { Reply } from './reply.js'
import type { Snapshots } from './snapshots.js'
import type { Turn } from './wake.js'

/** A waiter that does not look again for this long is dead. */
const ticketMs = 2_000
/** How often a waiter looks by itself. */
const lookMs = 500

/** What this process knows of a permit that it holds. */
export interface HeldPermit {
  readonly token: string
  readonly ref: SessionRef
  readonly files: readonly string[]
  /** Digests of texts that the store had when the permit was taken. */
  readonly knownTexts: ReadonlySet<string>
  readonly leases: Leases
  /** Where a leftover's marks lie, by intent id. */
  readonly marks: ReadonlyMap<string, readonly { readonly file: string; readonly mark: string }[]>
}

/** Until when each permit of a token is surely held, by the monotonic clock of this process. */
export class Leases {
  private readonly until = new Map<string, number>()
  private renewer: NodeJS.Timeout | undefined
  private ended = false

  constructor(
    private readonly context: RedisContext,
    private readonly token: string,
  ) {}

  /** `since` was taken before the command was sent. */
  took(key: string, since: number): void {
    this.until.set(key, since + this.context.bounds.permitLeaseMs)
    this.renewer ??= setInterval(() => this.renew(), this.context.bounds.permitLeaseMs / 3).unref()
  }

  gave(key: string): void {
    this.until.delete(key)
  }

  holds(key: string): boolean {
    return this.until.has(key)
  }

  fresh(): boolean {
    const { monotonic, bounds } = this.context
    return !this.ended && monotonic() < Math.min(...this.until.values()) - bounds.permitMarginMs
  }

  end(): void {
    this.ended = true
    clearInterval(this.renewer)
  }

  private renew(): void {
    const { client, bounds, monotonic } = this.context
    for (const key of this.until.keys()) {
      const since = monotonic()
      const renewal = client.run('renew', key, this.token, bounds.permitLeaseMs).then((reply) => {
        if (this.ended || !this.until.has(key)) return
        this.until.set(key, reply.word === 'held' ? since + bounds.permitLeaseMs : -Infinity)
      })
      inBackground(renewal)
    }
  }
}

type Word = 'held' | 'busy' | 'gone'

/** One begin from its first attempt to its end. */
class Attempt {
  readonly leases: Leases
  readonly marks = new Map<string, string>()
  session: Reply | undefined
  private readonly until: number

  constructor(
    private readonly context: RedisContext,
    readonly ref: SessionRef,
    readonly token: string,
    readonly files: readonly string[],
    private readonly paths: readonly string[],
    private readonly waitMs: number,
    private readonly turn: Turn,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.leases = new Leases(context, token)
    this.until = context.monotonic() + waitMs
  }

  async take(): Promise<Word> {
    // Only the first file in order may be queued for: whoever waits for a later one would block others without being able to go on.
    const first = await allOf([this.takeSession(), ...this.files.map(async (file, i) => this.takeFile(file, i === 0))])
    const [session = 'busy', ...files] = first
    if (session === 'gone') return 'gone'
    if (session === 'busy') {
      this.giveFiles(this.files)
      const word = await this.wait(async () => this.takeSession())
      if (word !== 'held') return word
    }
    for (const [i, file] of this.files.entries()) {
      if (this.holdsFile(file)) continue
      this.giveFiles(this.files.slice(i + 1))
      const isQueued = session === 'held' && i === 0 && files[0] === 'busy'
      const word = isQueued ? 'busy' : await this.takeFile(file, true)
      if (word !== 'held' && (await this.wait(async () => this.takeFile(file, true))) !== 'held') return 'busy'
    }
    return 'held'
  }

  /** Ends everything that this token has or waits for. Leases make up for what cannot be reached. */
  giveAll(): void {
    this.leases.end()
    const { client, keys } = this.context
    inBackground(client.run('release-session', keys.session(this.ref.sessionId), this.token, keys.wakeChannel))
    this.giveFiles(this.files)
  }

  private holdsFile(file: string): boolean {
    return this.leases.holds(this.context.keys.filePermit(file))
  }

  private giveFiles(files: readonly string[]): void {
    const { client, keys } = this.context
    for (const file of files) {
      const key = keys.filePermit(file)
      this.leases.gave(key)
      inBackground(client.run('release-file', key, this.token, keys.wakeChannel, ''))
    }
  }

  private async takeSession(): Promise<Word> {
    const { client, keys, bounds, monotonic } = this.context
    const since = monotonic()
    const args = [this.ref.epoch, this.token, bounds.permitLeaseMs, ticketMs, this.waitMs > 0 ? 1 : 0, ...this.paths]
    const reply = await client.run('begin', keys.session(this.ref.sessionId), ...args)
    if (reply.word === 'gone') return 'gone'
    if (reply.word !== 'held') return 'busy'
    this.session = reply
    this.leases.took(keys.sessionPermit(this.ref.sessionId), since)
    return 'held'
  }

  private async takeFile(file: string, mayWait: boolean): Promise<Word> {
    const { client, keys, bounds, monotonic } = this.context
    const key = keys.filePermit(file)
    const since = monotonic()
    const wait = mayWait && this.waitMs > 0 ? 1 : 0
    const reply = await client.run('acquire-file', key, this.token, bounds.permitLeaseMs, ticketMs, wait)
    if (reply.word !== 'held') return 'busy'
    this.leases.took(key, since)
    this.marks.set(file, reply.text(0))
    return 'held'
  }

  /** Looks again when woken, and from time to time. */
  private async wait(look: () => Promise<Word>): Promise<Word> {
    for (;;) {
      const left = this.until - this.context.monotonic()
      if (left <= 0) return 'busy'
      await this.turn.wait(Math.min(left, lookMs), this.signal)
      const word = await look()
      if (word !== 'busy') return word
    }
  }
}

export class Permits {
  private readonly held = new Map<string, HeldPermit>()

  constructor(
    private readonly context: RedisContext,
    private readonly snapshots: Snapshots,
  ) {}

  async begin(ref: SessionRef, wanted: Wanted, waitMs: number, signal?: AbortSignal): Promise<Begun> {
    signal?.throwIfAborted()
    const { wakes, random, monotonic } = this.context
    const token = random()
    const files = [...new Set(wanted.files)].sort()
    const started = monotonic()
    const turn = wakes.turn(token)
    const attempt = new Attempt(this.context, ref, token, files, wanted.histories, waitMs, turn, signal)
    try {
      const word = await attempt.take()
      if (word === 'held' && attempt.session) return await this.begun(attempt, wanted.histories, attempt.session)
      attempt.giveAll()
      return word === 'gone' ? { status: 'gone' } : { status: 'busy', waitedMs: Math.round(monotonic() - started) }
    } catch (error) {
      attempt.giveAll()
      throw error
    } finally {
      turn.end()
    }
  }

  find(permit: Permit): HeldPermit | undefined {
    return this.held.get(permit.token)
  }

  /** Ends it in this process. Undefined when it had ended before. */
  end(permit: Permit): HeldPermit | undefined {
    const held = this.held.get(permit.token)
    this.held.delete(permit.token)
    held?.leases.end()
    return held
  }

  close(): void {
    for (const held of this.held.values()) held.leases.end()
    this.held.clear()
  }

  private async begun(attempt: Attempt, paths: readonly string[], session: Reply): Promise<Begun> {
    const { token, ref, files, leases } = attempt
    const histories = this.snapshots.parsedHistories(paths, session.lists(1))
    const { leftovers, marks } = await this.leftovers(attempt, session.list(0))
    const knownTexts = new Set([...histories.values()].flat().flatMap((v) => (v.retained ? [v.textDigest] : [])))
    this.held.set(token, { token, ref, files, leases, knownTexts, marks })
    const permit: Permit = { token, fresh: () => this.held.has(token) && leases.fresh() }
    return { status: 'held', permit, histories, leftovers }
  }

  /** The intent that lies in the session, and those that marks on the files name. Marks whose intent is gone are taken away. */
  private async leftovers(
    attempt: Attempt,
    own: Reply,
  ): Promise<{ leftovers: Leftover[]; marks: HeldPermit['marks'] }> {
    const marks = new Map<string, { file: string; mark: string }[]>()
    const named = new Map<string, Mark>()
    // The own one is looked for again, now that nobody else can settle it: whoever held a file a moment ago may have.
    if (own.length === 1) named.set(own.text(0), { ref: attempt.ref, intentId: own.text(0) })
    for (const [file, mark] of attempt.marks) {
      const parsed = mark === '' ? undefined : parseMark(mark)
      if (parsed) {
        marks.set(parsed.intentId, [...(marks.get(parsed.intentId) ?? []), { file, mark }])
        named.set(parsed.intentId, parsed)
      } else if (mark !== '') this.dropMark(file, mark)
    }
    const found = await Promise.all([...named.values()].map(async (mark) => this.fetch(mark)))
    for (const [i, { intentId }] of [...named.values()].entries())
      if (found[i]?.length === 0) for (const { file, mark } of marks.get(intentId) ?? []) this.dropMark(file, mark)
    return { leftovers: found.flat(), marks }
  }

  private async fetch({ ref, intentId }: Mark): Promise<Leftover[]> {
    const { client, keys } = this.context
    const reply = await client.run('leftover', keys.session(ref.sessionId), ref.epoch, intentId)
    return reply.word === 'found' ? this.leftover(ref, intentId, reply.text(0), reply.text(1)) : []
  }

  private leftover(ref: SessionRef, intentId: string, json: string, answer: string): Leftover[] {
    const head = parseHead(json, answer)
    if (head) return [{ ref: { sessionId: ref.sessionId, epoch: ref.epoch }, intent: { intentId, ...head } }]
    this.context.log.warn({ sessionId: ref.sessionId, intentId }, 'an intent is not of our format and counts as absent')
    return []
  }

  private dropMark(file: string, mark: string): void {
    const { client, keys } = this.context
    inBackground(client.run('drop-mark', keys.filePermit(file), mark))
  }
}
