/**
 * The crash test of the workspace with many rounds: `node dist/test/long/crash.js ROUNDS` (500 by default). Prints what it saw; fails when a file was torn, another
 * file changed or a temporary file survived the sweep.
 */
import { crashRounds } from '../workspace/crash.js'

const rounds = Number(process.argv[2] ?? 500)
const started = Date.now()
const report = await crashRounds(rounds, Math.random)
console.log(
  `${report.rounds} kills in ${Math.round((Date.now() - started) / 1_000)} s, ${report.landed} writes landed, ` +
    `${report.orphaned} kills left a temporary file, ${report.faults.length} faults`,
)
for (const fault of report.faults) console.log(fault)
process.exitCode = report.faults.length === 0 ? 0 : 1
