/**
 * The search for a reading of the call that parses (contract §8.4): candidates → evidence → cost → decision.
 *
 * Restated rows go by line equality alone; only when the result still does not parse on a text that did may a row of the range stay, and only one whose
 * structure and indentation speak for it and without which the tagged text itself would break. The cheapest reading wins, a tie is refused, and a
 * missing verdict changes nothing. A result that parses is never touched except for restated rows. Called by repair.
 */
import type { Warning } from '../errors/warnings.js'
import { warn } from '../errors/warnings.js'
import type { ParseVerdict } from '../text/facts.js'
import { LineEdit } from '../text/line-edit.js'
import { LineRange } from '../text/line-range.js'
import type { Document } from '../text/document.js'
import type { Plan } from './facts.js'
import type { KeepOption } from './repair-evidence.js'
import { keepOptions } from './repair-evidence.js'
import type { Judge, Judged } from './repair-judge.js'
import { isBroken, isClean, missing } from './repair-judge.js'
import type { EchoUnit, Reading } from './repair-reading.js'
import { compareCost } from './repair-reading.js'
import type { ShownBounds } from './repair-refusal.js'
import { ambiguous } from './repair-refusal.js'

export interface SearchBounds {
  /** Rows walked to find the other half of a construct. */
  readonly partnerRows: number
  readonly shown: ShownBounds
}

export interface Decision {
  readonly reading: Reading
  /** Of the tagged text, where it was needed, and of the text that the reading makes. */
  readonly verdicts?: { readonly before?: ParseVerdict; readonly after: ParseVerdict }
  readonly warning?: Warning
}

/** A candidate: which restated runs it drops, which rows it keeps, and the reading that this makes. */
interface Candidate {
  readonly echoes: readonly EchoUnit[]
  readonly kept: readonly KeepOption[]
  readonly reading: Reading
}

interface Scene {
  readonly authored: Reading
  /** Every restated run that may go. */
  readonly echoes: readonly EchoUnit[]
  readonly judge: Judge
  readonly bounds: SearchBounds
}

/** Throws EDIT_REPAIR_AMBIGUOUS. */
export function* search(scene: Scene): Plan<Decision> {
  const { authored, echoes, judge, bounds } = scene
  const normalized = authored.dropping(echoes)
  const [written, after] = (yield* judge.judge([authored, normalized])).needed
  const unknown = missing(written, after)
  if (written === undefined || after === undefined || unknown !== undefined) return asWritten(scene, unknown)
  if (!isBroken(after)) return { reading: normalized, verdicts: { after } }

  const fewer = fewerEchoes(echoes, judge.candidates).map((some) => candidate(authored, some, []))
  if (fewer.length > 0 && judge.hasRoomFor(fewer.length)) {
    const { candidates: verdicts } = yield* judge.judge([], readingsOf(fewer))
    const lost = missing(...verdicts)
    if (lost !== undefined) return asWritten(scene, lost)
    const best = withoutLesser(fewer.filter((_, i) => isClean(verdicts[i]))).map(({ reading }) => reading)
    const [first] = best
    if (first && best.every((other) => other.isText(first)))
      return { reading: first, verdicts: { after: { verdict: 'clean' } } }
    if (first && !isClean(written)) throw ambiguous('restated', best, bounds.shown)
  }
  if (isClean(written)) return { reading: authored, verdicts: { after: written } }
  return yield* searchKept(scene, { reading: normalized, after })
}

/** What stands when no row is kept: the normalized reading and its verdict, which is broken. */
interface Fallback {
  readonly reading: Reading
  readonly after: ParseVerdict
}

/** Levels of one kept row, two, three …: a later level is looked at only when no reading of the one before parses. */
function* searchKept(scene: Scene, fallback: Fallback): Plan<Decision> {
  const { authored, echoes, judge, bounds } = scene
  const tagged: Judged = { key: 'tagged', text: authored.base }
  const sets = [echoes, ...fewerEchoes(echoes, judge.candidates), ...(echoes.length > 0 ? [[]] : [])]
  const drafts = sets.map((set) => ({ set, options: keepOptions(authored.dropping(set), bounds.partnerRows) }))
  const ruledOut = new Set<number>()
  for (let level = 1; ; level++) {
    const candidates = drafts.flatMap(({ set, options }) => {
      const open = options.filter(({ kept }) => !ruledOut.has(kept.line))
      return combinations(open, level, judge.candidates + 1).map((kept) => candidate(authored, set, kept))
    })
    const lines = level > 1 ? [] : [...new Set(candidates.flatMap((c) => c.kept.map(({ kept }) => kept.line)))]
    const probes = lines.map((line) => without(authored.base, line))
    if (candidates.length === 0) return yield* nothingKept(judge, tagged, fallback)
    if (!judge.hasRoomFor(candidates.length + probes.length)) {
      return { ...(yield* nothingKept(judge, tagged, fallback)), warning: warn.repairBounded(judge.candidates) }
    }
    const asked = yield* judge.judge([tagged], [...probes, ...readingsOf(candidates)])
    const [before] = asked.needed
    if (isBroken(before) && before) return { reading: fallback.reading, verdicts: { before, after: fallback.after } }
    const lost = missing(before, ...asked.candidates)
    if (before === undefined || lost !== undefined) return asWritten(scene, lost)
    for (const [i, line] of lines.entries()) if (!isBroken(asked.candidates[i])) ruledOut.add(line)
    const parsing = candidates.filter(
      ({ kept }, i) => isClean(asked.candidates[probes.length + i]) && !kept.some((row) => ruledOut.has(row.kept.line)),
    )
    const reading = cheapest(withoutLesser(parsing), bounds.shown)
    if (reading) return { reading, verdicts: { before, after: { verdict: 'clean' } } }
  }
}

