/**
 * Kills the real service in the middle of writes over HTTP, again and again: `node dist/test/long/service-crash.js ROUNDS` (500 by default). The short form runs in
 * service-crash.test.ts. Prints what it saw; fails when a file was torn, an answered write was lost, another file changed or a temporary file stayed.
 */
import { serviceCrashRounds } from '../service-crash.js'

const rounds = Number(process.argv[2] ?? 500)
const started = Date.now()
const report = await serviceCrashRounds(rounds, Math.random)
console.log(
  `${report.rounds} kills in ${Math.round((Date.now() - started) / 1_000)} s, ${report.answered} writes answered, ` +
    `${report.unanswered} cut off, ${report.faults.length} faults`,
)
for (const fault of report.faults) console.log(fault)
process.exitCode = report.faults.length === 0 ? 0 : 1
