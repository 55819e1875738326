/**
 * Laws of drift recovery over random pairs of texts, and an oracle that follows the contract to the letter over every longest map. fast-check prints the seed
 * of a failure.
 */
import { deepStrictEqual, equal, ok } from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { LineEdit } from '../../src/text/line-edit.js'
import { LineSet } from '../../src/text/line-set.js'
import type { Recovered } from './recover-notation.js'
import { documentOf, recover, resolve } from './recover-notation.js'

// — the oracle: contract §10.3–10.5 and reading §3.5, word for word, for one map —

/** Partner per old line; NaN at index 0 and for everything unmapped, which equals nothing. */
type Map1 = readonly number[]

/** Every longest common subsequence of two texts as a map. */
function longestMaps(from: readonly string[], to: readonly string[]): Map1[] {
  const best = new Map<string, number>()
  const length = (i: number, j: number): number => {
    if (i >= from.length || j >= to.length) return 0
    const key = `${i},${j}`
    const known = best.get(key)
    if (known !== undefined) return known
    const with_ = from[i] === to[j] ? 1 + length(i + 1, j + 1) : 0
    const value = Math.max(with_, length(i + 1, j), length(i, j + 1))
    best.set(key, value)
    return value
  }
  const maps: Map1[] = []
  const walk = (i: number, j: number, map: number[]): void => {
    const left = length(i, j)
    if (left === 0) {
      maps.push(map)
      return
    }
    // The next old line that is kept, and its partner: every choice that still reaches the full length.
    for (let x = i; x < from.length; x++) {
      for (let y = j; y < to.length; y++) {
        if (from[x] !== to[y] || 1 + length(x + 1, y + 1) !== left) continue
        const next = [...map]
        next[x + 1] = y + 1
        walk(x + 1, y + 1, next)
      }
    }
  }
  walk(0, 0, new Array<number>(from.length + 1).fill(NaN))
  return maps
}

const times = (texts: readonly string[], text: string): number => texts.filter((other) => other === text).length

/** Whether `map` proves one contiguous run of anchors [first, last] by the contract, and at which offset. */
function offsetOf(
  map: Map1,
  from: readonly string[],
  to: readonly string[],
  first: number,
  last: number,
): number | undefined {
  const offset = (map[first] ?? NaN) - first
  const above = first === 1 ? first + offset === 1 : map[first - 1] === first - 1 + offset
  const below = last === from.length ? last + offset === to.length : map[last + 1] === last + 1 + offset
  for (let line = first; line <= last; line++) {
    if (map[line] !== line + offset) return undefined
    const text = from[line - 1] ?? ''
    const unique = times(from, text) === 1 && times(to, text) === 1
    if (unique ? !(above || below) : !(above && below)) return undefined
  }
  return offset
}

type Run = readonly [first: number, last: number]

function runsOf(anchors: ReadonlySet<number>): Run[] {
  return LineSet.ofLines(anchors).ranges.map((range) => [range.start, range.last])
}

/** The offset that the rules allow, or undefined: some longest map proves all runs together, and nothing disputes one of them. */
function oracle(from: readonly string[], to: readonly string[], anchors: ReadonlySet<number>): number | undefined {
  const maps = longestMaps(from, to)
  const runs = runsOf(anchors)
  const together = new Set<number>()
  for (const map of maps) {
    const offsets = new Set(runs.map(([first, last]) => offsetOf(map, from, to, first, last)))
    const [offset] = offsets
    if (offsets.size === 1 && offset !== undefined) together.add(offset)
  }
  for (const offset of together) {
    const pins = runs.filter((run) => isPinned(from, to, run))
    const held = (run: Run): boolean => pins.some((pin) => isIn(stretchOf(from, to, run, offset), pin))
    if (runs.every((run) => held(run) || !isDisputed(maps, from, to, run, offset))) return offset
  }
  return undefined
}

/** One line of the run occurs once on both sides. */
function isPinned(from: readonly string[], to: readonly string[], [first, last]: Run): boolean {
  return from.slice(first - 1, last).some((text) => times(from, text) === 1 && times(to, text) <= 1)
}

const isIn = ([first, last]: Run, inner: Run): boolean => first <= inner[0] && inner[1] <= last

