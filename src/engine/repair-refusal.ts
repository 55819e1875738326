/**
 * EDIT_REPAIR_AMBIGUOUS from readings: their differing rows, clipped, the op that it is about, and a spelling of that op which repair leaves alone and
 * which stands beside the other ops of the call. Called by repair and its search.
 */
import type { ExactForm, ReadingChange } from '../errors/repair.js'
import { repairAmbiguous } from '../errors/repair.js'
import type { RepairTie } from '../errors/repair-ties.js'
import type { ToolError } from '../errors/tool-error.js'
import type { Gap } from '../patch/ops.js'
import { headerText } from '../patch/print.js'
import { clip } from '../text/hunks.js'
import { touch } from './gates/overlap.js'
import type { Change, Reading } from './repair-reading.js'
import { place } from './resolve.js'
import type { ResolvedOp } from './resolved.js'

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
  return repairAmbiguous(
    first.op.opsLine,
    problem,
    changes.map((list) => list.map((change) => shown(change, bounds))),
    exactForm(first, readings[0]?.takes.map(({ op }) => op) ?? [], readings[0]?.base.lineCount ?? 0),
  )
}

/**
 * A CUT of the range and a PUT of the rows into the gap above or below it, whichever no other op of the call takes. With both taken the two ops stand in a
 * call of their own.
 */
function exactForm(about: ResolvedOp, ops: readonly ResolvedOp[], lineCount: number): ExactForm {
  const { start, last } = about.range
  const others = ops.filter((op) => op !== about)
  const above: Gap = start === 1 ? { kind: 'before', line: 1 } : { kind: 'after', line: start - 1 }
  const below: Gap = last === lineCount ? { kind: 'end' } : { kind: 'before', line: last + 1 }
  const puts = [above, below].map((at) => {
    const put = { kind: 'put', at, rows: [] } as const
    const header = headerText(put)
    return { header, placed: place({ ...put, header, opsLine: about.op.opsLine }, undefined, lineCount) }
  })
  const free = puts.find(({ placed }) => !others.some((op) => touch(placed, op)))
  return {
    cut: headerText({ kind: 'cut', at: { kind: 'range', first: start, last } }),
    put: (free ?? puts[0])?.header ?? '',
    // An anonymous paste would take the cut lines, or not know which to take.
    cutLast: others.some(({ op }) => op.kind === 'paste' && op.register === undefined),
    alone: free === undefined,
  }
}

function shown(change: Change, bounds: ShownBounds): ReadingChange {
  const rows = change.rows.slice(0, bounds.rows).map((row, i) => {
    const { text, clipped } = clip(row, bounds.rowChars)
    return { line: change.lines.start + i, text, clipped }
  })
  const about = { header: change.op.op.header, lines: { start: change.lines.start, last: change.lines.last }, rows }
  return change.kind === 'dropped' ? { ...about, kind: 'dropped' } : { ...about, kind: 'kept', place: change.place }
}
