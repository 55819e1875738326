import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { Document } from '../../src/text/document.js'
import type { Hunk, HunkRow } from '../../src/text/hunks.js'
import { clip, hunksOf } from '../../src/text/hunks.js'
import { LineEdit } from '../../src/text/line-edit.js'
import { LineRange } from '../../src/text/line-range.js'
import type { Edited } from './edits.js'
import { edited } from './edits.js'
import { linesOf } from './naive.js'

const roomy = { contextLines: 2, maxRows: 2_000, maxRowChars: 16_384 }

interface Row extends HunkRow {
  readonly old: number
  readonly now: number
}

/** Every row of the change from first to last line, with both numbers: the old and the new line that stand at or before it. */
function allRows({ text, replacements }: Edited): Row[] {
  const lines = linesOf(text).map((line) => line.content)
  const rows: Row[] = []
  let old = 0
  let now = 0
  const keep = (until: number): void => {
    while (old + 1 < until) rows.push({ kind: ' ', old: ++old, now: ++now, line: now, text: lines[old - 1] ?? '' })
  }
  for (const replacement of replacements) {
    keep(replacement.start)
    while (old + 1 < replacement.end) rows.push({ kind: '-', old: ++old, now, line: old, text: lines[old - 1] ?? '' })
    for (const added of replacement.rows) {
      const text = now === 0 ? added.replace(/^\ufeff+/, '') : added
      rows.push({ kind: '+', old, now: ++now, line: now, text })
    }
  }
  keep(lines.length + 1)
  return rows
}

/** Hunks as a unified diff has them: each change with its context, runs that touch joined. */
function naiveHunks(change: Edited, context: number): Hunk[] {
  const rows = allRows(change)
  const near = (i: number): boolean => {
    for (let distance = 0, at = i; at < rows.length && distance <= context; at++) {
      if (rows[at]?.kind !== ' ') return true
      distance++
    }
    for (let distance = 0, at = i; at >= 0 && distance <= context; at--) {
      if (rows[at]?.kind !== ' ') return true
      distance++
    }
    return false
  }
  const hunks: Hunk[] = []
  let run: Row[] = []
  const close = (): void => {
    const [first] = run
    if (!first) return
    const oldLines = run.filter((row) => row.kind !== '+').length
    const newLines = run.filter((row) => row.kind !== '-').length
    hunks.push({
      oldStart: oldLines === 0 ? first.old : (run.find((row) => row.kind !== '+')?.old ?? 0),
      oldLines,
      newStart: newLines === 0 ? first.now : (run.find((row) => row.kind !== '-')?.now ?? 0),
      newLines,
      rows: run.map(({ kind, line, text }) => ({ kind, line, text })),
    })
    run = []
  }
  rows.forEach((row, i) => {
    if (near(i)) run.push(row)
    else close()
  })
  close()
  return hunks
}

t.test('hunks are numbered as those of a naive unified diff', async () => {
  fc.assert(
    fc.property(edited, fc.nat({ max: 3 }), (change, contextLines) => {
      const { hunks, truncated } = hunksOf(change.edit, Document.fromText(change.text), { ...roomy, contextLines })
      assert.deepEqual(hunks, naiveHunks(change, contextLines))
      assert.equal(truncated, false)
    }),
    { numRuns: 4_000 },
  )
})

/** The lines of a text after its hunks: what a caller does who keeps a copy of the file. */
function replayed(base: Document, hunks: readonly Hunk[]): string[] {
  const lines = Array.from({ length: base.lineCount }, (_, i) => base.text(i + 1))
  for (const hunk of [...hunks].reverse()) {
    const start = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1
    lines.splice(start, hunk.oldLines, ...hunk.rows.flatMap((row) => (row.kind === '-' ? [] : [row.text])))
  }
  return lines
}

