import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { Document } from '../../src/text/document.js'
import { LineEdit } from '../../src/text/line-edit.js'
import { LineRange } from '../../src/text/line-range.js'
import { LineSet } from '../../src/text/line-set.js'
import { fileText } from './arbitraries.js'
import { edited } from './edits.js'
import { linesOf, spliced } from './naive.js'

const range = (start: number, end: number): LineRange => new LineRange(start, end)

t.test('apply equals a naive splice', async () => {
  fc.assert(
    fc.property(edited, ({ text, replacements, edit }) => {
      assert.equal(edit.apply(Document.fromText(text)).bytes.toString(), spliced(text, replacements))
    }),
    { numRuns: 5_000 },
  )
})

t.test('the index built beside the bytes equals one of the result', async () => {
  fc.assert(
    fc.property(edited, ({ text, edit }) => {
      const result = edit.apply(Document.fromText(text))
      const fresh = Document.trusted(Buffer.from(result.bytes))
      assert.deepEqual([...result.index.starts], [...fresh.index.starts])
      assert.equal(result.index.lfCount, fresh.index.lfCount)
      assert.equal(result.index.crlfCount, fresh.index.crlfCount)
      assert.ok(result.index.mayTrail || !fresh.index.mayTrail)
      assert.equal(result.hasBom, fresh.hasBom)
      assert.equal(result.endsWithNewline, fresh.endsWithNewline)
      for (const digest of ['versionDigest', 'textDigest', 'byteDigest', 'tag'] as const)
        assert.equal(result[digest], fresh[digest])
    }),
    { numRuns: 5_000 },
  )
})

t.test('untouched lines keep their bytes', async () => {
  fc.assert(
    fc.property(edited, ({ text, edit }) => {
      const base = Document.fromText(text)
      const result = edit.apply(base)
      for (const line of edit.kept.lines()) {
        const [to] = edit.carry(LineSet.ofLines([line])).lines()
        assert.ok(to !== undefined)
        const { start, end } = result.slice(to)
        // A U+FEFF that comes to stand at the head of a file is its mark from now on; its bytes stay all the same.
        const marked = to === 1 && result.hasBom && !base.hasBom
        const now = result.bytes.toString('latin1', marked ? 0 : start, end)
        const old = base.slice(line)
        // Only the last line may gain or lose its terminator.
        if (line < base.lineCount && to < result.lineCount) {
          assert.equal(now, base.bytes.toString('latin1', old.start, old.end))
        } else {
          const content = base.content(line).toString('latin1')
          assert.ok(now.startsWith(content) && /^(?:\r?\n)?$/.test(now.slice(content.length)))
        }
      }
    }),
    { numRuns: 2_000 },
  )
})

t.test('an edit of no replacement is the identity', async () => {
  fc.assert(
    fc.property(fileText, (text) => {
      const base = Document.fromText(text)
      assert.ok(new LineEdit(base.lineCount, []).apply(base).bytes.equals(base.bytes))
    }),
  )
})

t.test('kept, written, carry and shifts tell where every line is', async () => {
  fc.assert(
    fc.property(edited, ({ text, replacements, edit }) => {
      const old = linesOf(text).length
      const gone = (line: number): boolean => replacements.some((r) => r.start <= line && line < r.end)
      const kept = Array.from({ length: old }, (_, i) => i + 1).filter((line) => !gone(line))
      assert.deepEqual([...edit.kept.lines()], kept)
      const moved = (line: number): number =>
        replacements
          .filter((r) => r.end <= line || (r.start === r.end && r.start <= line))
          .reduce((at, r) => at + r.rows.length - (r.end - r.start), line)
      assert.deepEqual([...edit.carry(LineSet.all(old)).lines()], kept.map(moved))
      assert.deepEqual(
        [...edit.carry(edit.kept.within(range(2, Math.max(2, old)))).lines()],
        kept.filter((line) => line >= 2 && line < old).map(moved),
      )
      const all = new Set(Array.from({ length: edit.resultLines }, (_, i) => i + 1))
      for (const line of kept.map(moved)) assert.ok(all.delete(line))
      assert.deepEqual([...edit.written.lines()], [...all])
      assert.equal(edit.additions, edit.written.size)
      assert.equal(edit.deletions, old - kept.length)
      assert.equal(edit.resultLines, old + edit.additions - edit.deletions)
      const shifts = edit.shifts()
      const by = (line: number): number => shifts.filter((shift) => shift.from <= line).at(-1)?.by ?? 0
      for (const line of kept) assert.equal(line + by(line), moved(line))
      shifts.forEach((shift, i) => {
        assert.ok(shift.from <= old)
        assert.ok(i === 0 || (shifts[i - 1]?.from ?? 0) < shift.from)
        assert.notEqual(shift.by, shifts[i - 1]?.by ?? 0, 'an entry is a change of offset')
      })
    }),
    { numRuns: 3_000 },
  )
})

