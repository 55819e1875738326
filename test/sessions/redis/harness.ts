/** Redis stores for tests: a namespace of their own, and a way to let time pass for every key of it. */
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import type { StoreBounds } from '../../../src/sessions/bounds.js'
import type { RedisStoreOptions } from '../../../src/sessions/redis.js'
import { createRedisStore } from '../../../src/sessions/redis.js'
import type { Store } from '../../../src/sessions/store.js'
import type { Harness, MakeStore } from '../conformance/harness.js'

export interface Logged {
  readonly warnings: string[]
  readonly errors: string[]
}

export function collectingLog(): Logged & RedisStoreOptions['log'] {
  const warnings: string[] = []
  const errors: string[] = []
  const text = (details: object, message: string): string =>
    `${message} ${JSON.stringify(details, (_, v: unknown) => (v instanceof Error ? v.message : v))}`
  return {
    warnings,
    errors,
    warn: (details, message) => warnings.push(text(details, message)),
    error: (details, message) => errors.push(text(details, message)),
  }
}

let count = 0
export function freshNamespace(): string {
  return `test${process.pid}-${++count}`
}

export function redisStore(url: string, changed: Partial<RedisStoreOptions> = {}): Store {
  return createRedisStore({
    url,
    monotonic: () => performance.now(),
    random: randomUUID,
    log: collectingLog(),
    ...changed,
  })
}

/** Shortens the TTL of every key below `namespace` by `ms`; those that it reaches are gone. */
export async function letPass(client: Redis, namespace: string, ms: number): Promise<void> {
  for await (const keys of client.scanStream({ match: `${namespace}:*`, count: 1_000 }) as AsyncIterable<string[]>)
    for (const key of keys) {
      const left = await client.pttl(key)
      if (left >= 0) await client.pexpire(key, left - ms)
      else if (left === -1) throw new Error(`${key} has no TTL`)
    }
}

export interface RedisHarness extends Harness {
  readonly namespace: string
  readonly log: Logged
}

/** `nodes` are all servers that hold keys; errors in the log fail the caller's `check`. */
export function redisHarness(
  url: string,
  nodes: readonly string[],
): (bounds?: Partial<StoreBounds>, changed?: Partial<RedisStoreOptions>) => Promise<RedisHarness> {
  return async (bounds = {}, changed = {}) => {
    const namespace = freshNamespace()
    const log = collectingLog()
    const store = redisStore(url, { namespace, log, bounds, ...changed })
    const direct = nodes.map((node) => new Redis(node).on('error', () => undefined))
    return {
      store,
      namespace,
      log,
      advance: async (ms) => {
        for (const client of direct) await letPass(client, namespace, ms)
      },
      replica: async () => {
        const other = redisStore(url, { namespace, log, bounds, ...changed })
        return { store: other, kill: async () => other.close() }
      },
      close: async () => {
        await store.close()
        for (const client of direct) client.disconnect()
      },
    }
  }
}

/** For the conformance suite: nothing in it may be an error or a value that is not ours. */
export function conformantMake(url: string, nodes: readonly string[], onLog: (log: Logged) => void): MakeStore {
  const make = redisHarness(url, nodes)
  return async (bounds) => {
    const harness = await make(bounds)
    return {
      ...harness,
      close: async () => {
        await harness.close()
        onLog(harness.log)
      },
    }
  }
}
