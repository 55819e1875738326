/** What the parts of the Redis store share. Called by redis.ts alone. */
import type { StoreBounds } from '../bounds.js'
import { boundsJson } from './codec.js'
import type { RedisClient, StoreLog } from './client.js'
import type { Keys } from './keys.js'
import type { Wakes } from './wake.js'

export interface RedisContext {
  readonly client: RedisClient
  readonly keys: Keys
  readonly wakes: Wakes
  readonly bounds: StoreBounds
  /** The bounds as scripts take them. */
  readonly boundsJson: string
  readonly log: StoreLog
  readonly monotonic: () => number
  readonly random: () => string
}

export function redisContext(parts: Omit<RedisContext, 'boundsJson'>): RedisContext {
  return { ...parts, boundsJson: boundsJson(parts.bounds) }
}

/** Waits for all of them, so that none runs on behind the one that failed; then throws what the first one threw. */
export async function allOf<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(work)
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

/** Work whose failure changes nothing for the call that started it: leases and TTLs make up for it. */
export function inBackground(work: Promise<unknown>): void {
  work.catch(() => undefined)
}
