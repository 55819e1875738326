/**
 * The determinism gate: two ops may not touch the same lines, the same gap or the same anchor (contract §7.3.4, reading §4.7).
 *
 * A conflict is refused and names both ops; it is never resolved by order. Works on resolved spans, so blocks count with their whole extent.
 */
import { ToolError } from '../../errors/tool-error.js'
import type { Placed } from '../resolve.js'

/** Throws EDIT_RANGE_INVALID for the first pair that conflicts. Quadratic in ops, which are at most 200. */
export function assertDisjoint(ops: readonly Placed[]): void {
  for (const [i, a] of ops.entries()) {
    for (const b of ops.slice(i + 1)) {
      if (touch(a, b)) {
        throw new ToolError('EDIT_RANGE_INVALID', {
          problem: 'conflict',
          opsLine: b.op.opsLine,
          ops: [a.op.header, b.op.header],
        })
      }
    }
  }
}

type Place = Pick<Placed, 'range' | 'anchors'>

/** Whether two ops are refused beside each other. */
export function touch(a: Place, b: Place): boolean {
  return conflict(a, b) || conflict(b, a)
}

/** One direction of the rule: what `a` names against what `b` takes or where it inserts. */
function conflict(a: Place, b: Place): boolean {
  if (a.range.isGap && b.range.isGap) return a.range.start === b.range.start || shareAnchor(a, b)
  if (!a.range.isGap && !b.range.isGap) return a.range.intersects(b.range)
  // Of the two only `a` is the gap here; the other direction sees the mirrored pair. The file's ends have no anchors and stay beside any span.
  if (!a.range.isGap) return false
  return (
    a.anchors.some((anchor) => anchor.intersects(b.range)) ||
    (b.range.start < a.range.start && a.range.start < b.range.end)
  )
}

function shareAnchor(a: Place, b: Place): boolean {
  return a.anchors.some((x) => b.anchors.some((y) => x.intersects(y)))
}
