/**
 * The part in which one text differs from another, in the form in which a parser takes it: everything outside of it is the same in both. Called by the
 * parser host.
 */
import { Edit } from 'web-tree-sitter'
import type { Place } from './language.js'

/** Half-open in UTF-16 units, never through the middle of a pair. Linear in the texts. */
export function changedPart(from: string, to: string): Edit {
  const most = Math.min(from.length, to.length)
  let start = 0
  while (start < most && from.charCodeAt(start) === to.charCodeAt(start)) start++
  if (start > 0 && isHigh(from.charCodeAt(start - 1))) start--
  let same = 0
  while (same < most - start && from.charCodeAt(from.length - 1 - same) === to.charCodeAt(to.length - 1 - same)) same++
  if (same > 0 && isLow(from.charCodeAt(from.length - same))) same--
  const [oldEnd, newEnd] = [from.length - same, to.length - same]
  const startPosition = placeOf(from, start)
  return new Edit({
    startIndex: start,
    oldEndIndex: oldEnd,
    newEndIndex: newEnd,
    startPosition,
    oldEndPosition: placeOf(from, oldEnd, start, startPosition),
    newEndPosition: placeOf(to, newEnd, start, startPosition),
  })
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** Counts on from a known place. */
function placeOf(text: string, index: number, from = 0, { row, column }: Place = { row: 0, column: 0 }): Place {
  let lineStart = from - column
  for (let at = text.indexOf('\n', from); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) {
    row++
    lineStart = at + 1
  }
  return { row, column: index - lineStart }
}
