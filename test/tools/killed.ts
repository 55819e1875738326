/** Calls that a process is killed in: a real replica with its own connection to Redis, ended by SIGKILL at a place that the test chooses. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { StoreBounds } from '../../src/sessions/bounds.js'
import type { Service } from '../service.js'
import type { Place } from './stores.js'

/** Leases that a test can wait for, and that a busy machine can still renew. */
export const shortLeases = { permitLeaseMs: 3_000, permitMarginMs: 500 } as const

export interface VictimCall {
  /** `staged`: before anything landed; `half`: between the two steps of a move, at the name that goes; `landed`: before the store heard of it. */
  readonly stop: 'staged' | 'half' | 'landed'
  /** The name of a file of the call, by which it is known where it is to stop. */
  readonly file: string
  readonly path: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}

export interface Plan {
  readonly root: string
  readonly redis: Place & { readonly bounds: Partial<StoreBounds> }
  readonly calls: readonly VictimCall[]
}

/** Resolves when the process is dead; every call had come to its place. */
export async function killedInMidCall(service: Service, place: Place, calls: readonly VictimCall[]): Promise<void> {
  const plan: Plan = { root: service.root, redis: { ...place, bounds: shortLeases }, calls }
  const child = fork(fileURLToPath(new URL('victim.js', import.meta.url)), [JSON.stringify(plan)])
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const said = new Promise<unknown>((resolve) => child.once('message', resolve))
  const first = await Promise.race([said, gone])
  child.kill('SIGKILL')
  await gone
  if (first !== 'stopped') throw new Error(`the calls did not stop where they should: ${String(first)}`)
}
