/**
 * Drift recovery: proves that every line an edit names still stands unchanged in one place of the live text, then places the edit there (contract §10,
 * reading §3.3–3.5, §6.3). Declines with a reason whenever it cannot; never approximates, never edits the tagged text.
 *
 * The proof is about all longest maps of unchanged lines at once, because a diff of texts with repeated lines is one of several. Laws:
 * - what is proven, some longest map grants under the contract's rules;
 * - a run of anchors that holds no line that occurs once is proven only when no longest map takes any of its lines elsewhere or other lines to its place, or when it
 *   stands in one unchanged run with anchors of the call that do;
 * - an edit that no longest map grants is declined;
 * - over no drift the placed edit is the direct edit.
 *
 * A gap belongs to the line it names: `>N` stands directly behind the image of line N, `<N` directly before it, whatever was inserted on the other side. So text that
 * somebody put between N and N+1 neither moves nor stops `>N` as long as line N itself is proven: unique, with the line above it (or the one below)
 * still beside it. A repeated line N needs both neighbours, and then nothing was put there.
 *
 * Pure; called by prepare, first with the ops as authored, then with the ops as repaired.
 */
import type { DeclineReason } from '../errors/declines.js'
import { limits } from '../limits.js'
import type { Document } from '../text/document.js'
import { trimmedKey } from '../text/line-ids.js'
import type { Replacement } from '../text/line-edit.js'
import { LineEdit } from '../text/line-edit.js'
import type { LineMap, LineMapAnswer } from '../text/line-map.js'
import { lineMap } from '../text/line-map.js'
import { LineRange } from '../text/line-range.js'
import type { Seen } from '../text/line-set.js'
import { LineSet } from '../text/line-set.js'
import type { Candidates, Maps, Place } from './recover-places.js'
import { candidatesFor, dispute, mapsOf, Occurrences } from './recover-places.js'
import type { ResolvedOp } from './resolved.js'

export interface RecoverInput {
  readonly tagged: Document
  readonly live: Document
  /** On the tagged text, as authored. */
  readonly ops: readonly ResolvedOp[]
  /** What the tagged version was shown of. */
  readonly seen: Seen
  /** From the tagged to the live text, lines compared without trailing blanks. */
  readonly map: LineMapAnswer
}

export interface ProvenAnchors {
  readonly proven: true
  /** What is added to the number of every anchor. */
  readonly offset: number
  /** First and last line of every contiguous run of anchors, then and now. */
  readonly anchors: readonly { readonly from: number; readonly to: number }[]
  readonly tagged: Document
  readonly live: Document
  readonly seen: Seen
  readonly map: LineMap
}

export type AnchorProof = ProvenAnchors | { readonly proven: false; readonly reason: DeclineReason }

/**
 * Proves the anchors of all ops together. `line unseen` comes first: it does not depend on what changed (reading §3.3). O(map + ops), and one pass over
 * both texts when an anchor has lost a neighbour.
 */
export function proveAnchors({ tagged, live, ops, seen, map }: RecoverInput): AnchorProof {
  const anchors = LineSet.of(ops.flatMap((op) => op.anchors))
  if (seen !== 'unknown') {
    const [unseen] = anchors.minus(seen).ranges
    if (unseen) return declined({ kind: 'line unseen', line: unseen.start })
  }
  if ('gaveUp' in map) return declined({ kind: map.gaveUp === 'maxEdits' ? 'too different' : 'not mapped in time' })
  const maps = mapsOf(map)
  const occurrences = new Occurrences(tagged, live, anchors)
  const candidates: Candidates[] = []
  for (const run of anchors.ranges) {
    const found = candidatesFor(run, maps, occurrences)
    if ('kind' in found) return declined(found)
    candidates.push(found)
  }
  const pins = candidates.flatMap(({ places: [place], pinned }) => (pinned && place ? [place] : []))
  const places: Place[] = []
  for (const { places: found, pinned } of candidates) {
    const place = pinned ? found[0] : (found.find((each) => pins.some((pin) => isInOneRun(each, pin))) ?? found[0])
    if (place === undefined) continue
    const disputed =
      pinned || pins.some((pin) => isInOneRun(place, pin)) ? undefined : dispute(place, maps, occurrences)
    if (disputed) return declined(disputed)
    const before = places.at(-1)
    if (before && !standTogether(before, place, maps, tagged, live)) {
      return declined({ kind: 'different offsets', lines: [before.anchors.last, place.anchors.start] })
    }
    places.push(place)
  }
  const offset = places[0]?.offset ?? 0
  const ends = anchors.ranges.flatMap((run) => (run.length === 1 ? [run.start] : [run.start, run.last]))
  return { proven: true, offset, anchors: ends.map((from) => ({ from, to: from + offset })), tagged, live, seen, map }
}

