/**
 * One reading of a call: which restated rows every op drops and which row of its range it keeps (contract §8.4).
 *
 * A reading is data that can be looked at: its ops, its text, its cost and its changes, which name exactly how it differs from what was written. It
 * decides nothing. An op that a reading leaves alone is the same object as before. Made and compared by repair.
 */
import type { Document } from '../text/document.js'
import { LineEdit } from '../text/line-edit.js'
import type { Replacement } from '../text/line-edit.js'
import { LineRange } from '../text/line-range.js'
import type { Echo } from './repair-echo.js'
import { isBlank, replacedBody } from './repair-echo.js'
import type { ResolvedOp } from './resolved.js'

/** A row of the range that stays: its line of the tagged text, and on which side of the body it stands. */
export interface Kept {
  readonly line: number
  readonly place: 'above' | 'below'
}

/** One op as a reading takes it. `dropped` counts rows at the head and the tail of the body. */
export interface Take {
  readonly op: ResolvedOp
  readonly dropped: Echo
  readonly kept?: Kept
}

/** A restated run that a reading may drop. */
export interface EchoUnit {
  /** Index of the op in the call. */
  readonly index: number
  readonly side: 'head' | 'tail'
  readonly rows: number
}

/** Exactly how a reading differs from what was written: rows dropped from a body, with the lines that they restate, or a line of the range that stays. */
export type Change = { readonly op: ResolvedOp; readonly lines: LineRange; readonly rows: readonly string[] } & (
  { readonly kind: 'dropped' } | { readonly kind: 'kept'; readonly place: Kept['place'] }
)

export class Reading {
  static authored(base: Document, ops: readonly ResolvedOp[]): Reading {
    return new Reading(
      base,
      ops.map((op) => ({ op, dropped: { head: 0, tail: 0 } })),
    )
  }

  private made: { readonly ops: readonly ResolvedOp[]; text?: Document } | undefined

  private constructor(
    readonly base: Document,
    readonly takes: readonly Take[],
  ) {}

  dropping(units: readonly EchoUnit[]): Reading {
    if (units.length === 0) return this
    const takes = [...this.takes]
    for (const { index, side, rows } of units) {
      const take = takes[index]
      if (take) takes[index] = { ...take, dropped: { ...take.dropped, [side]: rows } }
    }
    return new Reading(this.base, takes)
  }

  keeping(kept: readonly { readonly index: number; readonly kept: Kept }[]): Reading {
    const byIndex = new Map(kept.map((option) => [option.index, option.kept]))
    const takes = this.takes.map((take, i) => {
      const row = byIndex.get(i)
      return row === undefined ? take : { ...take, kept: row }
    })
    return new Reading(this.base, takes)
  }

  /** In the order of the call. */
  get ops(): readonly ResolvedOp[] {
    return this.content.ops
  }

  /** Built on first use: only readings that a parser must judge become a text. */
  get text(): Document {
    const content = this.content
    return (content.text ??= new LineEdit(
      this.base.lineCount,
      content.ops.flatMap((op) => op.replacements),
    ).apply(this.base))
  }

  /** Names the reading among those of one call. */
  get key(): string {
    return this.takes
      .map(({ dropped, kept }) => `${dropped.head},${dropped.tail}${kept ? `${kept.place}${kept.line}` : ''}`)
      .join(';')
  }

  /** Ops that the reading changes, rows of ranges that it keeps, rows of bodies that it drops: compared in this order, fewest first. */
  get cost(): readonly [touched: number, kept: number, dropped: number] {
    let touched = 0
    let kept = 0
    let dropped = 0
    for (const take of this.takes) {
      if (isChanged(take)) touched++
      if (take.kept) kept++
      dropped += take.dropped.head + take.dropped.tail
    }
    return [touched, kept, dropped]
  }

  /** What the reading changes, from the top of the text to its end, whatever the order of the ops. */
  get changes(): readonly Change[] {
    return this.takes
      .flatMap((take) => changesOf(this.base, take))
      .sort((a, b) => a.op.range.start - b.op.range.start || a.lines.start - b.lines.start)
  }

  isText(other: Reading): boolean {
    return this.text.bytes.equals(other.text.bytes)
  }

  private get content(): { readonly ops: readonly ResolvedOp[]; text?: Document } {
    return (this.made ??= { ops: this.takes.map(resolved) })
  }
}

export function isChanged({ dropped, kept }: Take): boolean {
  return dropped.head > 0 || dropped.tail > 0 || kept !== undefined
}

/** Rows of the body that a take still writes. */
export function rowsLeft({ op, dropped }: Take): readonly string[] {
  const rows = replacedBody(op) ?? []
  return rows.slice(dropped.head, rows.length - dropped.tail)
}

export function compareCost(a: Reading, b: Reading): number {
  const left = a.cost
  const right = b.cost
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2]
}

/** The op as a take leaves it. */
export function resolved(take: Take): ResolvedOp {
  if (!isChanged(take)) return take.op
  const { range } = take.op
  const replacements = take.kept ? aroundKept(range, take.kept, rowsLeft(take)) : [{ range, rows: rowsLeft(take) }]
  const echoes = [above(take), below(take)].filter((lines) => !lines.isGap)
  return { ...take.op, replacements, echoes }
}

/**
 * The replacement without the kept line. A row that stays below the body stands above the blank rows that end both the range and the body: they
 * correspond to each other, and the author moved none of them.
 */
function aroundKept(range: LineRange, kept: Kept, rows: readonly string[]): readonly Replacement[] {
  const before = new LineRange(range.start, kept.line)
  const after = new LineRange(kept.line + 1, range.end)
  if (kept.place === 'above') return [{ range: after, rows }]
  const body = after.isGap ? rows.length : rows.findLastIndex((row) => !isBlank(row)) + 1
  return [
    { range: before, rows: rows.slice(0, body) },
    { range: after, rows: rows.slice(body) },
  ].filter((part) => !part.range.isGap || part.rows.length > 0)
}

function above({ op: { range }, dropped }: Take): LineRange {
  return new LineRange(range.start - dropped.head, range.start)
}

function below({ op: { range }, dropped }: Take): LineRange {
  return new LineRange(range.end, range.end + dropped.tail)
}

function changesOf(base: Document, take: Take): Change[] {
  const { op } = take
  const rowsOf = (lines: LineRange): readonly string[] =>
    Array.from({ length: lines.length }, (_, i) => base.text(lines.start + i))
  const changes: Change[] = [above(take), below(take)]
    .filter((lines) => !lines.isGap)
    .map((lines) => ({ kind: 'dropped', op, lines, rows: rowsOf(lines) }))
  if (take.kept === undefined) return changes
  const lines = LineRange.inclusive(take.kept.line, take.kept.line)
  return [...changes, { kind: 'kept', op, lines, rows: rowsOf(lines), place: take.kept.place }]
}