/** The equal lines around a run at an offset, as far as they go. */
function stretchOf(from: readonly string[], to: readonly string[], [start, end]: Run, offset: number): Run {
  let [first, last] = [start, end]
  const same = (line: number): boolean => line >= 1 && from[line - 1] === to[line + offset - 1]
  while (same(first - 1) && first > 1 && first + offset > 1) first--
  while (last < from.length && last + offset < to.length && same(last + 1)) last++
  return [first, last]
}

/** Some longest map takes a line of the run elsewhere or another line to its place, or all equal lines around it stand a second time in a text. */
function isDisputed(
  maps: readonly Map1[],
  from: readonly string[],
  to: readonly string[],
  run: Run,
  offset: number,
): boolean {
  for (let line = run[0]; line <= run[1]; line++)
    for (const map of maps) {
      const partner = map[line] ?? NaN
      if (!Number.isNaN(partner) && partner !== line + offset) return true
      const other = map.indexOf(line + offset)
      if (other > 0 && other !== line) return true
    }
  const [first, last] = stretchOf(from, to, run, offset)
  const stretch = from.slice(first - 1, last)
  const stands = (text: readonly string[]): number =>
    text.filter((_, i) => stretch.every((row, j) => text[i + j] === row)).length
  return stands(from) > 1 || stands(to) > 1
}

// — texts —

const words = (letters: string, bound: { minLength?: number; maxLength: number }): fc.Arbitrary<string[]> =>
  fc.array(fc.constantFrom(...letters.split(' ')), bound)

interface Change {
  /** Old lines [at, at + cut), 0-based, go; `rows` come. */
  readonly at: number
  readonly cut: number
  readonly rows: readonly string[]
}

/** Disjoint foreign changes of a text of `length` lines, sorted. */
const changes = (length: number, row: fc.Arbitrary<string>): fc.Arbitrary<Change[]> =>
  fc
    .array(fc.tuple(fc.nat(length), fc.nat({ max: 3 }), fc.array(row, { maxLength: 3 })), { maxLength: 4 })
    .map((list) => {
      const sorted = list.sort((p, q) => p[0] - q[0])
      const disjoint: Change[] = []
      let free = 0
      for (const [at, cut, rows] of sorted) {
        if (at < free) continue
        const change = { at, cut: Math.min(cut, length - at), rows }
        disjoint.push(change)
        free = at + change.cut + 1
      }
      return disjoint
    })

function applied(lines: readonly string[], list: readonly Change[]): string[] {
  const result: string[] = []
  let from = 0
  for (const { at, cut, rows } of list) {
    result.push(...lines.slice(from, at), ...rows)
    from = at + cut
  }
  return [...result, ...lines.slice(from)]
}

/** A text after anything that people do to files: changes with old and new lines, regions moved, repeated and swapped. */
const drifted = (letters: string, maxLength: number): fc.Arbitrary<readonly [string[], string[]]> =>
  words(letters, { maxLength }).chain((from) =>
    fc
      .tuple(
        changes(from.length, fc.constantFrom(...`${letters} X Y`.split(' '))),
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 4 }), fc.nat(), fc.boolean()), { maxLength: 2 }),
      )
      .map(([list, moves]) => {
        const to = applied(from, list)
        for (const [at, length, target, keep] of moves) {
          const start = at % (to.length + 1)
          const region = to.slice(start, start + length)
          if (!keep) to.splice(start, length)
          to.splice(target % (to.length + 1), 0, ...region)
        }
        return [from, to] as const
      }),
  )

// — ops: disjoint spans and gaps over a text of `length` lines —

interface Op {
  readonly text: string
  readonly anchors: readonly number[]
}

const opsOver = (length: number): fc.Arbitrary<Op[]> =>
  length === 0
    ? fc.constant([])
    : fc
        .array(fc.tuple(fc.integer({ min: 1, max: length }), fc.nat({ max: 3 }), fc.nat({ max: 4 })), {
          minLength: 1,
          maxLength: 3,
        })
        .map((list) => {
          const ops: Op[] = []
          let free = 1
          for (const [first, more, kind] of list.sort((p, q) => p[0] - q[0])) {
            if (first < free) continue
            const last = Math.min(length, first + more)
            const span = Array.from({ length: last - first + 1 }, (_, i) => first + i)
            // The markers are in no text, so that what the call wrote can be told.
            if (kind === 0) ops.push({ text: `CUT ${first}.=${last}`, anchors: span })
            else if (kind === 1) ops.push({ text: `PUT ${first}.=${last}: @1 @2`, anchors: span })
            else if (kind === 2) ops.push({ text: `PUT ${first}.=${first}: @3`, anchors: [first] })
            else if (kind === 3 && first > 1) ops.push({ text: `PUT <${first}: @4`, anchors: [first] })
            else ops.push({ text: `PUT >${first}: @5`, anchors: [first] })
            // Two gaps may not be one, so the next op keeps a line away.
            free = (kind < 2 ? last : first) + 2
          }
          return ops
        })

