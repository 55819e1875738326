import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { Document } from '../../src/text/document.js'
import { clip } from '../../src/text/hunks.js'
import type { WindowAsk, WindowBounds } from '../../src/text/window.js'
import { numberedRow, windowOf } from '../../src/text/window.js'
import { fileText } from './arbitraries.js'
import { linesOf } from './naive.js'

const asks: fc.Arbitrary<WindowAsk> = fc.record({
  offset: fc.integer({ min: 1, max: 9 }),
  limit: fc.integer({ min: 1, max: 9 }),
  raw: fc.boolean(),
})
const bounds: fc.Arbitrary<WindowBounds> = fc.record({
  contentBytes: fc.integer({ min: 1, max: 80 }),
  lineChars: fc.integer({ min: 1, max: 9 }),
})

t.test('a window is the rows from its offset that its limit and budget hold', async () => {
  fc.assert(
    fc.property(fileText, asks, bounds, (text, ask, { contentBytes, lineChars }) => {
      const window = windowOf(Document.fromText(text), ask, { contentBytes, lineChars })
      const asked = linesOf(text).slice(ask.offset - 1, ask.offset - 1 + ask.limit)
      const rows = asked.map(({ content, terminator }, i) => {
        const cut = clip(content, lineChars)
        return ask.raw
          ? { row: content + terminator, whole: true }
          : { row: `${ask.offset + i}:${cut.text}${cut.clipped ? '…' : ''}`, whole: !cut.clipped }
      })
      let bytes = 0
      let count = 0
      for (const { row } of rows) {
        bytes += Buffer.byteLength(row) + (ask.raw ? 0 : 1)
        if (bytes > contentBytes && (ask.raw || count > 0)) break
        count++
      }
      const shown = rows.slice(0, count)
      assert.equal(window.content, shown.map(({ row }) => row).join(ask.raw ? '' : '\n'))
      assert.equal(window.lineCount, count)
      assert.deepEqual(
        [...window.shown.lines()],
        shown.flatMap(({ whole }, i) => (whole ? [ask.offset + i] : [])),
      )
      assert.equal(window.clippedRows, shown.filter(({ whole }) => !whole).length)
      assert.equal(window.budgetEnded, count < rows.length)
    }),
    { numRuns: 3_000 },
  )
})

t.test('the number of a row does not count against its width', async (t) => {
  t.strictSame(numberedRow(1_234_567, 'x'.repeat(5), 5), { row: '1234567:xxxxx', clipped: false })
  t.strictSame(numberedRow(7, 'x'.repeat(6), 5), { row: '7:xxxxx…', clipped: true })
  t.strictSame(numberedRow(7, 'xxxx😀', 5), { row: '7:xxxx…', clipped: true })
})

t.test('a line of 60 MB is not decoded to show its start', async (t) => {
  const document = Document.fromText(`${'漢'.repeat(20_000_000)}\n`)
  const started = performance.now()
  const window = windowOf(document, { offset: 1, limit: 1, raw: false }, { contentBytes: 262_144, lineChars: 16_384 })
  t.ok(performance.now() - started < 500)
  t.equal(window.content, `1:${'漢'.repeat(16_384)}…`)
})
