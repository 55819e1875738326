/**
 * The provenance gate of branch A: every anchor line must be one that this session has seen (contract §9.1).
 *
 * None skips the gate, an empty set refuses every anchor; the two are never confused. The refusal reveals the unseen lines.
 */
import { ToolError } from '../../errors/tool-error.js'
import type { Document } from '../../text/document.js'
import type { Seen } from '../../text/line-set.js'
import { LineSet } from '../../text/line-set.js'
import type { ResolvedOp } from '../resolved.js'
import type { RevealBounds } from '../reveal.js'
import { reveal } from '../reveal.js'

/** Throws EDIT_LINES_UNSEEN. */
export function assertSeen(ops: readonly ResolvedOp[], seen: Seen, live: Document, bounds: RevealBounds): void {
  if (seen === 'unknown') return
  const unseen = LineSet.of(ops.flatMap((op) => op.anchors)).minus(seen)
  if (unseen.isEmpty) return
  throw new ToolError('EDIT_LINES_UNSEEN', { ...reveal(live, unseen, bounds), unseen: unseen.spans() })
}
