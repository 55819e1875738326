/**
 * Seen lines as stores keep them: unions within a bound on ranges (contract §4.2, reading §2.7). Called by the memory store; the Redis store has the same rules
 * in scripts/lib/seen.lua.
 */
import type { Seen } from '../text/line-set.js'
import { LineSet } from '../text/line-set.js'

/**
 * None absorbs sets. A union of more than `maxRanges` ranges keeps what was shown last and, of what was shown before, the ranges nearest the start: forgotten
 * lines cost a refusal, never a blind edit.
 */
export function uniteSeen(before: Seen, shown: Seen, maxRanges: number): Seen {
  if (before === 'unknown' || shown === 'unknown') return 'unknown'
  const union = before.union(shown)
  if (union.ranges.length <= maxRanges) return union
  const last = shown.ranges.slice(0, maxRanges)
  return LineSet.of([...last, ...before.ranges.slice(0, maxRanges - last.length)])
}
