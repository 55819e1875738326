import t from 'tap'
import { crashRounds } from './crash.js'

t.test(
  'killed at any moment: files are wholly old or wholly new, and the sweep leaves no temporary file',
  async (t) => {
    const report = await crashRounds(20, Math.random)
    t.comment(`${report.rounds} kills, ${report.landed} writes landed, ${report.orphaned} left a temporary file`)
    t.same(report.faults, [])
    t.ok(report.landed > 0, 'writes were under way')
  },
)
