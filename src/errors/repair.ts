/**
 * The refusal of boundary repair: how the readings of an ambiguous call differ, and what to write instead (contract §8.4, reading §6). Called by the
 * engine's repair; the warnings about what was repaired stand with the other warnings.
 */
import type { LineRow } from '../text/rows.js'
import type { RepairTie } from './repair-ties.js'
import { ToolError } from './tool-error.js'

interface Lines {
  readonly start: number
  readonly last: number
}

/** One way in which a reading differs from what was written. Lines are of the tagged text; of many `rows` only the first are shown. */
export type ReadingChange = { readonly header: string; readonly lines: Lines; readonly rows: readonly LineRow[] } & (
  { readonly kind: 'dropped' } | { readonly kind: 'kept'; readonly place: 'above' | 'below' }
)

/** Two headers that say what the op at hand says and leave nothing to repair. */
export interface ExactForm {
  readonly cut: string
  readonly put: string
  /** The CUT stands behind every paste of the call. */
  readonly cutLast: boolean
  /** Beside other ops of the call they would touch. */
  readonly alone: boolean
}

/** About the op at `opsLine`. Every reading is the list of its changes; an empty list is the call as written. */
export function repairAmbiguous(
  opsLine: number,
  problem: RepairTie,
  readings: readonly (readonly ReadingChange[])[],
  exact: ExactForm,
): ToolError<'EDIT_REPAIR_AMBIGUOUS'> {
  return new ToolError('EDIT_REPAIR_AMBIGUOUS', {
    opsLine,
    problem,
    candidates: readings.map((changes) => ({
      label: changes.length === 0 ? 'as written' : changes.map(changeText).join('; '),
      rows: ownRows(changes, readings),
    })),
    suggestion: `${exactText(exact)}, ${
      problem === 'restated'
        ? `or leave out the rows that restate lines (${exact.cut} alone when none is left)`
        : 'or a range without the line that should stay'
    }`,
  })
}

function exactText({ cut, put, cutLast, alone }: ExactForm): string {
  const pair = `${cut}${cutLast && !alone ? ' as the last op' : ''} with ${put}`
  return alone
    ? `${pair} in a call of its own to write exactly these rows (then the other ops, with the tag of its answer and numbers moved by its shifts)`
    : `${pair} to write exactly these rows`
}

/** Rows that the file would hold by this reading and not by every other one. */
function ownRows(
  changes: readonly ReadingChange[],
  readings: readonly (readonly ReadingChange[])[],
): readonly LineRow[] {
  const own = new Set(changes.map(changeText))
  const restated = new Map(
    readings
      .flat()
      .flatMap((change) => (change.kind === 'dropped' ? [[changeText(change), change.rows] as const] : [])),
  )
  return [
    ...[...restated].flatMap(([change, rows]) => (own.has(change) ? [] : rows)),
    ...changes.flatMap((change) => (change.kind === 'kept' ? change.rows : [])),
  ]
}

function changeText(change: ReadingChange): string {
  const { start, last } = change.lines
  const lines = start === last ? `line ${start}` : `lines ${start}-${last}`
  return change.kind === 'dropped'
    ? `"${change.header}" without the rows that restate ${lines}`
    : `"${change.header}" with ${lines} kept ${change.place} the body`
}
