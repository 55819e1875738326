/** Laws of the line map, against tables of all common subsequences. fast-check prints the seed of a failure. */
import { deepStrictEqual, equal } from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { diffArrays } from 'diff'
import { Document } from '../../src/text/document.js'
import { lineIds, textIds } from '../../src/text/line-ids.js'
import type { LineMap, LineMapAnswer } from '../../src/text/line-map.js'
import { documentMap, lineMap, mappedLine } from '../../src/text/line-map.js'

const rows = (text: string): string[] => text.split(' ')
const bounds = { maxEdits: 2_000, timeMs: 10_000 }

function mapped(answer: LineMapAnswer): LineMap {
  if ('gaveUp' in answer) throw new Error(answer.gaveUp)
  return answer
}

/** Lengths of the longest common subsequences of all prefixes: table[i][j] of a[0..i) and b[0..j). */
function prefixes(a: readonly string[], b: readonly string[]): number[][] {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      table[i]![j] = a[i - 1] === b[j - 1] ? table[i - 1]![j - 1]! + 1 : Math.max(table[i - 1]![j]!, table[i]![j - 1]!)
    }
  }
  return table
}

/** `old:new#rank` of every pair of lines that some longest common subsequence holds. */
function pairsOfAll(a: readonly string[], b: readonly string[]): string[] {
  const ahead = prefixes(a, b)
  const behind = prefixes([...a].reverse(), [...b].reverse())
  const longest = ahead[a.length]![b.length]!
  const pairs: string[] = []
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const before = ahead[i - 1]![j - 1]!
      const after = behind[a.length - i]![b.length - j]!
      if (a[i - 1] === b[j - 1] && before + 1 + after === longest) pairs.push(`${i}:${j}#${before}`)
    }
  }
  return pairs.sort()
}

function pairsOf({ runs, alternatives }: LineMap): string[] {
  const pairs = new Set<string>()
  let rank = 0
  for (const run of runs) {
    for (let i = 0; i < run.length; i++) pairs.add(`${run.from + i}:${run.to + i}#${rank++}`)
  }
  for (const run of alternatives) {
    for (let i = 0; i < run.length; i++) pairs.add(`${run.from + i}:${run.to + i}#${run.rank + i}`)
  }
  return [...pairs].sort()
}

const words = (letters: string, maxLength: number): fc.Arbitrary<string[]> =>
  fc.array(fc.constantFrom(...letters.split(' ')), { maxLength })

/** Two texts of which the second is the first after some cutting, inserting, moving and repeating. */
const related = (letters: string, maxLength: number): fc.Arbitrary<[string[], string[]]> =>
  fc
    .tuple(
      words(letters, maxLength),
      fc.array(fc.tuple(fc.nat(), fc.nat({ max: 3 }), words(`${letters} X Y Z`, 3), fc.boolean()), { maxLength: 4 }),
    )
    .map(([from, edits]) => {
      const to = [...from]
      for (const [at, cut, rows, again] of edits) {
        const index = at % (to.length + 1)
        const taken = to.splice(index, cut, ...rows)
        if (again) to.splice((at * 7) % (to.length + 1), 0, ...taken)
      }
      return [from, to]
    })

t.test('the map holds every pair of every longest common subsequence and nothing else', async () => {
  const texts = fc.oneof(
    related('a b', 14),
    related('a b c', 20),
    related('a b c d e f g h', 30),
    fc.tuple(words('a b', 12), words('a b', 12)),
    fc.tuple(words('a b c d', 16), words('a b c d', 16)),
  )
  fc.assert(
    fc.property(texts, ([from, to]) => {
      deepStrictEqual(pairsOf(mapped(lineMap(from, to, bounds))), pairsOfAll(from, to))
    }),
    { numRuns: 3_000 },
  )
})

t.test('runs are increasing and maximal, alternatives go as far as equal lines go', async () => {
  fc.assert(
    fc.property(fc.oneof(related('a b', 14), related('a b c d e', 24)), ([from, to]) => {
      const { runs, alternatives } = mapped(lineMap(from, to, bounds))
      for (const [i, run] of runs.entries()) {
        const last = runs[i - 1]
        if (run.length < 1) throw new Error('empty run')
        if (!last) continue
        const gaps = [run.from - last.from - last.length, run.to - last.to - last.length]
        if (Math.min(...gaps) < 0 || Math.max(...gaps) === 0) throw new Error('runs touch or cross')
      }
      for (const { from: x, to: y, length } of alternatives) {
        if (x > 1 && y > 1 && from[x - 2] === to[y - 2]) throw new Error('an alternative begins late')
        if (
          x + length <= from.length &&
          from[x + length - 1] !== undefined &&
          from[x + length - 1] === to[y + length - 1]
        )
          throw new Error('an alternative ends early')
      }
    }),
    { numRuns: 2_000 },
  )
})

t.test('the map is as long as the one of another diff on larger texts', async () => {
  fc.assert(
    fc.property(related('a b c d e f g h i j k l m n o p q r s t', 400), ([from, to]) => {
      const common = diffArrays(from, to).reduce((sum, p) => (p.added || p.removed ? sum : sum + p.count), 0)
      equal(
        mapped(lineMap(from, to, bounds)).runs.reduce((sum, run) => sum + run.length, 0),
        common,
      )
    }),
    { numRuns: 200 },
  )
})

