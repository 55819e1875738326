/**
 * Ops whose spans are known and whose registers are filled: what is left is lines that go and rows that come, on the tagged text.
 *
 * No block locator and no register survives in here. Made by resolve.ts, refined by repair.ts, proven by gates or recover.ts, lowered to a LineEdit.
 */
import type { Cut, Paste, Put } from '../patch/ops.js'
import type { Replacement } from '../text/line-edit.js'
import type { LineRange } from '../text/line-range.js'

export interface ResolvedOp {
  readonly op: Put | Paste | Cut
  /** The lines that the author named to go away, or the gap that was named. On the tagged text. */
  readonly range: LineRange
  /**
   * Where body rows come from: only `body` may be repaired (reading §6.5).
   */
  readonly source: 'body' | 'register' | 'none'
  /** What happens, on the tagged text: sorted, disjoint. One replacement as authored; repair may shrink or split it. */
  readonly replacements: readonly Replacement[]
  /** Lines that must have been shown and, under drift, must map (reading §3.4). Empty for the head and the tail of the file. */
  readonly anchors: readonly LineRange[]
  /** Lines beside the range that repair took as restated; under drift they must map and still be adjacent (reading §6.3). */
  readonly echoes: readonly LineRange[]
}

/** The plain form of an op over a range: one replacement, no echoes. */
export function resolvedOp(
  op: Put | Paste | Cut,
  range: LineRange,
  rows: readonly string[],
  source: ResolvedOp['source'],
  anchors: readonly LineRange[],
): ResolvedOp {
  return { op, range, source, replacements: [{ range, rows }], anchors, echoes: [] }
}