function* nothingKept(judge: Judge, tagged: Judged, { reading, after }: Fallback): Plan<Decision> {
  const [before] = (yield* judge.judge([tagged], [], true)).needed
  return { reading, verdicts: { ...(before === undefined ? {} : { before }), after } }
}

/** Load never changes bytes (reading §6.2). */
function asWritten({ authored }: Scene, why: ReturnType<typeof missing>): Decision {
  const reason = why ?? 'parser-lost'
  return {
    reading: authored,
    verdicts: { after: { verdict: 'no-verdict', why: reason } },
    warning: warn.repairNotEvaluated(reason),
  }
}

function candidate(authored: Reading, echoes: readonly EchoUnit[], kept: readonly KeepOption[]): Candidate {
  return { echoes, kept, reading: authored.dropping(echoes).keeping(kept) }
}

function readingsOf(candidates: readonly Candidate[]): readonly Reading[] {
  return candidates.map(({ reading }) => reading)
}

/** The tagged text without one line: does deleting that line break it? */
function without(base: Document, line: number): Judged {
  return {
    key: `without ${line}`,
    get text(): Document {
      return new LineEdit(base.lineCount, [{ range: LineRange.inclusive(line, line), rows: [] }]).apply(base)
    },
  }
}

/**
 * Choices of some of the restated runs, neither none nor all: every one while they are few, else all but one of them, which finds the one run
 * among many that was meant.
 */
function fewerEchoes(echoes: readonly EchoUnit[], candidates: number): readonly (readonly EchoUnit[])[] {
  const all = 2 ** echoes.length
  if (all > candidates / 4) return echoes.map((left) => echoes.filter((unit) => unit !== left))
  const sets = Array.from({ length: Math.max(0, all - 2) }, (_, i) =>
    echoes.filter((_unit, bit) => ((i + 1) >> bit) & 1),
  )
  return sets.sort((a, b) => b.length - a.length)
}

/** With the same rows kept, the reading that drops more of the restated runs: equality alone lets them go. */
function withoutLesser(candidates: readonly Candidate[]): readonly Candidate[] {
  const isLesser = (a: Candidate, b: Candidate): boolean =>
    a.echoes.length < b.echoes.length && a.echoes.every((unit) => b.echoes.includes(unit)) && keptKey(a) === keptKey(b)
  return candidates.filter((a) => !candidates.some((b) => isLesser(a, b)))
}

function keptKey({ kept }: Candidate): string {
  return kept.map(({ index, kept: row }) => `${index}${row.place}${row.line}`).join()
}

/** The cheapest reading. Distinct texts at the lowest cost are a tie; of equal texts the one that keeps the topmost rows speaks for all. */
function cheapest(candidates: readonly Candidate[], shown: ShownBounds): Reading | undefined {
  const topmost = ({ kept }: Candidate): number => Math.min(...kept.map((option) => option.kept.line))
  const sorted = [...candidates].sort((a, b) => compareCost(a.reading, b.reading) || topmost(a) - topmost(b))
  const [first] = readingsOf(sorted)
  if (!first) return undefined
  const tied = readingsOf(sorted).filter((other) => compareCost(other, first) === 0)
  const distinct = tied.filter((a, i) => tied.findIndex((b) => a.isText(b)) === i)
  if (distinct.length > 1) throw ambiguous('swallowed', distinct, shown)
  return first
}

/** Choices of `size` rows of different ops, at most `limit` of them, in the order of the options. */
function combinations(options: readonly KeepOption[], size: number, limit: number): readonly (readonly KeepOption[])[] {
  let chosen: { readonly rows: readonly KeepOption[]; readonly next: number }[] = [{ rows: [], next: 0 }]
  for (let n = 0; n < size; n++) {
    const longer: typeof chosen = []
    for (const { rows, next } of chosen) {
      for (let i = next; i < options.length && longer.length < limit; i++) {
        const option = options[i]
        if (option && rows.every((row) => row.index !== option.index))
          longer.push({ rows: [...rows, option], next: i + 1 })
      }
    }
    chosen = longer
  }
  return chosen.map(({ rows }) => rows)
}
