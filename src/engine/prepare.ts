/**
 * The pipeline of one edit, in the order of refusals (contract §9, reading §3.0): version and branch → bounds → blocks → overlap → registers → limits →
 * provenance or proof → repair → no change.
 *
 * Pure: asks for facts it lacks and ends in a Prepared or a ToolError. Writes nothing and waits for nothing; what it prepares is complete, so that commit can
 * refuse for no reason that was knowable here. Driven by tools.
 */
import type { DeclineReason } from '../errors/declines.js'
import { ToolError } from '../errors/tool-error.js'
import type { Warning } from '../errors/warnings.js'
import { warn } from '../errors/warnings.js'
import type { Move, Op } from '../patch/ops.js'
import type { Document } from '../text/document.js'
import type { ParseVerdict } from '../text/facts.js'
import { LineEdit } from '../text/line-edit.js'
import type { LineMapAnswer } from '../text/line-map.js'
import { LineRange } from '../text/line-range.js'
import type { Seen } from '../text/line-set.js'
import { LineSet } from '../text/line-set.js'
import type { Plan } from './facts.js'
import { ask } from './facts.js'
import { assertDisjoint } from './gates/overlap.js'
import { assertSeen } from './gates/provenance.js'
import type { Chosen } from './gates/version.js'
import { chooseBranch, mismatch, namedLines } from './gates/version.js'
import type { EditInput, EngineBounds, Prepared } from './input.js'
import type { AnchorProof } from './recover.js'
import { place, proveAnchors } from './recover.js'
import type { Filled, Sequence } from './registers.js'
import { fill, sequence } from './registers.js'
import type { Repaired } from './repair.js'
import { repair } from './repair.js'
import type { ResolvedOp } from './resolved.js'
import type { LineOp, Placed, Spans } from './resolve.js'
import { resolveSpans } from './resolve.js'

/** Throws any EDIT_ code but EDIT_TAG_REQUIRED and EDIT_PARSE_FAILED, and INVALID_ARGUMENT for a capture past its bound. */
export function* prepare(input: EditInput, bounds: EngineBounds): Plan<Prepared> {
  const chosen = chooseBranch(input, bounds.reveal)
  const text = chosen.branch === 'recovered' ? yield* taggedText(input, chosen, bounds) : input.live
  const spans = yield* resolveSpans(input.ops.filter(isLineOp), text, input.path)
  const judged = yield* judge(spans.placed, text, bounds)
  if (chosen.branch === 'recovered') return yield* recovered(input, chosen, { text, spans, judged }, bounds)

  if (chosen.branch === 'direct') assertSeen(judged.filled.ops, chosen.seen, input.live, bounds.reveal)
  const fixed = yield* repair({ path: input.path, base: text, ops: judged.filled.ops }, bounds)
  const edit = new LineEdit(text.lineCount, replacementsOf(fixed.ops))
  const result = edit.apply(input.live)
  assertChanged(input, edit, result)
  const drift = chosen.branch === 'positionStable' ? [warn.driftHeadTail(input.tag, input.live.tag, chosen.known)] : []
  return {
    branch: chosen.branch,
    edit,
    base: input.live,
    result,
    resolutions: spans.resolutions,
    warnings: [...drift, ...fixed.warnings, ...(yield* parseWarnings(input.path, input.live, result, fixed.verdicts))],
    seen: chosen.branch === 'direct' ? LineSet.all(result.lineCount) : carried(edit, chosen.seen),
    registers: judged.filled.registers,
    ...endOf(input.ops),
  }
}

interface Judged {
  readonly sequence: Sequence
  readonly filled: Filled
}

/** Overlap, registers and limits, all on one text. */
function* judge(placed: readonly Placed[], text: Document, bounds: EngineBounds): Plan<Judged> {
  assertDisjoint(placed)
  const lines = linesOf(text)
  const decided = yield* sequence(placed, lines, bounds)
  return { sequence: decided, filled: fill(placed, decided, lines) }
}

interface OnTagged {
  readonly text: Document
  readonly spans: Spans
  readonly judged: Judged
}

/** Branch C: prove every anchor, repair on the tagged text, replay on the live one (contract §10). */
function* recovered(
  input: EditInput,
  chosen: Extract<Chosen, { branch: 'recovered' }>,
  { text, spans, judged }: OnTagged,
  bounds: EngineBounds,
): Plan<Prepared> {
  const map = yield* ask('lineMap', { from: text, to: input.live })
  const declined = (reason: DeclineReason): ToolError =>
    mismatch(input, reason, mapped(LineSet.of(judged.filled.ops.flatMap((op) => op.anchors)), map), bounds.reveal)
  const proof = proveAnchors({ tagged: text, live: input.live, ops: judged.filled.ops, seen: chosen.seen, map })
  if (!proof.proven) throw declined(proof.reason)
  const changed = yield* changedBlock(input, spans, proof.offset)
  if (changed) throw declined(changed)

  // Captured and pasted lines come from the live text; they differ from the tagged ones at most in trailing blanks.
  const live = linesOf(input.live)
  const filled = fill(spans.placed, judged.sequence, (range) => live(range.shift(proof.offset)))
  const fixed = yield* repair({ path: input.path, base: text, ops: filled.ops }, bounds)
  const placedEdit = place(proof, fixed.ops)
  if ('reason' in placedEdit) throw declined(placedEdit.reason)
  const { edit, seen } = placedEdit
  const result = edit.apply(input.live)
  if (result.bytes.equals(input.live.bytes)) throw declined({ kind: 'replay changes nothing' })
  return {
    branch: 'recovered',
    edit,
    base: input.live,
    result,
    resolutions: [],
    warnings: [
      ...recoveryWarnings(input, chosen, proof),
      ...fixed.warnings,
      ...(yield* parseWarnings(input.path, input.live, result, undefined)),
    ],
    seen,
    registers: filled.registers,
    ...endOf(input.ops),
  }
}

