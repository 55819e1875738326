/**
 * Replays real changes through boundary repair: the minimal diff between two versions of a file, written as ops, should come out as it went in.
 *
 * Two ways: all hunks of a file in one call, and each hunk in a call of its own, which is harder: half of a change often does not parse, and
 * repair must not make something of it. Used by a test on files at hand and by the benchmark on published versions.
 */
import { run } from '../../src/engine/facts.js'
import { repair } from '../../src/engine/repair.js'
import type { ResolvedOp } from '../../src/engine/resolved.js'
import { resolvedOp } from '../../src/engine/resolved.js'
import { ToolError } from '../../src/errors/tool-error.js'
import { limits } from '../../src/limits.js'
import type { Put } from '../../src/patch/ops.js'
import { Document } from '../../src/text/document.js'
import { lineMap } from '../../src/text/line-map.js'
import { LineRange } from '../../src/text/line-range.js'
import type { Asked } from './repair-notation.js'
import { answersOf, applied, verdictOn, warningText } from './repair-notation.js'

/** Lines of the old text that go and rows that come in their place. */
export interface Hunk {
  readonly range: LineRange
  readonly rows: readonly string[]
}

export interface Changed {
  readonly path: string
  readonly way: 'whole' | 'single'
  readonly hunk: Hunk
  readonly said: string
}

export interface Tally {
  files: number
  hunks: number
  /** Hunks that replace lines: the only ones that repair may touch. */
  replacements: number
  /** Replacement hunks judged, by the way of judging. */
  readonly judged: Record<Changed['way'], number>
  verdicts: number
  readonly changed: Changed[]
}

export const emptyTally = (): Tally => ({
  files: 0,
  hunks: 0,
  replacements: 0,
  judged: { whole: 0, single: 0 },
  verdicts: 0,
  changed: [],
})

const linesOf = (text: Document): string[] => Array.from({ length: text.lineCount }, (_, i) => text.text(i + 1))

/** The hunks of a minimal diff, none when the texts are too far apart. */
export function hunksBetween(old: Document, next: Document): readonly Hunk[] {
  const to = linesOf(next)
  const map = lineMap(linesOf(old), to, { maxEdits: limits.diffMaxEdits, timeMs: 5_000 })
  if (!('runs' in map)) return []
  const hunks: Hunk[] = []
  let from = { old: 1, next: 1 }
  for (const run of [...map.runs, { from: old.lineCount + 1, to: next.lineCount + 1, length: 0 }]) {
    const range = new LineRange(from.old, run.from)
    const rows = to.slice(from.next - 1, run.to - 1)
    if (!range.isGap || rows.length > 0) hunks.push({ range, rows })
    from = { old: run.from + run.length, next: run.to + run.length }
  }
  return hunks
}

function opOf({ range, rows }: Hunk, opsLine: number): ResolvedOp {
  const at: Put['at'] = range.isGap
    ? range.start === 1
      ? { kind: 'before', line: 1 }
      : { kind: 'after', line: range.start - 1 }
    : { kind: 'range', first: range.start, last: range.last }
  if (rows.length === 0) {
    const span = { kind: 'range', first: range.start, last: range.last } as const
    return resolvedOp(
      { kind: 'cut', at: span, opsLine, header: `CUT ${range.start}.=${range.last}` },
      range,
      [],
      'none',
      [range],
    )
  }
  const header = range.isGap ? `PUT >${range.start - 1}:` : `PUT ${range.start}.=${range.last}:`
  return resolvedOp({ kind: 'put', at, rows, opsLine, header }, range, rows, 'body', [range])
}

/** Replays the change of one file in both ways and adds what happened to `tally`. */
export function replay(
  path: string,
  oldText: string,
  newText: string,
  tally: Tally,
  most: number = limits.opsPerCall,
): void {
  const base = Document.fromText(oldText)
  const hunks = hunksBetween(base, Document.fromText(newText))
  if (hunks.length === 0) return
  tally.files++
  tally.hunks += hunks.length
  tally.replacements += hunks.filter(isReplacement).length
  if (hunks.length <= most) judge(path, base, hunks, 'whole', tally)
  for (const hunk of hunks.slice(0, most)) if (isReplacement(hunk)) judge(path, base, [hunk], 'single', tally)
}

const isReplacement = ({ range, rows }: Hunk): boolean => !range.isGap && rows.length > 0

