/** Registers, reviews, failures and events in Redis (contract §7.5, §9.3, §13.1). Called by redis.ts. */
import { eventSequence, parseCursor, printCursor } from '../cursor.js'
import { unpack } from '../packing.js'
import { listed, unpackEvidence, unpackReview } from '../review-packing.js'
import type {
  GuardCount,
  NewEvent,
  RegisterContent,
  RegisterSummary,
  ReviewPage,
  SessionRef,
  StoredEvent,
  StoredReview,
} from '../store.js'
import { parseEvent, parseLines, parseRegister } from './codec.js'
import type { RedisContext } from './context.js'
import { shortHash } from './keys.js'

/** Inflated registers beyond this are not ours: the lines as JSON, every character escaped. */
const registerJsonFactor = 8
const eventsPerLook = 100
/** How often a listener looks by itself: messages may be lost, and nobody announces an expiry. */
const lookMs = 2_000

export class Logs {
  constructor(private readonly context: RedisContext) {}

  async register(ref: SessionRef, name: string, peek: boolean): Promise<RegisterContent | undefined> {
    const { client, keys, bounds, log } = this.context
    const reply = await client.run('register', keys.session(ref.sessionId), ref.epoch, name, peek ? 1 : 0)
    if (reply.word !== 'register') return undefined
    const summary = parseRegister(name, reply.text(0))
    const json = await unpack(reply.bytes(1), registerJsonFactor * (bounds.registerBytes + bounds.registerLines + 2))
    const lines = json && parseLines(json.toString('utf8'))
    if (summary && lines?.length === summary.lineCount) {
      const { bytes, updatedAt } = summary
      return { name, lines, bytes, updatedAt }
    }
    log.warn({ sessionId: ref.sessionId, name }, 'a register is not of our format and counts as absent')
    return undefined
  }

  async registers(ref: SessionRef): Promise<readonly RegisterSummary[]> {
    const { client, keys } = this.context
    const list = (await client.run('registers', keys.session(ref.sessionId), ref.epoch)).list(0)
    const found: RegisterSummary[] = []
    for (let i = 0; i + 1 < list.length; i += 2) {
      const summary = parseRegister(list.text(i), list.text(i + 1))
      if (summary) found.push(summary)
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  async review(ref: SessionRef, reviewId: string): Promise<StoredReview | undefined> {
    const { client, keys, log } = this.context
    const reply = await client.run('review', keys.session(ref.sessionId), ref.epoch, reviewId)
    if (reply.word !== 'review') return undefined
    const befores = new Map<number, Buffer>()
    for (let i = 3; i + 1 < reply.length; i += 2) befores.set(reply.number(i), reply.bytes(i + 1))
    const flags = { rolledBack: reply.text(0) === '1', beforesDropped: reply.text(1) === '1' }
    const review = await unpackReview(reply.bytes(2), flags, befores)
    if (!review) log.warn({ sessionId: ref.sessionId, reviewId }, 'a review is not of our format and counts as absent')
    return review
  }

  async reviews(ref: SessionRef, limit: number, cursor?: string): Promise<ReviewPage | undefined> {
    const below = cursor === undefined ? '+inf' : parseCursor(cursor)
    if (below === undefined) return undefined
    const { client, keys } = this.context
    const reply = await client.run('reviews', keys.session(ref.sessionId), ref.epoch, below, limit)
    const items = reply.lists(1)
    const evidence = await Promise.all(
      items.map(async (item) =>
        unpackEvidence(item.bytes(3), { rolledBack: item.text(1) === '1', beforesDropped: item.text(2) === '1' }),
      ),
    )
    const reviews = evidence.flatMap((e) => (e ? [listed(e)] : []))
    const last = items.at(-1)
    return last && reply.text(0) === '1' ? { reviews, nextCursor: printCursor(last.number(0)) } : { reviews }
  }

  async countFailure(
    ref: SessionRef,
    promptId: string,
    path: string,
    code: string,
    hasGrace: boolean,
  ): Promise<GuardCount> {
    const { client, keys, boundsJson } = this.context
    const key = keys.session(ref.sessionId)
    const field = guardField(promptId, path)
    const reply = await client.run('count-failure', key, ref.epoch, field, code, hasGrace ? 1 : 0, boundsJson)
    return reply.word === 'counted'
      ? { attempt: reply.number(0), grace: false }
      : { attempt: 0, grace: reply.word === 'grace' }
  }

  async append(ref: SessionRef, event: NewEvent): Promise<void> {
    const { client, keys, boundsJson } = this.context
    const data = JSON.stringify(event.data)
    await client.run('append', keys.session(ref.sessionId), ref.epoch, boundsJson, event.type, data)
  }

  async *events(ref: SessionRef, lastId: string | undefined, signal: AbortSignal): AsyncGenerator<StoredEvent> {
    const { client, keys } = this.context
    if ((await client.run('histories', keys.session(ref.sessionId), ref.epoch)).word === 'gone') return
    const bell = new Bell()
    const call = (): void => bell.ring()
    const stop = client.listen(keys.live(ref.sessionId), call)
    signal.addEventListener('abort', call)
    const state = { after: eventSequence(lastId), first: true }
    try {
      while (!signal.aborted) {
        bell.rung = false
        const { events, isLive } = await this.look(ref, state)
        for (const event of events) {
          if (isAborted(signal)) return
          yield event
        }
        if (!isLive && events.length === 0) return
        if (events.length === 0) await bell.wait(lookMs)
      }
    } finally {
      stop()
      signal.removeEventListener('abort', call)
    }
  }

  /** The next events. While Redis is away a listener that has begun waits for its return. */
  private async look(
    ref: SessionRef,
    state: { after: number; first: boolean },
  ): Promise<{ events: StoredEvent[]; isLive: boolean }> {
    const { client, keys } = this.context
    try {
      const reply = await client.run('events', keys.session(ref.sessionId), state.after, eventsPerLook)
      const events = reply
        .list(1)
        .texts()
        .flatMap((value) => parseEvent(value) ?? [])
      state.after = reply.number(0)
      state.first = false
      return { events, isLive: reply.word === 'live' }
    } catch (error) {
      if (state.first) throw error
      return { events: [], isLive: true }
    }
  }
}

export function guardField(promptId: string, path: string): string {
  return shortHash(`${promptId.length}:${promptId}${path}`)
}

/** Asked through a function, because the signal may abort while a listener holds an event. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted
}

/** Rung by messages and aborts, at any moment. */
class Bell {
  rung = false
  private wake: (() => void) | undefined

  ring(): void {
    this.rung = true
    this.wake?.()
  }

  async wait(ms: number): Promise<void> {
    if (this.rung) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