/** A block that grew at its end holds lines that its author never saw, which no line of the old block tells: it must be the same block in the live text. */
function* changedBlock(
  { path, live }: EditInput,
  { resolutions }: Spans,
  offset: number,
): Plan<DeclineReason | undefined> {
  if (resolutions.length === 0) return undefined
  const lines = resolutions.map(({ anchorLine }) => anchorLine + offset)
  const blocks = yield* ask('blocks', { path, text: live, lines })
  const changed = resolutions.find(({ start, end }, i) => {
    const block = blocks[i]
    return !block?.found || block.span.start !== start + offset || block.span.end !== end + offset
  })
  return changed && { kind: 'block changed', line: changed.anchorLine, last: changed.end }
}

function* taggedText(
  input: EditInput,
  chosen: Extract<Chosen, { branch: 'recovered' }>,
  bounds: EngineBounds,
): Plan<Document> {
  const text = chosen.tagged.retained ? yield* ask('text', { textDigest: chosen.tagged.textDigest }) : undefined
  if (text) return text
  const block = input.ops.find((op) => 'at' in op && (op.at.kind === 'block' || op.at.kind === 'afterBlock'))
  const line = block && 'at' in block && 'line' in block.at ? block.at.line : undefined
  const reason: DeclineReason = line === undefined ? { kind: 'text not retained' } : { kind: 'block unplaceable', line }
  throw mismatch(input, reason, namedLines(input.ops), bounds.reveal)
}

function recoveryWarnings(
  input: EditInput,
  chosen: Extract<Chosen, { branch: 'recovered' }>,
  proof: Extract<AnchorProof, { proven: true }>,
): Warning[] {
  const cause = chosen.isHead ? warn.recoveredExternal(input.tag) : warn.recoveredSessionChain(input.tag)
  return proof.offset === 0 ? [cause] : [cause, warn.recoveredLineRemap(proof.offset, proof.anchors)]
}

/** RESULT_NO_LONGER_PARSES; the verdicts that repair already has are not asked for again. */
function* parseWarnings(path: string, before: Document, after: Document, known: Repaired['verdicts']): Plan<Warning[]> {
  if (!(yield* ask('language', { path, text: before }))) return []
  const verdict = known?.after ?? (yield* ask('follows', { path, text: after }))
  if (verdict.verdict !== 'broken') return []
  const baseline = known?.before ?? (yield* verdictOf(path, before))
  return baseline?.verdict === 'clean' ? [warn.noLongerParses(verdict.errorLine)] : []
}

function* verdictOf(path: string, text: Document): Plan<ParseVerdict | undefined> {
  const [verdict] = yield* ask('verdicts', { path, texts: [text], optional: true })
  return verdict
}

function assertChanged(input: EditInput, edit: LineEdit, result: Document): void {
  if (edit.replacements.length === 0) return
  if (result.bytes.equals(input.live.bytes))
    throw new ToolError('EDIT_NO_CHANGE', {
      path: input.path,
      tag: input.live.tag,
      moves: input.ops.some((op) => op.kind === 'move'),
    })
}

/** On branch B the session authored its rows, not the foreign lines around them (reading §2.8). */
function carried(edit: LineEdit, seen: Seen): Seen {
  return seen === 'unknown' ? edit.written : edit.carry(seen).union(edit.written)
}

/** Anchors at their live numbers where the map knows them, else the same number (reading §3.6). */
function mapped(anchors: LineSet, map: LineMapAnswer): LineSet {
  if (!('runs' in map)) return anchors
  const moved: LineRange[] = []
  let rest = anchors
  for (const run of map.runs) {
    const old = new LineRange(run.from, run.from + run.length)
    const inside = rest.within(old)
    moved.push(...inside.ranges.map((range) => range.shift(run.to - run.from)))
    rest = rest.minus(inside)
  }
  return LineSet.of([...moved, ...rest.ranges])
}

function linesOf(text: Document): (range: LineRange) => readonly string[] {
  return (range) => Array.from({ length: range.length }, (_, i) => text.text(range.start + i))
}

function replacementsOf(ops: readonly ResolvedOp[]) {
  return ops.flatMap((op) => op.replacements)
}

function endOf(ops: readonly Op[]): { remove: boolean; dest?: string } {
  const move = ops.find((op): op is Move => op.kind === 'move')
  return { remove: ops.some((op) => op.kind === 'remove'), ...(move === undefined ? {} : { dest: move.dest }) }
}

function isLineOp(op: Op): op is LineOp {
  return op.kind !== 'remove' && op.kind !== 'move'
}