t.test('mappedLine finds what the runs say', async (t) => {
  const { runs } = mapped(lineMap(rows('a b c d e f'), rows('a X b c f Y Z'), bounds))
  t.strictSame(
    [1, 2, 3, 4, 5, 6, 7].map((line) => mappedLine(runs, line)),
    [1, 3, 4, undefined, undefined, 5, undefined],
  )
  equal(mappedLine([], 1), undefined)
})

t.test('bounds are met exactly and told', async (t) => {
  const from = rows('a b c d e f g h')
  const to = rows('h g f e d c b a')
  const distance = 14
  t.match(lineMap(from, to, { maxEdits: distance, timeMs: 1_000 }), { runs: [{ length: 1 }] })
  t.strictSame(lineMap(from, to, { maxEdits: distance - 1, timeMs: 1_000 }), { gaveUp: 'maxEdits' })
  t.strictSame(lineMap(rows('a a a a'), rows('a'), { maxEdits: 2, timeMs: 1_000 }), { gaveUp: 'maxEdits' })
  let clock = 0
  t.strictSame(
    lineMap(from, to, { maxEdits: 100, timeMs: 3 }, () => clock++),
    { gaveUp: 'time' },
  )
  t.strictSame(
    lineMap(rows('a b c'), rows('x y z b'), { maxEdits: 2, timeMs: 1_000 }),
    { runs: [{ from: 2, to: 4, length: 1 }], alternatives: [] },
    'lines that only one text holds cost nothing',
  )
})

t.test('texts with endless repetition are given up rather than listed', async (t) => {
  const repeated = (n: number): string[] => Array.from({ length: n }, (_, i) => (i % 7 < 3 ? 'a' : 'b'))
  const answer = lineMap(repeated(3_000), repeated(2_400).reverse(), bounds)
  if ('runs' in answer) t.ok(answer.alternatives.length <= 16 * bounds.maxEdits * 2)
  else t.match(answer.gaveUp, /maxEdits|time/)
})

const content = fc.oneof(
  fc.constantFrom('', 'a', 'a ', 'a\t', ' a', '}', '\ra', 'é', '\u2028', 'a\rb', '  '),
  fc.string({ unit: 'binary', maxLength: 6 }).filter((s) => !s.includes('\n')),
)
const document = fc
  .tuple(fc.array(fc.tuple(content, fc.constantFrom('\n', '\r\n')), { maxLength: 12 }), fc.boolean(), content)
  .map(([rows, bom, last]) => Document.fromText((bom ? '\uFEFF' : '') + rows.map((r) => r.join('')).join('') + last))

t.test('lines of documents share a number exactly when they are equal without trailing blanks', async () => {
  fc.assert(
    fc.property(document, document, (from, to) => {
      const ids = lineIds(from, to)
      const texts = textIds(from.trimmedLines(), to.trimmedLines())
      deepStrictEqual([[...ids.from], [...ids.to]], [[...texts.from], [...texts.to]])
      deepStrictEqual(lineIds(from, from).from, lineIds(from, from).to)
    }),
    { numRuns: 1_000 },
  )
})

/** Texts of equal length in bytes whose FNV-1a hashes collide: `blocks` places where one of two words may stand. */
function colliding(blocks: number): string[] {
  const step = (state: number, word: string): number => {
    let hash = state
    for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193)
    return hash
  }
  let state = 0x811c9dc5 | 0
  let all = ['']
  for (let block = 0; block < blocks; block++) {
    const seen = new Map<number, string>()
    for (let n = 0; ; n++) {
      const word = `${Math.imul(n + 1, 0x9e3779b1) >>> 0}${Math.imul(n + 7, 0x85ebca6b) >>> 0}`.padEnd(20, '.')
      const next = step(state, word)
      const other = seen.get(next)
      if (other !== undefined) {
        all = all.flatMap((text) => [text + word, text + other])
        state = next
        break
      }
      seen.set(next, word)
    }
  }
  return all
}

t.test('lines made to collide are told apart and cost no quadratic time', async (t) => {
  const lines = colliding(9)
  const from = Document.fromText(lines.join('\n'))
  const to = Document.fromText([...lines].reverse().join('\n'))
  const started = performance.now()
  const ids = lineIds(from, to)
  t.ok(performance.now() - started < 2_000)
  t.equal(ids.count, lines.length)
  t.ok(ids.to.every((id, i) => id === ids.from[lines.length - 1 - i]))
})

t.test('two wholly different texts of 50,000 lines are answered quickly', async (t) => {
  const text = (word: string, common: number): Document =>
    Document.fromText(Array.from({ length: 50_000 }, (_, i) => (i % common === 0 ? '}' : `${word} ${i}\n`)).join('\n'))
  const started = performance.now()
  t.ok('runs' in documentMap(text('old', 1e9), text('new', 1e9), { maxEdits: 2_000, timeMs: 500 }))
  documentMap(text('old', 3), text('new', 4), { maxEdits: 2_000, timeMs: 500 })
  const shuffled = Array.from({ length: 50_000 }, (_, i) => `line ${(i * 7_919) % 50_000}`)
  t.strictSame(lineMap(shuffled, [...shuffled].sort(), { maxEdits: 2_000, timeMs: 500 }), { gaveUp: 'maxEdits' })
  t.ok(performance.now() - started < 3_000)
})
