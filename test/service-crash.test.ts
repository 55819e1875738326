/**
 * The service is killed in the middle of writes; the long form is test/long/service-crash.ts.
 */
import t from 'tap'
import { serviceCrashRounds } from './service-crash.js'

t.setTimeout(900_000)

t.test(
  'a killed service leaves every file wholly old or wholly new, and no temporary file',
  { timeout: 900_000 },
  async (t) => {
    const report = await serviceCrashRounds(20, Math.random)
    t.same(report.faults, [])
    t.comment(`${report.answered} writes answered, ${report.unanswered} cut off in ${report.rounds} rounds`)
  },
)
