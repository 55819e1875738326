/**
 * Three services on one Redis and one workspace, killed and restarted while agents edit shared files: `node dist/test/long/replicas.js RUNS AGENTS EDITS` (1, 16 and 200 by
 * default). The short form runs in replicas.test.ts. Prints what it saw; fails when an edit was lost, done twice or done although refused, or when anything stayed behind.
 */
import { runReplicas } from '../replicas.js'

const [runs = 1, agents = 16, editsPerAgent = 200] = process.argv.slice(2).map(Number)
let failed = false
for (let run = 1; run <= runs; run++) {
  const report = await runReplicas({
    services: 3,
    agents,
    editsPerAgent,
    killEveryMs: 4_000,
    redisRestartAt: 0.5,
    chance: Math.random,
  })
  const { faults, ...figures } = report
  console.log(`run ${run}: ${JSON.stringify(figures)}`)
  for (const fault of faults) console.log(`  ${fault}`)
  failed ||= faults.length > 0
}
process.exitCode = failed ? 1 : 0