t.test('replaying the hunks gives the file', async () => {
  const heads = fc.constantFrom('\ufeffx', '\ufeff', '\ufeff\ufeffx', 'x', '')
  fc.assert(
    fc.property(edited, fc.array(heads, { maxLength: 2 }), (change, head) => {
      const base = Document.fromText(change.text)
      const { replacements } = change.edit
      // Rows at the very head of a text, above what was changed anyway.
      const atHead =
        head.length === 0 || replacements[0]?.range.start === 1 ? [] : [{ range: new LineRange(1, 1), rows: head }]
      const edit = new LineEdit(base.lineCount, [...atHead, ...replacements])
      const result = edit.apply(base)
      // A mark that a kept line brings to the head of a file is one from then on, and no line shows it.
      const first = edit.kept.ranges[0]?.start
      if (first !== undefined && base.text(first).startsWith('\ufeff') && !edit.written.has(1)) return
      const lines = replayed(base, hunksOf(edit, base, roomy).hunks)
      const landed = Array.from({ length: result.lineCount }, (_, i) => result.text(i + 1))
      // An unterminated empty last line is no line.
      if (landed.length === lines.length - 1 && lines.at(-1) === '') lines.pop()
      assert.deepEqual(landed.map(withoutCr), lines.map(withoutCr))
    }),
    { numRuns: 4_000 },
  )
})

/** A CR that comes to stand before a terminator is part of it. */
const withoutCr = (text: string): string => text.replace(/\r+$/, '')

t.test('rows stay within their bound, from the first on, and what is left out is said', async () => {
  fc.assert(
    fc.property(edited, fc.integer({ min: 1, max: 12 }), (change, maxRows) => {
      const base = Document.fromText(change.text)
      const whole = hunksOf(change.edit, base, roomy).hunks.flatMap((hunk) => hunk.rows)
      const { hunks, truncated } = hunksOf(change.edit, base, { ...roomy, maxRows })
      assert.deepEqual(
        hunks.flatMap((hunk) => hunk.rows),
        whole.slice(0, maxRows),
      )
      assert.equal(truncated, whole.length > maxRows)
    }),
    { numRuns: 4_000 },
  )
})

t.test('long rows are clipped and said', async (t) => {
  const base = Document.fromText(`a\n${'x'.repeat(100)}\n`)
  const edit = new LineEdit(2, [{ range: new LineRange(1, 2), rows: ['😀'.repeat(10)] }])
  const { hunks, truncated } = hunksOf(edit, base, { ...roomy, maxRowChars: 5 })
  t.strictSame(
    hunks[0]?.rows.map((row) => row.kind + row.text),
    ['-a', '+😀😀…', ' xxxxx…'],
  )
  t.equal(truncated, true)
})

const golden: readonly (readonly [
  name: string,
  lines: number,
  edit: readonly (readonly [number, number, number])[],
  heads: string,
])[] = [
  ['a replacement', 9, [[5, 6, 2]], '-3,5 +3,6'],
  ['an insertion at the head', 3, [[1, 1, 1]], '-1,2 +1,3'],
  ['an insertion into an empty file', 0, [[1, 1, 2]], '-0,0 +1,2'],
  ['a file that is emptied', 2, [[1, 3, 0]], '-1,2 +0,0'],
  ['an insertion at the end', 3, [[4, 4, 1]], '-2,2 +2,3'],
  [
    'two changes whose context touches',
    12,
    [
      [3, 4, 1],
      [8, 9, 1],
    ],
    '-1,10 +1,10',
  ],
  [
    'two changes whose context does not',
    12,
    [
      [3, 4, 1],
      [9, 10, 1],
    ],
    '-1,5 +1,5 -7,5 +7,5',
  ],
  [
    'numbers after a change of length',
    20,
    [
      [3, 4, 3],
      [15, 16, 0],
    ],
    '-1,5 +1,7 -13,5 +15,4',
  ],
]

t.test('heads of hunks', async (t) => {
  for (const [name, lines, replacements, heads] of golden) {
    const base = Document.fromText('x\n'.repeat(lines))
    const edit = new LineEdit(
      lines,
      replacements.map(([start, end, rows]) => ({
        range: new LineRange(start, end),
        rows: Array<string>(rows).fill('y'),
      })),
    )
    const { hunks } = hunksOf(edit, base, roomy)
    t.equal(hunks.map((h) => `-${h.oldStart},${h.oldLines} +${h.newStart},${h.newLines}`).join(' '), heads, name)
  }
})

t.test('a clipped text never ends in half a character', async () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '😀', '漢'), maxLength: 20 }),
      fc.integer({ min: 1, max: 20 }),
      (text, most) => {
        const cut = clip(text, most)
        assert.ok(cut.text.length <= most && text.startsWith(cut.text))
        assert.equal(cut.clipped, text.length > most)
        assert.ok(!/[\ud800-\udbff]$/.test(cut.text))
        assert.ok(!cut.clipped || cut.text.length >= most - 1)
      },
    ),
  )
})