const withOps = <T extends readonly [string[], string[]]>(texts: fc.Arbitrary<T>): fc.Arbitrary<readonly [T, Op[]]> =>
  texts.chain((pair) => opsOver(pair[0].length).map((ops) => [pair, ops] as const)).filter(([, ops]) => ops.length > 0)

const textOf = (ops: readonly Op[]): string => ops.map((op) => op.text).join(' | ')
const anchorsOf = (ops: readonly Op[]): Set<number> => new Set(ops.flatMap((op) => op.anchors))

function attempt(from: readonly string[], to: readonly string[], ops: readonly Op[]): Recovered | string {
  const tagged = documentOf(from)
  return recover(tagged, documentOf(to), resolve(textOf(ops), tagged))
}

const rowsOf = (outcome: Recovered): string[] => {
  const text = outcome.result.rawText()
  return text === '' ? [] : text.slice(0, -1).split('\n')
}

const isMarker = (row: string): boolean => row.startsWith('@')

t.test('an edit is recovered exactly when some longest map grants it and nothing disputes the place', async (t) => {
  let accepted = 0
  let declined = 0
  const texts = fc.oneof(
    drifted('a b', 7),
    drifted('a b c', 8),
    drifted('a b c d e f g', 8),
    fc.tuple(words('a b', { maxLength: 7 }), words('a b', { maxLength: 7 })),
  )
  fc.assert(
    fc.property(withOps(texts), ([[from, to], ops]) => {
      const outcome = attempt(from, to, ops)
      const expected = oracle(from, to, anchorsOf(ops))
      if (typeof outcome === 'string') declined++
      else accepted++
      deepStrictEqual(typeof outcome === 'string' ? undefined : outcome.proof.offset, expected)
    }),
    { numRuns: 6_000 },
  )
  t.comment(`${accepted} recovered, ${declined} declined`)
  t.ok(accepted > 500 && declined > 500)
})

t.test(
  'a recovered edit takes away nothing but the lines it names, and every other live line survives in place',
  async () => {
    const texts = fc.oneof(drifted('a b c', 12), drifted('a b c d e f g h i j', 40), drifted('p _ } x', 24))
    fc.assert(
      fc.property(withOps(texts), ([[from, to], ops]) => {
        const outcome = attempt(from, to, ops)
        if (typeof outcome === 'string') return
        const { offset } = outcome.proof
        const named = ops.filter((op) => !/[<>]/.test(op.text)).flatMap((op) => op.anchors)
        for (const line of anchorsOf(ops)) equal(to[line + offset - 1], from[line - 1])
        const survivors = to.filter((_, i) => !named.includes(i + 1 - offset))
        deepStrictEqual(
          rowsOf(outcome).filter((row) => !isMarker(row)),
          survivors,
        )
        equal(rowsOf(outcome).filter(isMarker).length, textOf(ops).split('@').length - 1)
      }),
      { numRuns: 4_000 },
    )
  },
)

t.test('over no drift the recovered edit is the direct edit', async () => {
  const texts = words('a b c d', { minLength: 1, maxLength: 20 }).map((from) => [from, [...from]] as const)
  fc.assert(
    fc.property(withOps(texts as fc.Arbitrary<readonly [string[], string[]]>), ([[from], ops]) => {
      const tagged = documentOf(from)
      const resolved = resolve(textOf(ops), tagged)
      const outcome = recover(tagged, documentOf(from), resolved)
      if (typeof outcome === 'string') throw new Error(outcome)
      const direct = new LineEdit(
        tagged.lineCount,
        resolved.flatMap((op) => op.replacements),
      )
      deepStrictEqual(outcome.edit, direct)
    }),
    { numRuns: 2_000 },
  )
})

