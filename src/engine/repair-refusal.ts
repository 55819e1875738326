/**
 * EDIT_REPAIR_AMBIGUOUS from readings: their differing rows, clipped, and the op that it is about. Called by repair and its search.
 */
import type { ReadingChange } from '../errors/repair.js'
import { repairAmbiguous } from '../errors/repair.js'
import type { RepairTie } from '../errors/repair-ties.js'
import type { ToolError } from '../errors/tool-error.js'
import { clip } from '../text/hunks.js'
import type { Change, Reading } from './repair-reading.js'

export interface ShownBounds {
  /** Rows of one change that are shown. */
  readonly rows: number
  /** UTF-16 units of one of them. */
  readonly rowChars: number
}

/** Names the topmost op that any of the readings changes, so that the refusal is the same in any order of ops. */
export function ambiguous(problem: RepairTie, readings: readonly Reading[], bounds: ShownBounds): ToolError {
  const changes = readings.map((reading) => reading.changes)
  const [first] = changes
    .flat()
    .map((change) => change.op)
    .sort((a, b) => a.range.start - b.range.start)
  if (!first) throw new RangeError('readings that change nothing are not ambiguous')
  const { op, range } = first
  return repairAmbiguous(
    { opsLine: op.opsLine, range: { start: range.start, last: range.last } },
    problem,
    changes.map((list) => list.map((change) => shown(change, bounds))),
  )
}

function shown(change: Change, bounds: ShownBounds): ReadingChange {
  const rows = change.rows.slice(0, bounds.rows).map((row, i) => {
    const { text, clipped } = clip(row, bounds.rowChars)
    return { line: change.lines.start + i, text, clipped }
  })
  const about = { header: change.op.op.header, lines: { start: change.lines.start, last: change.lines.last }, rows }
  return change.kind === 'dropped' ? { ...about, kind: 'dropped' } : { ...about, kind: 'kept', place: change.place }
}