/**
 * The ops, as repair left them, over the live text, and what the session will have seen of the result (reading §2.8). Declines with `echo moved` when a line that
 * repair took as restated is no longer beside its range.
 */
export function place(
  { tagged, live, offset, seen, map }: ProvenAnchors,
  ops: readonly ResolvedOp[],
): { readonly edit: LineEdit; readonly seen: LineSet } | { readonly reason: DeclineReason } {
  for (const op of ops) {
    for (const echo of op.echoes) {
      const moved = firstDifference(tagged, live, echo, offset)
      if (moved !== undefined) return { reason: { kind: 'echo moved', line: beside(op.range, moved) } }
    }
  }
  const edit = new LineEdit(live.lineCount, placed(ops, offset, live))
  const shown = seen === 'unknown' ? LineSet.all(tagged.lineCount) : seen
  return { edit, seen: edit.carry(carriedOver(shown, map)).union(edit.written) }
}

function declined(reason: DeclineReason): AnchorProof {
  return { proven: false, reason }
}

/** Both stand in one unchanged run, so that a line that occurs once in the one speaks for the other. */
function isInOneRun(one: Place, other: Place): boolean {
  const { from, length } = one.within
  return one.offset === other.offset && from <= other.anchors.start && other.anchors.end <= from + length
}

/** Old lines of which the map still knows the place, at their live numbers. */
function carriedOver(lines: LineSet, map: LineMap): LineSet {
  const moved: LineRange[] = []
  for (const run of map.runs) {
    const kept = lines.within(new LineRange(run.from, run.from + run.length))
    for (const range of kept.ranges) moved.push(range.shift(run.to - run.from))
  }
  return LineSet.of(moved)
}

/** Whether one longest map holds both places, at one offset: each may be granted by another one. */
function standTogether(upper: Place, lower: Place, { map }: Maps, tagged: Document, live: Document): boolean {
  if (upper.offset !== lower.offset) return false
  if (upper.within === lower.within) return true
  const chosen = (place: Place): boolean =>
    map.runs.some(
      (run) =>
        run.to - run.from === place.offset &&
        run.from <= place.window.start &&
        place.window.end <= run.from + run.length,
    )
  if (chosen(upper) && chosen(lower)) return true
  const between = lower.window.start - upper.window.end
  if (between < 0 || between > limits.recoverBetweenLines) return between < 0
  const wanted =
    lower.within.rank +
    lower.window.start -
    lower.within.from -
    (upper.within.rank + upper.window.end - upper.within.from)
  const from = trimmed(tagged, upper.window.end, between)
  const to = trimmed(live, upper.window.end + upper.offset, between)
  const answer = lineMap(from, to, { maxEdits: limits.recoverBetweenEdits, timeMs: Infinity })
  return 'runs' in answer && answer.runs.reduce((sum, run) => sum + run.length, 0) === wanted
}

function trimmed(text: Document, from: number, length: number): string[] {
  return Array.from({ length }, (_, i) => trimmedKey(text, from + i))
}

/**
 * Replacements over the live text. Ops without anchors stand at the live head or tail. Where lines between two inserts are gone, their gaps have become one:
 * the rows stand in the order in which the gaps stood.
 */
function placed(ops: readonly ResolvedOp[], offset: number, live: Document): Replacement[] {
  const head: Replacement[] = []
  const body: Replacement[] = []
  const tail: Replacement[] = []
  for (const op of ops) {
    for (const { range, rows } of op.replacements) {
      if (op.anchors.length > 0) body.push({ range: range.shift(offset), rows })
      else if (op.op.at.kind === 'end') tail.push({ range: LineRange.gapBefore(live.lineCount + 1), rows })
      else head.push({ range: LineRange.gapBefore(1), rows })
    }
  }
  body.sort((a, b) => a.range.start - b.range.start || a.range.end - b.range.end)
  const joined: Replacement[] = []
  for (const next of [...head, ...body, ...tail]) {
    const last = joined.at(-1)
    if (last?.range.isGap && next.range.isGap && last.range.start === next.range.start) {
      joined[joined.length - 1] = { range: last.range, rows: [...last.rows, ...next.rows] }
    } else joined.push(next)
  }
  return joined
}

function firstDifference(tagged: Document, live: Document, lines: LineRange, offset: number): number | undefined {
  for (let line = lines.start; line < lines.end; line++) {
    const now = line + offset
    if (now < 1 || now > live.lineCount || trimmedKey(tagged, line) !== trimmedKey(live, now)) return line
  }
  return undefined
}

/** The end of the range that is nearer to `line`. */
function beside(range: LineRange, line: number): number {
  return line < range.start ? range.start : Math.max(range.start, range.last)
}
