/**
 * The Redis store: sessions of any number of replicas that share a workspace volume (reading §8.1–8.5).
 *
 * One server, Sentinel or Cluster. Every atomic step is one script; every key has a TTL; whatever the server loses is answered with a refusal or a warning.
 * Any failure of Redis is STORE_UNAVAILABLE. Called by main and by tests.
 */
import type { StoreBounds } from './bounds.js'
import { storeBounds } from './bounds.js'
import { Claims } from './redis/claims.js'
import type { StoreLog } from './redis/client.js'
import { RedisClient } from './redis/client.js'
import type { RedisContext } from './redis/context.js'
import { redisContext } from './redis/context.js'
import { Intents } from './redis/intents.js'
import { Keys } from './redis/keys.js'
import { Logs } from './redis/logs.js'
import { Permits } from './redis/permits.js'
import { Sessions } from './redis/sessions.js'
import { Snapshots } from './redis/snapshots.js'
import { parseRedisUrl } from './redis/url.js'
import { Wakes } from './redis/wake.js'
import { fits } from './review-packing.js'
import type { Claim, Session, Store } from './store.js'

export interface RedisStoreOptions {
  /** See redis/url.ts. Throws RangeError when it is not understood. */
  readonly url: string
  /** Milliseconds of a clock that never steps. */
  readonly monotonic: () => number
  /** A fresh unguessable token without blanks. */
  readonly random: () => string
  readonly log: StoreLog
  readonly bounds?: Partial<StoreBounds>
  /** The beginning of every key and channel. */
  readonly namespace?: string
  readonly commandTimeoutMs?: number
  /** Called after every command with the name of its script and the milliseconds it took. */
  readonly onRoundTrip?: (name: string, ms: number) => void
}

export function createRedisStore(options: RedisStoreOptions): Store {
  const client = new RedisClient({
    target: parseRedisUrl(options.url),
    log: options.log,
    monotonic: options.monotonic,
    commandTimeoutMs: options.commandTimeoutMs ?? 2_000,
    ...(options.onRoundTrip ? { onRoundTrip: options.onRoundTrip } : {}),
  })
  const keys = new Keys(options.namespace ?? 'anchorline')
  const { log, monotonic, random } = options
  const wakes = new Wakes(client, keys)
  return storeOf(redisContext({ client, keys, wakes, bounds: storeBounds(options.bounds), log, monotonic, random }))
}

function storeOf(context: RedisContext): Store {
  const sessions = new Sessions(context)
  const snapshots = new Snapshots(context)
  const permits = new Permits(context, snapshots)
  const claims = new Claims(context)
  const intents = new Intents(context, permits, claims)
  const logs = new Logs(context)

  async function openAndClaim(
    sessionId: string,
    key: string,
    requestDigest: string,
    waitMs: number,
    tenant = '',
  ): Promise<{ readonly session: Session; readonly claim: Claim } | undefined> {
    const [opening, claiming] = await Promise.allSettled([
      sessions.open(sessionId, true, tenant),
      claims.claim({ sessionId, epoch: '' }, tenant, key, requestDigest, waitMs),
    ])
    const session = opening.status === 'fulfilled' ? opening.value : undefined
    const claim = claiming.status === 'fulfilled' ? claiming.value : 'gone'
    if (session && claim !== 'gone') return { session, claim }
    // Without a session to work in, a claim that was had is left to its lease.
    if (claim !== 'gone' && claim.status === 'mine') claims.take({ sessionId }, key)
    if (opening.status === 'rejected') throw opening.reason
    if (claiming.status === 'rejected') throw claiming.reason
    return undefined
  }

  return {
    create: async (session, maxPerTenant) => sessions.create(session, maxPerTenant),
    open: async (sessionId, slide) => sessions.open(sessionId, slide),
    openAndClaim,
    drop: async (sessionId) => sessions.drop(sessionId),
    switchWorkspace: async (ref, workspace) => sessions.switchWorkspace(ref, workspace),
    usage: async (ref) => snapshots.usage(ref),

    history: async (ref, path) => (await snapshots.histories(ref, [path])).get(path) ?? [],
    record: async (ref, recording, by) => (await snapshots.record(ref, [recording], by))[0] ?? 'gone',
    recordAll: async (ref, recordings, by) => snapshots.record(ref, recordings, by),
    text: async (ref, textDigest) => snapshots.text(ref, textDigest),
    snapshots: async (ref) => snapshots.entries(ref),
    pathsWith: async (ref, basename, tag) => snapshots.pathsWith(ref, basename, tag),

    register: async (ref, name, peek = false) => logs.register(ref, name, peek),
    registers: async (ref) => logs.registers(ref),

    begin: async (ref, wanted, waitMs, signal) => permits.begin(ref, wanted, waitMs, signal),
    stage: async (permit, intent) => intents.stage(permit, intent),
    commit: async (permit) => intents.commit(permit),
    release: async (permit) => intents.release(permit),
    settle: async (permit, leftover, landed, texts) => intents.settle(permit, leftover, landed, texts),

    claim: async (ref, key, requestDigest, waitMs) => {
      const claim = await claims.claim(ref, '', key, requestDigest, waitMs)
      return claim === 'gone' ? { status: 'mine' } : claim
    },
    answer: async (ref, key, answer) => claims.answer(ref, key, answer),
    unclaim: async (ref, key) => claims.unclaim(ref, key),

    countFailure: async (ref, promptId, path, code, hasGrace) => logs.countFailure(ref, promptId, path, code, hasGrace),

    keeps: async (before) => fits(before, context.bounds.reviewBytesPerSession),
    review: async (ref, reviewId) => logs.review(ref, reviewId),
    reviews: async (ref, limit, cursor) => logs.reviews(ref, limit, cursor),

    append: async (ref, event) => logs.append(ref, event),
    events: (ref, lastId, signal) => logs.events(ref, lastId, signal),

    ping: async () => context.client.ping(),
    close: async () => {
      claims.close()
      permits.close()
      context.wakes.close()
      context.client.close()
    },
  }
}
