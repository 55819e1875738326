/**
 * The clipboard pre-pass: captures and pastes in authored order (contract §7.5, §8.3; reading §5).
 *
 * Sequencing is validated before anything of a paste's size is built and has its own errors. A capture reads the text it is given, so that a recovered edit
 * can fill the same pastes from the live lines. Never changes a session's register: what a call would publish is part of its result.
 */
import { captureTooLarge } from '../errors/invalid.js'
import { ToolError } from '../errors/tool-error.js'
import type { LineRange } from '../text/line-range.js'
import type { Plan } from './facts.js'
import { ask } from './facts.js'
import type { ResolvedOp } from './resolved.js'
import { resolvedOp } from './resolved.js'
import type { Placed } from './resolve.js'

export interface RegisterBounds {
  readonly registerLines: number
  readonly registerBytes: number
  /** Rows inserted plus lines deleted that one call may reach. */
  readonly expandedLines: number
}

/** Where a paste gets its rows. */
type Source =
  | { readonly kind: 'session'; readonly lines: readonly string[] }
  | { readonly kind: 'capture'; readonly range: LineRange }

/** Every paste with its source, every named capture: what sequencing has decided. */
export interface Sequence {
  readonly sources: ReadonlyMap<Placed, Source>
  /** The last capture of each name, in order of capture. */
  readonly captures: ReadonlyMap<string, LineRange>
}

export interface Filled {
  readonly ops: readonly ResolvedOp[]
  readonly registers: readonly { readonly name: string; readonly lines: readonly string[] }[]
}

/**
 * Decides what every paste means and checks the sizes of captures and of the whole expansion. Throws EDIT_REGISTER_EMPTY, EDIT_REGISTER_AMBIGUOUS,
 * INVALID_ARGUMENT (a capture past its bound, on the CUT) and EDIT_AMPLIFICATION_LIMIT.
 */
export function* sequence(
  placed: readonly Placed[],
  linesOf: (range: LineRange) => readonly string[],
  bounds: RegisterBounds,
): Plan<Sequence> {
  const sources = new Map<Placed, Source>()
  const captures = new Map<string, LineRange>()
  const captured = new Set<LineRange>()
  let pending: Placed[] = []
  let last: Placed | undefined
  for (const item of placed) {
    const { op } = item
    if (op.kind === 'cut' && op.register !== undefined) {
      captures.delete(op.register)
      captures.set(op.register, item.range)
      assertCapture(item, linesOf, bounds, captured)
    } else if (op.kind === 'cut') {
      pending.push(item)
      last = item
    } else if (op.kind === 'paste' && op.register === undefined) {
      if (!last)
        throw new ToolError('EDIT_REGISTER_EMPTY', { opsLine: op.opsLine, register: '', known: yield* known(captures) })
      if (pending.length > 1) {
        throw new ToolError('EDIT_REGISTER_AMBIGUOUS', {
          opsLine: op.opsLine,
          captures: pending.length,
          headers: [last.op.header, op.header],
          known: yield* known(captures),
        })
      }
      pending = []
      assertCapture(last, linesOf, bounds, captured)
      sources.set(item, { kind: 'capture', range: last.range })
    } else if (op.kind === 'paste' && op.register !== undefined) {
      sources.set(item, yield* namedSource(op.register, op.opsLine, captures))
    }
  }
  assertExpansion(placed, sources, bounds.expandedLines)
  return { sources, captures }
}

/** The ops with their rows. `linesOf` reads captured lines: of the tagged text when an edit is judged, of the live text when it is replayed. */
export function fill(
  placed: readonly Placed[],
  decided: Sequence,
  linesOf: (range: LineRange) => readonly string[],
): Filled {
  const ops = placed.map((item) => {
    const { op, range, anchors } = item
    if (op.kind === 'put') return resolvedOp(op, range, op.rows, 'body', anchors)
    if (op.kind === 'cut') return resolvedOp(op, range, [], 'none', anchors)
    const source = decided.sources.get(item)
    const rows = source === undefined ? [] : source.kind === 'session' ? source.lines : linesOf(source.range)
    return resolvedOp(op, range, rows, 'register', anchors)
  })
  const registers = [...decided.captures].map(([name, range]) => ({ name, lines: linesOf(range) }))
  return { ops, registers }
}

function* namedSource(name: string, opsLine: number, captures: ReadonlyMap<string, LineRange>): Plan<Source> {
  const range = captures.get(name)
  if (range) return { kind: 'capture', range }
  const lines = yield* ask('register', { name })
  if (!lines) throw new ToolError('EDIT_REGISTER_EMPTY', { opsLine, register: name, known: yield* known(captures) })
  return { kind: 'session', lines }
}

function* known(captures: ReadonlyMap<string, LineRange>): Plan<readonly string[]> {
  const names = yield* ask('registers', {})
  return [...new Set([...captures.keys(), ...names])].sort()
}

/** A capture that will be kept or pasted stays within the bounds of a register; a plain deletion captures nothing (reading §5.5). */
function assertCapture(
  item: Placed,
  linesOf: (range: LineRange) => readonly string[],
  bounds: RegisterBounds,
  checked: Set<LineRange>,
): void {
  if (checked.has(item.range)) return
  checked.add(item.range)
  const tooMany = item.range.length > bounds.registerLines
  const bytes = tooMany ? 0 : linesOf(item.range).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
  if (!tooMany && bytes <= bounds.registerBytes) return
  throw captureTooLarge(
    { row: item.op.opsLine, header: item.op.header, size: tooMany ? `${item.range.length} lines` : `${bytes} bytes` },
    { lines: bounds.registerLines, bytes: bounds.registerBytes },
  )
}

/** Counts what the contract's IR would hold, before anything of that size is built (reading §4.10). */
function assertExpansion(placed: readonly Placed[], sources: ReadonlyMap<Placed, Source>, limit: number): void {
  let lines = 0
  for (const item of placed) {
    const source = sources.get(item)
    lines += item.range.length
    if (item.op.kind === 'put') lines += item.op.rows.length
    if (source) lines += source.kind === 'session' ? source.lines.length : source.range.length
  }
  if (lines > limit) throw new ToolError('EDIT_AMPLIFICATION_LIMIT', { limit })
}
