/**
 * Boundary repair (contract §8.4, reading §6): a replacement that swallowed one unchanged boundary row of its range, or whose body restates rows that survive
 * just outside of it.
 *
 * Repairs nothing else: no re-indentation, no moving of inserts, no closing of brackets, nothing under a register paste. Works on the tagged text and asks for
 * verdicts only where a byte depends on one; a call without an echo and without a row that could be kept asks nothing. The rules
 * stand in one table in docs/repair.md. Called by prepare after the gates.
 */
import type { Warning } from '../errors/warnings.js'
import { warn } from '../errors/warnings.js'
import { limits } from '../limits.js'
import type { Document } from '../text/document.js'
import type { Plan } from './facts.js'
import { ask } from './facts.js'
import type { Echo } from './repair-echo.js'
import { findEchoes, replacedBody } from './repair-echo.js'
import { keepOptions } from './repair-evidence.js'
import { isBroken, isClean, Judge } from './repair-judge.js'
import { notesOn } from './repair-notes.js'
import type { Change, EchoUnit } from './repair-reading.js'
import { Reading } from './repair-reading.js'
import { ambiguous } from './repair-refusal.js'
import type { Decision, SearchBounds } from './repair-search.js'
import { search } from './repair-search.js'
import type { ResolvedOp } from './resolved.js'

export interface RepairInput {
  /** Chooses the language. */
  readonly path: string
  /** The tagged text. */
  readonly base: Document
  /** All ops of the call, disjoint, in authored order. */
  readonly ops: readonly ResolvedOp[]
}

export interface Repaired {
  /** In the order of the input. An op that was not repaired is the same object. */
  readonly ops: readonly ResolvedOp[]
  readonly warnings: readonly Warning[]
  /** Of the base and of the text that these ops make, as far as they were asked for. `after` broken always comes with `before`. */
  readonly verdicts?: Decision['verdicts']
}

export interface RepairBounds {
  /** Candidate texts that one call may look at. */
  readonly repairCandidates: number
}

/** Throws EDIT_REPAIR_AMBIGUOUS. Laws: the ops differ from the input by the rows that the warnings name and by nothing else; their order decides nothing. */
export function* repair(input: RepairInput, bounds: RepairBounds): Plan<Repaired> {
  const notes = notesOn(input.base, input.ops)
  const { reading, verdicts, warning } = yield* decide(input, bounds.repairCandidates, {
    partnerRows: limits.repairPartnerRows,
    shown: { rows: limits.repairShownRows, rowChars: limits.revealLineChars },
  })
  return {
    ops: reading.ops,
    warnings: [...reading.changes.map(warningOf), ...(warning ? [warning] : []), ...notes],
    ...(verdicts === undefined ? {} : { verdicts }),
  }
}

function* decide({ path, base, ops }: RepairInput, candidates: number, bounds: SearchBounds): Plan<Decision> {
  const authored = Reading.authored(base, ops)
  const echoes = findEchoes(base, ops)
  const units = unitsOf(ops, echoes)
  if (units.length === 0 && keepOptions(authored, bounds.partnerRows).length === 0) return { reading: authored }

  const ties = ops.flatMap((op, index) => (isTie(op, echoes[index]) ? [index] : []))
  const clear = units.filter((unit) => !ties.includes(unit.index))
  if (!(yield* ask('language', { path, text: base }))) {
    if (ties.length > 0) throw ambiguous('restated', tiedReadings(authored, units, topmost(ops, ties)), bounds.shown)
    return { reading: authored.dropping(clear) }
  }
  const judge = new Judge(path, candidatesFor(base, candidates))
  if (ties.length > 0) yield* assertNoTie(authored, units, ties, judge, bounds)
  return yield* search({ authored, echoes: clear, judge, bounds })
}

/** Candidate texts of large files are many bytes: they are bounded together, beside their number. */
function candidatesFor(base: Document, most: number): number {
  return Math.min(most, Math.floor(limits.repairBytes / Math.max(1, base.bytes.length)))
}

/** From the top of the text to its end: a search that takes them in this order does not depend on the order of the ops. */
function unitsOf(ops: readonly ResolvedOp[], echoes: readonly Echo[]): readonly EchoUnit[] {
  const start = ({ index }: EchoUnit): number => ops[index]?.range.start ?? 0
  return echoes
    .flatMap(({ head, tail }, index): EchoUnit[] => [
      { index, side: 'head', rows: head },
      { index, side: 'tail', rows: tail },
    ])
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => start(a) - start(b))
}

/** Nothing of the body would remain, or the two runs overlap: the author may have meant a deletion, or these rows (reading §6.1). */
function isTie(op: ResolvedOp, echo: Echo | undefined): boolean {
  const rows = replacedBody(op)
  return rows !== undefined && echo !== undefined && echo.head + echo.tail > 0 && echo.head + echo.tail >= rows.length
}

/** The readings of one tied op: as written, without each of its runs, and without both where they do not overlap. */
function tiedReadings(authored: Reading, units: readonly EchoUnit[], index: number): readonly Reading[] {
  const own = units.filter((unit) => unit.index === index)
  const single = own.map((unit) => authored.dropping([unit]))
  const take = authored.takes[index]
  const rows = take === undefined ? [] : (replacedBody(take.op) ?? [])
  const overlap = own.reduce((sum, unit) => sum + unit.rows, 0) > rows.length
  return [authored, ...single, ...(own.length === 2 && !overlap ? [authored.dropping(own)] : [])]
}

/**
 * A tied op stays as written when that parses and each other reading of it does not; every other tie is refused, also when a verdict is missing: a
 * refusal changes no byte.
 */
function* assertNoTie(
  authored: Reading,
  units: readonly EchoUnit[],
  ties: readonly number[],
  judge: Judge,
  bounds: SearchBounds,
): Plan<void> {
  const readings = ties.map((index) => tiedReadings(authored, units, index).slice(1))
  const refusal = ambiguous(
    'restated',
    tiedReadings(
      authored,
      units,
      topmost(
        authored.takes.map(({ op }) => op),
        ties,
      ),
    ),
    bounds.shown,
  )
  if (!judge.hasRoomFor(readings.flat().length)) throw refusal
  const [written] = (yield* judge.judge([authored])).needed
  if (!isClean(written)) throw refusal
  const { candidates } = yield* judge.judge([], readings.flat())
  if (!candidates.every(isBroken)) throw refusal
}

function topmost(ops: readonly ResolvedOp[], indices: readonly number[]): number {
  const start = (index: number): number => ops[index]?.range.start ?? Infinity
  return indices.reduce((best, index) => (start(index) < start(best) ? index : best))
}

function warningOf({ kind, op, lines, rows }: Change): Warning {
  const numbers = rows.map((_, i) => lines.start + i)
  return kind === 'dropped' ? warn.echoRemoved(op.op.header, rows, numbers) : warn.rowKept(op.op.header, rows, numbers)
}
