/**
 * From what was written to spans on the tagged text: bounds of every number, then the span of every block (contract §8.2, reading §3.4, §4.8).
 *
 * Refuses a number outside the text and a block that the parser does not vouch for; never clamps and never approximates. Called by prepare.
 */
import { ToolError } from '../errors/tool-error.js'
import type { Cut, Gap, Paste, Put, Span } from '../patch/ops.js'
import { headerText } from '../patch/print.js'
import type { BlockAnswer } from '../text/facts.js'
import type { Document } from '../text/document.js'
import { LineRange } from '../text/line-range.js'
import type { Plan } from './facts.js'
import { ask } from './facts.js'
import type { ResolvedSpan } from './input.js'

export type LineOp = Put | Paste | Cut

/** Where an op acts and which lines it names. */
export interface Placed {
  readonly op: LineOp
  readonly range: LineRange
  readonly anchors: readonly LineRange[]
}

export interface Spans {
  readonly placed: readonly Placed[]
  readonly resolutions: readonly ResolvedSpan[]
}

/** Throws EDIT_RANGE_INVALID, then EDIT_BLOCK_UNRESOLVED; the parser is asked once for all blocks of a call. */
export function* resolveSpans(ops: readonly LineOp[], text: Document, path: string): Plan<Spans> {
  for (const op of ops) assertBounds(op, text.lineCount)
  const blocks = ops.filter((op) => blockLine(op.at) !== undefined)
  const lines = blocks.map((op) => blockLine(op.at) ?? 0)
  const answers = blocks.length === 0 ? [] : yield* ask('blocks', { path, text, lines })
  const spans = new Map<LineOp, LineRange>()
  const resolutions: ResolvedSpan[] = []
  for (const [i, op] of blocks.entries()) {
    const span = spanOf(op, answers[i])
    spans.set(op, span)
    resolutions.push({ anchorLine: lines[i] ?? 0, start: span.start, end: span.last, op: echoed(op) })
  }
  return { placed: ops.map((op) => place(op, spans.get(op), text.lineCount)), resolutions }
}

function blockLine(at: Gap | Span): number | undefined {
  return at.kind === 'block' || at.kind === 'afterBlock' ? at.line : undefined
}

function echoed(op: LineOp): ResolvedSpan['op'] {
  if (op.kind === 'cut') return 'cut'
  return op.at.kind === 'afterBlock' ? 'insertAfter' : 'replace'
}

function spanOf(op: LineOp, answer: BlockAnswer | undefined): LineRange {
  if (answer?.found) return LineRange.inclusive(answer.span.start, answer.span.end)
  const line = blockLine(op.at) ?? 0
  const reason = answer?.reason ?? { kind: 'parser-lost' }
  const last = reason.kind === 'shares-line' ? reason.line : (answer?.singleLine?.end ?? line)
  throw new ToolError('EDIT_BLOCK_UNRESOLVED', {
    opsLine: op.opsLine,
    line,
    reason,
    suggestion: plainForm(op, line, last),
    ...(answer?.enclosing === undefined ? {} : { enclosing: answer.enclosing }),
    ...(answer?.next === undefined ? {} : { next: answer.next }),
  })
}

/** The header of the op without a block locator, for the lines it may have meant. */
function plainForm(op: LineOp, first: number, last: number): string {
  const range = { kind: 'range', first, last } as const
  if (op.kind === 'cut') return headerText({ ...op, at: range })
  return headerText({ ...op, at: op.at.kind === 'afterBlock' ? { kind: 'after', line: last } : range })
}

/** Where an op acts on a text of so many lines; `block` is the span of its block, when it names one. */
export function place(op: LineOp, block: LineRange | undefined, lineCount: number): Placed {
  const at = op.at
  switch (at.kind) {
    case 'range': {
      const range = LineRange.inclusive(at.first, at.last)
      return { op, range, anchors: [range] }
    }
    case 'block': {
      const range = block ?? LineRange.inclusive(at.line, at.line)
      return { op, range, anchors: [range] }
    }
    case 'afterBlock': {
      const range = block ?? LineRange.inclusive(at.line, at.line)
      return {
        op,
        range: LineRange.gapBefore(range.end),
        anchors: [LineRange.inclusive(range.start, range.start), LineRange.inclusive(range.last, range.last)],
      }
    }
    case 'before':
      return {
        op,
        range: LineRange.gapBefore(at.line),
        anchors: at.line === 1 ? [] : [LineRange.inclusive(at.line, at.line)],
      }
    case 'after':
      return { op, range: LineRange.gapBefore(at.line + 1), anchors: [LineRange.inclusive(at.line, at.line)] }
    case 'end':
      return { op, range: LineRange.gapBefore(lineCount + 1), anchors: [] }
  }
}

function assertBounds(op: LineOp, totalLines: number): void {
  const at = op.at
  if (at.kind === 'end' || (at.kind === 'before' && at.line === 1)) return
  const line = at.kind === 'range' ? (at.first > totalLines ? at.first : at.last) : at.line
  if (line <= totalLines) return
  const pastEndGap = at.kind === 'before' && line === totalLines + 1
  throw new ToolError('EDIT_RANGE_INVALID', {
    problem: totalLines === 0 ? 'empty file' : pastEndGap ? 'past the end gap' : 'out of bounds',
    opsLine: op.opsLine,
    line,
    totalLines,
    suggestion: insideForm(op, totalLines),
  })
}

/** What an op that names lines past the end may have meant. */
function insideForm(op: LineOp, totalLines: number): string {
  const { at } = op
  if (totalLines === 0 && op.kind === 'cut') return 'there is nothing to cut; to fill the file use PUT >$:'
  if (at.kind === 'range' && at.first <= totalLines)
    return `the last line is ${totalLines}, so at most ${plainForm(op, at.first, totalLines)}`
  if (op.kind === 'cut') return `use lines from 1 to ${totalLines}`
  return `to ${totalLines === 0 ? 'fill it' : 'append'} use ${headerText({ ...op, at: { kind: 'end' } })}`
}
