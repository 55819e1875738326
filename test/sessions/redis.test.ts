/** The Redis store on one real server: the conformance suite. */
import t from 'tap'
import { startRedis } from '../redis-server.js'
import { conformance } from './conformance.js'
import { conformantMake } from './redis/harness.js'

const server = await startRedis()
t.teardown(async () => server.stop())

const errors: string[] = []
conformance(
  t,
  'redis',
  conformantMake(server.url, [server.url], (log) => errors.push(...log.errors, ...log.warnings)),
)

t.test('nothing of that was a fault of ours or a value of nobody', async (t) => {
  t.same(errors, [])
})