function judge(path: string, base: Document, hunks: readonly Hunk[], way: Changed['way'], tally: Tally): void {
  const ops = hunks.map(opOf)
  const asked: Asked = { questions: [], texts: 0 }
  tally.judged[way] += hunks.filter(isReplacement).length
  const note = (op: ResolvedOp | undefined, said: string): void => {
    const hunk = hunks[op === undefined ? 0 : ops.indexOf(op)] ?? hunks[0]
    if (hunk) tally.changed.push({ path, way, hunk, said })
  }
  try {
    const result = run(repair({ path, base, ops }, limits), answersOf({}, asked))
    const said = result.warnings.filter(({ code }) => code.startsWith('BOUNDARY') || code === 'REPAIR_NOT_EVALUATED')
    for (const [i, op] of result.ops.entries()) {
      if (op === ops[i]) continue
      const own = said.filter((warning) => warning['op'] === op.op.header)
      note(ops[i], own.map(warningText).join(', '))
    }
    if (said.some(({ code }) => code === 'REPAIR_NOT_EVALUATED')) note(undefined, 'not evaluated')
  } catch (error) {
    if (!(error instanceof ToolError) || !error.is('EDIT_REPAIR_AMBIGUOUS')) throw error
    const { opsLine, candidates } = error.params
    note(ops[opsLine], `refused: ${candidates.map(({ label }) => label).join(' | ')}`)
  }
  tally.verdicts += asked.texts
}

/** A changed hunk with two lines of context, as a person would want to look at it. */
export function printed({ path, way, hunk, said }: Changed, base: Document): string {
  const { start, end } = hunk.range
  const context = (from: number, to: number): string[] =>
    linesOf(base)
      .slice(Math.max(0, from - 1), Math.max(0, to - 1))
      .map((line) => `   ${line}`)
  const gone = linesOf(base)
    .slice(start - 1, end - 1)
    .map((line) => ` - ${line}`)
  const rows = hunk.rows.map((row) => ` + ${row}`)
  return [
    `${path}:${start} (${way}) ${said}`,
    ...context(start - 2, start),
    ...gone,
    ...rows,
    ...context(end, end + 2),
  ].join('\n')
}

/** The commonest mistakes at the ends of a range: one unchanged row too many in the range, or one row of the neighbourhood restated in the body. */
export const slips = ['swallows above', 'swallows below', 'restates above', 'restates below'] as const
export type Slip = (typeof slips)[number]

/** What became of calls with one slip. `mended` is exactly what the author meant; `other` is neither that nor what was written. */
export type SlipTally = Record<
  Slip,
  Record<'mended' | 'parses as written' | 'left broken' | 'refused' | 'other', number>
>

export const emptySlips = (): SlipTally => {
  const none = { mended: 0, 'parses as written': 0, 'left broken': 0, refused: 0, other: 0 }
  return Object.fromEntries(slips.map((slip) => [slip, { ...none }])) as SlipTally
}

/** Makes every slip in turn in each replacement of a change whose two versions parse, and counts how repair deals with it. `onOther` sees the worst. */
export function replaySlips(
  path: string,
  oldText: string,
  newText: string,
  tally: SlipTally,
  most: number,
  onOther: (slip: Slip, hunk: Hunk, base: Document) => void,
): void {
  const base = Document.fromText(oldText)
  const hunks = hunksBetween(base, Document.fromText(newText))
  if (hunks.length === 0 || hunks.length > most) return
  if (verdictOn(path, oldText).verdict !== 'clean' || verdictOn(path, newText).verdict !== 'clean') return
  const meant = applied(base, hunks.map(opOf)).rawText()
  for (const [i, hunk] of hunks.entries()) {
    if (!isReplacement(hunk)) continue
    for (const slip of slips) {
      const slipped = slippedHunk(base, hunks, i, slip)
      if (!slipped) continue
      const fate = fateOf(path, base, meant, hunks.with(i, slipped))
      tally[slip][fate]++
      if (fate === 'other') onOther(slip, slipped, base)
    }
  }
}

function slippedHunk(base: Document, hunks: readonly Hunk[], at: number, slip: Slip): Hunk | undefined {
  const hunk = hunks[at]
  if (!hunk) return undefined
  const isAbove = slip.endsWith('above')
  const line = isAbove ? hunk.range.start - 1 : hunk.range.end
  const beside = isAbove ? hunks[at - 1]?.range.end : hunks[at + 1]?.range.start
  const isTaken = beside !== undefined && (isAbove ? beside > line : beside <= line + 1)
  if (line < 1 || line > base.lineCount || isTaken || base.text(line).trim() === '') return undefined
  const { range, rows } = hunk
  if (slip === 'swallows above') return { range: new LineRange(range.start - 1, range.end), rows }
  if (slip === 'swallows below') return { range: new LineRange(range.start, range.end + 1), rows }
  const row = base.text(line)
  return { range, rows: isAbove ? [row, ...rows] : [...rows, row] }
}

function fateOf(path: string, base: Document, meant: string, hunks: readonly Hunk[]): keyof SlipTally[Slip] {
  const ops = hunks.map(opOf)
  const written = applied(base, ops).rawText()
  try {
    const result = applied(base, run(repair({ path, base, ops }, limits), answersOf({})).ops).rawText()
    if (result === meant) return 'mended'
    if (result !== written) return 'other'
    return verdictOn(path, written).verdict === 'broken' ? 'left broken' : 'parses as written'
  } catch (error) {
    if (error instanceof ToolError && error.is('EDIT_REPAIR_AMBIGUOUS')) return 'refused'
    throw error
  }
}
