/** Sessions in Redis: create, open, drop, switch, and the places that a tenant has (reading §8.1–8.2). Called by redis.ts. */
import { limits } from '../../limits.js'
import { ToolError } from '../../errors/tool-error.js'
import type { NewSession, Session, SessionRef } from '../store.js'
import { parseSession, sessionFields } from './codec.js'
import type { RedisContext } from './context.js'
import { inBackground } from './context.js'
import { isSessionId } from './keys.js'
import type { Reply } from './reply.js'

/** Listeners have this long to hear the last events of a session that was dropped. */
const lastEventsMs = 30_000
/** The set of a tenant outlives the longest pause between two refreshes of any of its sessions. */
const tenantSetMs = 4 * limits.sessionMaxTtlSeconds * 1000

export class Sessions {
  constructor(private readonly context: RedisContext) {}

  async create(session: NewSession, maxPerTenant: number): Promise<Session | 'full'> {
    const { client, keys } = this.context
    if (!isSessionId(session.sessionId)) throw new RangeError('a session id is 1 to 128 of A-Z a-z 0-9 _ -')
    if (!(await this.reserve(session, maxPerTenant))) return 'full'
    try {
      const ttl = Math.round(session.ttlSeconds * 1000)
      const reply = await client.run('create', keys.session(session.sessionId), ttl, ...sessionFields(session))
      if (reply.word === 'taken') throw new RangeError('a session id is used once')
      return this.parsed(session.sessionId, reply) ?? unreadable()
    } catch (error) {
      if (error instanceof ToolError) inBackground(this.unreserve(session.tenant, [session.sessionId]))
      throw error
    }
  }

  async open(sessionId: string, slide: boolean, tenant = ''): Promise<Session | undefined> {
    if (!isSessionId(sessionId)) return undefined
    const { client, keys } = this.context
    const reply = await client.run('open', keys.session(sessionId), slide ? 1 : 0, tenant)
    if (reply.word !== 'open') return undefined
    const session = this.parsed(sessionId, reply)
    if (session && reply.text(3) === '1') inBackground(this.keepPlace(session))
    return session
  }

  async drop(sessionId: string): Promise<boolean> {
    if (!isSessionId(sessionId)) return false
    const { client, keys } = this.context
    const reply = await client.run('drop', keys.session(sessionId), keys.wakeChannel, lastEventsMs)
    if (reply.word !== 'dropped') return false
    inBackground(this.unreserve(reply.text(0), [sessionId]))
    return true
  }

  async switchWorkspace(ref: SessionRef, workspace: string): Promise<Session | undefined> {
    const { client, keys } = this.context
    const reply = await client.run('switch', keys.session(ref.sessionId), ref.epoch, workspace, keys.wakeChannel)
    return reply.word === 'open' ? this.parsed(ref.sessionId, reply) : undefined
  }

  private parsed(sessionId: string, reply: Reply): Session | undefined {
    const session = parseSession(sessionId, reply)
    if (!session) this.context.log.warn({ sessionId }, 'a session is not of our format and counts as absent')
    return session
  }

  /** The set knows of no expiry: when it is full, those of its sessions that ended unseen make room. */
  private async reserve(session: NewSession, max: number): Promise<boolean> {
    const { client, keys } = this.context
    const attempt = async (): Promise<Reply> =>
      client.run('reserve', keys.tenant(session.tenant), session.sessionId, max, tenantSetMs)
    const first = await attempt()
    if (first.word === 'reserved') return true
    const ids = first.list(0).texts().filter(isSessionId)
    const existing = await client.existing(ids.map((id) => keys.session(id)))
    const ended = ids.filter((id) => !existing.has(keys.session(id)))
    if (ended.length === 0) return false
    await this.unreserve(session.tenant, ended)
    return (await attempt()).word === 'reserved'
  }

  private async keepPlace({ tenant, sessionId }: Session): Promise<void> {
    await this.context.client.run(
      'reserve',
      this.context.keys.tenant(tenant),
      sessionId,
      Number.MAX_SAFE_INTEGER,
      tenantSetMs,
    )
  }

  private async unreserve(tenant: string, ids: readonly string[]): Promise<void> {
    await this.context.client.run('unreserve', this.context.keys.tenant(tenant), ...ids)
  }
}

function unreadable(): never {
  throw new ToolError('STORE_UNAVAILABLE', {})
}
