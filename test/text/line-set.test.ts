import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { LineRange } from '../../src/text/line-range.js'
import { LineSet } from '../../src/text/line-set.js'

const ranges = fc.array(
  fc
    .tuple(fc.integer({ min: 1, max: 30 }), fc.nat({ max: 6 }))
    .map(([start, length]) => new LineRange(start, start + length)),
  { maxLength: 6 },
)
const model = (of: readonly LineRange[]): Set<number> =>
  new Set(of.flatMap((r) => Array.from({ length: r.length }, (_, i) => r.start + i)))
const sorted = (lines: Iterable<number>): number[] => [...lines].sort((a, b) => a - b)

/** Ranges are sorted, disjoint, maximal and none is empty. */
function isNormal(set: LineSet): void {
  set.ranges.forEach((r, i) => {
    assert.ok(!r.isGap)
    const before = set.ranges[i - 1]
    assert.ok(before === undefined || before.end < r.start, set.toString())
  })
}

t.test('a set of ranges is the set of their lines', async () => {
  fc.assert(
    fc.property(ranges, (of) => {
      const set = LineSet.of(of)
      isNormal(set)
      assert.deepEqual([...set.lines()], sorted(model(of)))
      assert.equal(set.size, model(of).size)
      assert.equal(set.isEmpty, model(of).size === 0)
      assert.equal(LineSet.ofLines([...model(of)].reverse()).toString(), set.toString())
      for (let line = 1; line < 40; line++) assert.equal(set.has(line), model(of).has(line))
    }),
  )
})

t.test('union, minus, within and covers are those of sets', async () => {
  fc.assert(
    fc.property(ranges, ranges, fc.integer({ min: 1, max: 35 }), fc.nat({ max: 10 }), (left, right, start, length) => {
      const [a, b] = [LineSet.of(left), LineSet.of(right)]
      const [m, n] = [model(left), model(right)]
      const range = new LineRange(start, start + length)
      for (const [set, lines] of [
        [a.union(b), new Set([...m, ...n])],
        [a.minus(b), new Set([...m].filter((line) => !n.has(line)))],
        [a.within(range), new Set([...m].filter((line) => range.contains(line)))],
      ] as const) {
        isNormal(set)
        assert.deepEqual([...set.lines()], sorted(lines))
      }
      assert.equal(
        a.covers(range),
        [...model([range])].every((line) => m.has(line)),
      )
      assert.deepEqual([...a.lines()], sorted(m), 'the operands stay as they are')
    }),
    { numRuns: 1_000 },
  )
})

t.test('laws of sets', async () => {
  fc.assert(
    fc.property(ranges, ranges, ranges, (x, y, z) => {
      const [a, b, c] = [LineSet.of(x), LineSet.of(y), LineSet.of(z)]
      const same = (left: LineSet, right: LineSet): void => assert.equal(left.toString(), right.toString())
      same(a.union(b), b.union(a))
      same(a.union(b).union(c), a.union(b.union(c)))
      same(a.union(a), a)
      same(a.minus(b).union(a), a)
      same(a.minus(b).minus(c), a.minus(b.union(c)))
      same(a.minus(a), LineSet.empty)
      same(a.minus(b).union(b), a.union(b))
    }),
  )
})

t.test('parse(toString(x)) = x', async (t) => {
  fc.assert(
    fc.property(ranges, (of) => {
      const set = LineSet.of(of)
      assert.equal(LineSet.parse(set.toString()).toString(), set.toString())
      assert.deepEqual(
        set.spans(),
        set.ranges.map((r) => ({ start: r.start, end: r.last })),
      )
    }),
  )
  t.equal(LineSet.of([new LineRange(1, 201), new LineRange(250, 251)]).toString(), '1-200,250')
  t.equal(LineSet.parse('250,1-200').toString(), '1-200,250')
  for (const text of [
    '0',
    '3-1',
    'a',
    '1,',
    ',',
    '1-',
    '-1',
    '1--2',
    ' 1',
    '1;2',
    '0-3',
    '1-2-3',
    '1e3',
    '9'.repeat(16),
  ])
    t.throws(() => LineSet.parse(text), RangeError, text)
})

t.test('all lines of a text', async (t) => {
  t.equal(LineSet.all(0).toString(), '')
  t.equal(LineSet.all(3).toString(), '1-3')
})

t.test('a set costs what its ranges cost, not what its lines do', async (t) => {
  const started = performance.now()
  const wide = LineSet.of(
    Array.from({ length: 1_000 }, (_, i) => new LineRange(i * 1_000_000 + 1, i * 1_000_000 + 900_000)),
  )
  for (let i = 0; i < 100; i++) wide.minus(LineSet.all(500_000_000)).union(wide).within(new LineRange(5, 900_000_000))
  t.ok(performance.now() - started < 2_000)
})

t.test('ranges refuse a bad shape and print as they are', async (t) => {
  for (const [start, end] of [
    [0, 1],
    [3, 2],
    [NaN, 2],
    [1, NaN],
    [-1, 1],
  ] as const)
    t.throws(() => new LineRange(start, end), RangeError)
  const range = LineRange.inclusive(3, 6)
  t.equal(range.toString(), '[3,7)')
  t.match({ length: range.length, last: range.last, gap: range.isGap }, { length: 4, last: 6, gap: false })
  t.equal(LineRange.gapBefore(5).toString(), '[5,5)')
  t.ok(LineRange.gapBefore(5).isGap)
  t.equal(range.shift(-2).toString(), '[1,5)')
  t.throws(() => range.shift(-3), RangeError)
  t.ok(range.contains(3) && range.contains(6) && !range.contains(7) && !range.contains(2))
  t.ok(range.intersects(LineRange.inclusive(6, 9)) && !range.intersects(LineRange.inclusive(7, 9)))
})