const golden: readonly (readonly [
  name: string,
  text: string,
  start: number,
  end: number,
  rows: readonly string[],
  result: string,
])[] = [
  ['new lines take the dominant terminator', 'a\r\nb\nc\r\n', 2, 2, ['x'], 'a\r\nx\r\nb\nc\r\n'],
  ['a tie is LF', 'a\r\nb\n', 1, 2, ['x'], 'x\nb\n'],
  ['appending to an unterminated file', 'a\nb', 3, 3, ['x', 'y'], 'a\nb\nx\ny'],
  ['appending to an unterminated CRLF file', 'a\r\nb', 3, 3, ['x'], 'a\r\nb\r\nx'],
  ['cutting the unterminated last line', 'a\nb', 2, 3, [], 'a'],
  ['an empty last line stays terminated', 'a\n\nb', 3, 4, [], 'a\n\n'],
  ['a last row that is empty stays terminated', 'a\nb', 2, 3, [''], 'a\n\n'],
  ['every line cut is no byte', 'a\nb', 1, 3, [], ''],
  ['text into an empty file', '', 1, 1, ['x', 'y'], 'x\ny\n'],
  ['text into a file of a mark alone', '\ufeff', 1, 1, ['x'], '\ufeffx\n'],
  ['the mark stays', '\ufeffa\nb\n', 1, 2, ['x'], '\ufeffx\nb\n'],
  ['the mark is not doubled', '\ufeffa\n', 1, 2, ['\ufeffx'], '\ufeffx\n'],
  ['a mark is not brought in', 'a\n', 1, 2, ['\ufeffx'], 'x\n'],
  ['U+FEFF elsewhere is content', 'a\n', 2, 2, ['\ufeffx'], 'a\n\ufeffx\n'],
  ['a lone CR is content', 'a\rb\nc\n', 2, 3, ['x\ry'], 'a\rb\nx\ry\n'],
  ['separators of Unicode are content', 'a\u2028b\f\n', 2, 2, ['\u0085'], 'a\u2028b\f\n\u0085\n'],
]

t.test('ends of lines and files', async (t) => {
  for (const [name, text, start, end, rows, result] of golden) {
    const base = Document.fromText(text)
    const edit = new LineEdit(base.lineCount, [{ range: range(start, end), rows }])
    t.equal(edit.apply(base).bytes.toString(), result, name)
    t.equal(spliced(text, [{ start, end, rows }]), result, `${name}, naively`)
  }
})

t.test('replacements that touch are a fault of the caller', async (t) => {
  const one = (start: number, end: number) => ({ range: range(start, end), rows: ['x'] })
  t.throws(() => new LineEdit(9, [one(1, 4), one(3, 5)]), RangeError, 'a shared line')
  t.throws(() => new LineEdit(9, [one(3, 3), one(3, 3)]), RangeError, 'one gap twice')
  t.throws(() => new LineEdit(9, [one(1, 5), one(3, 3)]), RangeError, 'a gap inside a range')
  t.throws(() => new LineEdit(9, [one(9, 11)]), RangeError, 'past the end')
  t.throws(() => new LineEdit(3, []).apply(Document.fromText('a\n')), RangeError, 'another text')
  t.strictSame(
    new LineEdit(9, [one(3, 5), one(3, 3), one(5, 5)]).replacements.map((r) => r.range.toString()),
    ['[3,3)', '[3,5)', '[5,5)'],
  )
})

t.test('an edit of a large text costs as much as the text', async (t) => {
  const line = 'const value = compute(a, b)\n'
  const cost = (lines: number): number => {
    const base = Document.fromText(line.repeat(lines))
    const edit = new LineEdit(
      lines,
      Array.from({ length: 100 }, (_, i) => ({
        range: range(i * (lines / 100) + 1, i * (lines / 100) + 2),
        rows: ['x'],
      })),
    )
    const started = performance.now()
    for (let i = 0; i < 5; i++) edit.apply(base)
    return performance.now() - started
  }
  cost(20_000)
  const [small, large] = [cost(20_000), cost(200_000)]
  t.ok(large < 60 * Math.max(small, 1), `${small} ms, then ${large} ms for ten times as much`)
})
