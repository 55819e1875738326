/** Three services on one Redis while services die and Redis restarts; the long form is test/long/replicas.ts. */
import t from 'tap'
import { runReplicas } from './replicas.js'

t.test('no edit is lost or done twice while services die and Redis restarts', { timeout: 300_000 }, async (t) => {
  const report = await runReplicas({
    services: 3,
    agents: 8,
    editsPerAgent: 15,
    killEveryMs: 2_000,
    redisRestartAt: 0.5,
    chance: Math.random,
  })
  t.comment(JSON.stringify(report))
  t.same(report.faults, [])
  t.ok(report.succeeded >= 8 * 15)
})
