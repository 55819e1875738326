/**
 * A replica that is killed in mid-call: `victim.js PLAN` serves the folder and the Redis that the plan names, makes the planned calls all at once, lets each of
 * them come to the place where it is to stop, says so, and waits for its end. Not a test itself; see killed.ts.
 */
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'
import type { Permit, Store } from '../../src/sessions/store.js'
import { redisStore } from '../sessions/redis/harness.js'
import { serve } from '../service.js'
import type { Plan } from './killed.js'
import { instead } from './stores.js'

const plan = JSON.parse(process.argv[2] ?? '') as Plan
const forever = new Promise<never>(() => undefined)
let missing = plan.calls.length

/** Never comes back. */
async function stop(): Promise<never> {
  missing--
  if (missing === 0) process.send?.('stopped')
  return forever
}

function stops(place: Plan['calls'][number]['stop'], path: string): boolean {
  return plan.calls.some((call) => call.stop === place && call.file === basename(path))
}

const real = fs.unlink
Object.assign(fs, { unlink: async (path: string) => (stops('half', path) ? stop() : real(path)) })
syncBuiltinESMExports()

function stopping(store: Store): Store {
  const pathsOf = new Map<string, readonly string[]>()
  const isAt = (permit: Permit, place: 'staged' | 'landed'): boolean =>
    (pathsOf.get(permit.token) ?? []).some((path) => stops(place, path))
  return instead(store, {
    stage: async (permit, intent) => {
      const answer = await store.stage(permit, intent)
      const paths = intent.files.map((file) => file.path)
      pathsOf.set(permit.token, paths)
      return isAt(permit, 'staged') ? stop() : answer
    },
    commit: async (permit) => (isAt(permit, 'landed') ? stop() : store.commit(permit)),
  })
}

const { url, ...changed } = plan.redis
const service = await serve({ root: plan.root, store: stopping(redisStore(url, changed)) })
await Promise.all(
  plan.calls.map(async ({ path, body, headers }) => {
    const reply = await service.call('POST', path, body, headers)
    process.send?.(`a call came back: ${reply.text}`)
  }),
)
