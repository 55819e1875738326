/**
 * Random texts with random edits of them, for the tests of edits and hunks.
 */
import fc from 'fast-check'
import { LineEdit } from '../../src/text/line-edit.js'
import { LineRange } from '../../src/text/line-range.js'
import { fileText, lineContent } from './arbitraries.js'
import type { NaiveReplacement } from './naive.js'
import { linesOf } from './naive.js'

export interface Edited {
  readonly text: string
  /** Sorted; none empty on both sides, no two in one gap. */
  readonly replacements: readonly NaiveReplacement[]
  readonly edit: LineEdit
}

/** A row as it may be written: a CR at its end would become part of the terminator. */
export const row = lineContent.map((text) => text.replace(/\r+$/, ''))

/** Walks through the text, keeping and replacing runs of it. */
const steps = fc.array(
  fc.record({ keep: fc.nat({ max: 3 }), take: fc.nat({ max: 3 }), rows: fc.array(row, { maxLength: 3 }) }),
  { maxLength: 4 },
)

export const edited: fc.Arbitrary<Edited> = fc.tuple(fileText, steps).map(([text, walk]) => {
  const count = linesOf(text).length
  const replacements: NaiveReplacement[] = []
  let at = 1
  for (const { keep, take, rows } of walk) {
    const start = Math.min(count + 1, at + keep)
    const end = Math.min(count + 1, start + take)
    const before = replacements.at(-1)
    const sameGap = before?.start === before?.end && before?.start === start && start === end
    if ((start === end && rows.length === 0) || sameGap) continue
    replacements.push({ start, end, rows })
    at = end
  }
  const edit = new LineEdit(
    count,
    replacements.map(({ start, end, rows }) => ({ range: new LineRange(start, end), rows })),
  )
  return { text, replacements, edit }
})
