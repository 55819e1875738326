/**
 * The version gate: which branch an edit takes (contract §9, reading §2.3–2.6, §3.1–3.2).
 *
 * A tag match alone authorizes nothing: branch A needs that the live versionDigest is one this session recorded for this path under that tag. Throws
 * EDIT_TAG_UNKNOWN and those EDIT_TAG_MISMATCH that no proof could lift.
 */
import type { DeclineReason } from '../../errors/declines.js'
import { ToolError } from '../../errors/tool-error.js'
import type { Op } from '../../patch/ops.js'
import { LineRange } from '../../text/line-range.js'
import type { Seen } from '../../text/line-set.js'
import { LineSet } from '../../text/line-set.js'
import type { EditInput, KnownVersion } from '../input.js'
import type { RevealBounds } from '../reveal.js'
import { reveal } from '../reveal.js'

export type Chosen =
  | { readonly branch: 'direct'; readonly seen: Seen }
  | { readonly branch: 'positionStable'; readonly seen: Seen; readonly known: boolean }
  | { readonly branch: 'recovered'; readonly tagged: KnownVersion; readonly seen: Seen; readonly isHead: boolean }

export function chooseBranch(input: EditInput, bounds: RevealBounds): Chosen {
  const { versions, tag, live, ops } = input
  const tagged = versions.filter((v) => v.tag === tag)
  if (tagged.some((v) => v.versionDigest === live.versionDigest))
    return { branch: 'direct', seen: seenOf(versions, live.versionDigest) }
  if (ops.every(isHeadOrTail)) {
    return { branch: 'positionStable', seen: seenOf(versions, live.versionDigest), known: tagged.length > 0 }
  }
  const newest = tagged[0]
  if (!newest) {
    throw new ToolError('EDIT_TAG_UNKNOWN', {
      ...reveal(live, namedLines(ops), bounds),
      expectedTag: tag,
      anchors: someLines(namedLines(ops), bounds.rows),
      reason: { kind: 'unknown tag' },
    })
  }
  if (ops.some((op) => op.kind === 'remove'))
    throw mismatch(input, { kind: 'remove needs the live version' }, namedLines(ops), bounds)
  if (!ops.some(isAnchored)) throw mismatch(input, { kind: 'move needs an anchor' }, namedLines(ops), bounds)
  if (tagged.some((v) => v.versionDigest !== newest.versionDigest))
    throw mismatch(input, { kind: 'ambiguous tag' }, namedLines(ops), bounds)
  return {
    branch: 'recovered',
    tagged: tagged.find((v) => v.retained) ?? newest,
    seen: seenOf(versions, newest.versionDigest),
    isHead: versions[0]?.versionDigest === newest.versionDigest,
  }
}

/** EDIT_TAG_MISMATCH with its reveal: `anchors` in numbers of the live text as far as they could be mapped. */
export function mismatch(
  input: EditInput,
  reason: DeclineReason,
  anchors: LineSet,
  bounds: RevealBounds,
): ToolError<'EDIT_TAG_MISMATCH'> {
  return new ToolError('EDIT_TAG_MISMATCH', {
    ...reveal(input.live, anchors, bounds),
    expectedTag: input.tag,
    anchors: input.ops.some(isAnchored) ? someLines(namedLines(input.ops), bounds.rows) : [],
    reason,
  })
}

/** The lines that the ops name, as written; a block names its opener. Line 1 when they name none, so that a refusal always shows something. */
export function namedLines(ops: readonly Op[]): LineSet {
  const ranges: LineRange[] = []
  for (const op of ops) {
    if (op.kind === 'remove' || op.kind === 'move') continue
    if (op.at.kind === 'range') ranges.push(LineRange.inclusive(op.at.first, op.at.last))
    else if (op.at.kind !== 'end') ranges.push(LineRange.inclusive(op.at.line, op.at.line))
  }
  return ranges.length === 0 ? LineSet.ofLines([1]) : LineSet.of(ranges)
}

/** Union over every retained version of that text; None absorbs sets (reading §2.4, §2.7). */
export function seenOf(versions: readonly KnownVersion[], versionDigest: string): Seen {
  let union = LineSet.empty
  for (const version of versions) {
    if (version.versionDigest !== versionDigest) continue
    if (version.seen === 'unknown') return 'unknown'
    union = union.union(version.seen)
  }
  return union
}

/** A body insert or register paste at the file's head or tail, which no drift can move (reading §3.1). */
function isHeadOrTail(op: Op): boolean {
  if (op.kind !== 'put' && op.kind !== 'paste') return false
  return op.at.kind === 'end' || (op.at.kind === 'before' && op.at.line === 1)
}

function isAnchored(op: Op): boolean {
  return op.kind !== 'remove' && op.kind !== 'move' && !isHeadOrTail(op)
}

function someLines(lines: LineSet, count: number): number[] {
  const some: number[] = []
  for (const line of lines.lines()) {
    if (some.length >= Math.max(count, 1)) break
    some.push(line)
  }
  return some
}