t.test('new text in place of an anchored line, or between two lines of one range, declines', async (t) => {
  let touched = 0
  const texts = fc
    .oneof(words('a b', { minLength: 1, maxLength: 12 }), words('a b c d e', { minLength: 1, maxLength: 20 }))
    .chain((from) =>
      fc.tuple(
        fc.constant(from),
        changes(from.length, fc.constantFrom('F')).map((list) =>
          list.map((change, n) => ({ ...change, rows: change.rows.map((row, i) => `${row}${n}.${i}`) })),
        ),
        opsOver(from.length),
      ),
    )
  fc.assert(
    fc.property(texts, ([from, list, ops]) => {
      const touches = ops.some((op) => list.some((change) => isTouched(op, change)))
      if (!touches) return
      touched++
      equal(typeof attempt(from, applied(from, list), ops), 'string')
    }),
    { numRuns: 8_000 },
  )
  t.ok(touched > 500)
})

/** Fresh rows took the place of an anchor, or came between two anchors of the op. */
function isTouched(op: Op, { at, cut, rows }: Change): boolean {
  if (rows.length === 0) return false
  const first = op.anchors[0] ?? 0
  const last = op.anchors.at(-1) ?? 0
  return cut === 0 ? first <= at && at < last : at + 1 <= last && first <= at + cut
}

t.test('foreign changes that leave an anchor and both neighbours alone never stop one of distinct lines', async () => {
  const distinct = fc
    .integer({ min: 1, max: 30 })
    .map((length) => Array.from({ length }, (_, i) => `line ${i + 1}`))
    .chain((from) => fc.tuple(fc.constant(from), changes(from.length, fc.constantFrom('X', 'Y', 'line 0')), fc.nat()))
  fc.assert(
    fc.property(distinct, ([from, list, n]) => {
      const line = (n % from.length) + 1
      const near = list.some(({ at, cut }) => at <= line + 1 && line - 2 <= at + cut)
      if (near) return
      const outcome = attempt(from, applied(from, list), [{ text: `PUT ${line}.=${line}: @`, anchors: [line] }])
      if (typeof outcome === 'string') throw new Error(outcome)
      const offset = list.reduce((sum, c) => (c.at < line ? sum + c.rows.length - c.cut : sum), 0)
      equal(outcome.proof.offset, offset)
    }),
    { numRuns: 3_000 },
  )
})

t.test('seen lines after a recovered edit hold text that was shown or written', async () => {
  const texts = fc.oneof(drifted('a b c', 12), drifted('a b c d e f g h', 24))
  fc.assert(
    fc.property(withOps(texts), fc.array(fc.nat({ max: 24 })), ([[from, to], ops], extra) => {
      const tagged = documentOf(from)
      const seen = LineSet.ofLines([...anchorsOf(ops), ...extra.map((n) => (n % from.length) + 1)])
      const outcome = recover(tagged, documentOf(to), resolve(textOf(ops), tagged), seen)
      if (typeof outcome === 'string') return
      const shown = new Set([...seen.lines()].map((line) => from[line - 1]))
      const rows = rowsOf(outcome)
      for (const line of outcome.seen.lines()) {
        const row = rows[line - 1] ?? 'nothing'
        ok(isMarker(row) || shown.has(row), `${row} at ${line}`)
      }
      for (const [i, row] of rows.entries()) if (isMarker(row)) ok(outcome.seen.has(i + 1))
    }),
    { numRuns: 2_000 },
  )
})

t.test('endings, trailing blanks and a byte order mark change nothing about the proof', async () => {
  const texts = withOps(drifted('a b c d', 14))
  const blanks = fc.array(fc.constantFrom('', '', ' ', '\t', ' \t'), { minLength: 1, maxLength: 9 })
  fc.assert(
    fc.property(texts, blanks, fc.constantFrom('\n', '\r\n'), ([[from, to], ops], trailing, terminator) => {
      const tagged = documentOf(from)
      const resolved = resolve(textOf(ops), tagged)
      const plain = recover(tagged, documentOf(to), resolved)
      const dressed = documentOf(
        to.map((row, i) => row + (trailing[i % trailing.length] ?? '')),
        terminator,
      )
      const outcome = recover(tagged, dressed, resolved)
      if (typeof plain === 'string' || typeof outcome === 'string') {
        equal(outcome, plain)
        return
      }
      deepStrictEqual(outcome.edit, plain.edit)
      for (let line = 1; line <= outcome.result.lineCount; line++) equal(outcome.result.terminator(line), terminator)
    }),
    { numRuns: 1_500 },
  )
})
