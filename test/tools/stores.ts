/**
 * Both stores for tests that speak to the whole service: a suite is a function of a way to make a store and runs on memory and on a real Redis.
 */
import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import type { Test } from 'tap'
import type { StoreBounds } from '../../src/sessions/bounds.js'
import { createMemoryStore } from '../../src/sessions/memory.js'
import type { Store } from '../../src/sessions/store.js'
import type { RedisServer } from '../redis-server.js'
import { startRedis } from '../redis-server.js'
import { collectingLog, freshNamespace, redisStore } from '../sessions/redis/harness.js'

export interface StoreUnderTest {
  readonly store: Store
  /** Everything that it holds, as text; two of them differ when anything changed but a TTL. */
  readonly dump: () => Promise<string>
  /** Where its data lies, for another process; undefined for memory. */
  readonly place: Place | undefined
  /** Another replica on the same data; the same store for memory. */
  readonly replica: () => Store
}

export interface Place {
  readonly url: string
  readonly namespace: string
}

export type MakeStore = (t: Test, bounds?: Partial<StoreBounds>) => StoreUnderTest

/** Generous: seconds on a machine of one's own. */
const suiteMs = 110_000

/** Runs the suite on each store. Redis is started once and ends with the test file. */
export async function onBothStores(
  t: Test,
  suite: (t: Test, make: MakeStore, kind: 'memory' | 'redis') => void | Promise<void>,
): Promise<void> {
  const server = await startRedis()
  t.teardown(async () => server.stop())
  t.setTimeout(2 * suiteMs)
  await t.test('memory', { timeout: suiteMs }, async (t) => suite(t, makeMemory, 'memory'))
  await t.test('redis', { timeout: suiteMs }, async (t) => suite(t, makeRedis(server), 'redis'))
}

/** The store with some of its members replaced. */
export function instead(store: Store, members: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(members, name) ?? Reflect.get(target, name)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}

const makeMemory: MakeStore = (t, bounds = {}) => {
  const store = createMemoryStore({ now: Date.now, monotonic: () => performance.now(), random: randomUUID, bounds })
  t.teardown(async () => store.close())
  return {
    store,
    // Expiry slides with every call, and so does the timer behind it.
    dump: async () =>
      inspect(store, {
        depth: Infinity,
        maxArrayLength: Infinity,
        maxStringLength: Infinity,
        showHidden: false,
        breakLength: 200,
      })
        .replace(/expiry: \d+/g, 'expiry')
        .replace(/_idle\w+: [^,]*,/g, ''),
    place: undefined,
    replica: () => store,
  }
}

const makeRedis =
  (server: RedisServer): MakeStore =>
  (t, bounds = {}) => {
    const { url } = server
    const namespace = freshNamespace()
    const make = (): Store => {
      const store = redisStore(url, { namespace, bounds, log: collectingLog() })
      t.teardown(async () => store.close())
      return store
    }
    return { store: make(), dump: async () => dumpRedis(url, namespace), place: { url, namespace }, replica: make }
  }

async function dumpRedis(url: string, namespace: string): Promise<string> {
  const client = new Redis(url)
  try {
    const keys = (await client.keys(`${namespace}:*`)).sort()
    const values = await Promise.all(
      keys.map(async (key) => `${key} ${(await client.dumpBuffer(key)).toString('base64')}`),
    )
    return values.join('\n')
  } finally {
    client.disconnect()
  }
}
