/**
 * Verdicts on texts that were made from parsed ones: the same as on the text alone, for every language, along chains of edits, and never a tree for anything
 * else.
 */
import fc from 'fast-check'
import t from 'tap'
import { changedPart } from '../../src/syntax/changed-part.js'
import { samples } from './corpus.js'
import { host, languageOf } from './parsing.js'

const never = (): boolean => false

/** What an edit does to the rows of a text; what it breaks is as welcome as what it does not. */
const change = fc.record({
  at: fc.nat(),
  what: fc.constantFrom('cut', 'double', 'swap', 'indent', 'text'),
  row: fc.constantFrom('', '}', '{', '// é 😀', '"', '  x = 1', '*/', '<p>', 'end', '# x', '😀'),
})

function changed(text: string, { at, what, row }: { at: number; what: string; row: string }): string {
  const rows = text.split('\n')
  const i = at % rows.length
  const own = rows[i] ?? ''
  const next = { cut: [], double: [own, own], swap: [rows[i + 1] ?? '', own], indent: [`  ${own}`], text: [row] }[what]
  rows.splice(i, what === 'swap' ? 2 : 1, ...(next ?? []))
  return rows.join('\n')
}

for (const name of new Set(samples.map(({ language }) => language)))
  t.test(`${name}: a text that follows another has the verdict it has alone`, async (t) => {
    const own = samples.filter(({ language }) => language === name)
    let followed = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...own),
        fc.array(change, { minLength: 1, maxLength: 6 }),
        ({ path, text }, changes) => {
          const language = languageOf(path, text)
          let from = text
          for (const each of changes) {
            const to = changed(from, each)
            const verdict = host.follows(language, from, to, never)
            const alone = host.parse(language, to, never)?.clean
            if (verdict?.clean !== alone) throw new Error(`${String(verdict?.clean)}, alone ${String(alone)}:\n${to}`)
            followed++
            from = to
          }
        },
      ),
      { numRuns: 100 },
    )
    t.ok(followed > 0)
  })

t.test('the changed part is all that differs and cuts no character', async (t) => {
  const some = fc.string({ unit: fc.constantFrom('a', 'b', '\n', 'é', '😀', '😁', '\ud83d', '\ude00'), maxLength: 12 })
  fc.assert(
    fc.property(some, some, (from, to) => {
      const { startIndex, oldEndIndex, newEndIndex, startPosition, oldEndPosition, newEndPosition } = changedPart(
        from,
        to,
      )
      const rebuilt = from.slice(0, startIndex) + to.slice(startIndex, newEndIndex) + from.slice(oldEndIndex)
      if (rebuilt !== to || startIndex > oldEndIndex || startIndex > newEndIndex) return false
      const placed = (text: string, index: number, place: { row: number; column: number }): boolean => {
        const above = text.slice(0, index).split('\n')
        return place.row === above.length - 1 && place.column === (above.at(-1) ?? '').length
      }
      return (
        placed(from, startIndex, startPosition) &&
        placed(from, oldEndIndex, oldEndPosition) &&
        placed(to, newEndIndex, newEndPosition)
      )
    }),
    { numRuns: 3_000 },
  )
  t.equal(changedPart('a😀b', 'a😁b').startIndex, 1, 'a pair is not halved at its start')
  t.equal(changedPart('a\ud83d\ude00b', 'a\ud83c\ude00b').oldEndIndex, 3, 'nor at its end')
})

t.test('a tree that was made out of another one answers for no block', async (t) => {
  const language = languageOf('a.ts', '')
  const text = (value: number): string => `function f() {\n  return ${value}\n}\n`
  for (let i = 0; i < 3; i++) t.match(host.follows(language, 'a.ts', text(i), never), { clean: true })
  const whole = host.parse(language, text(2), never)
  t.ok(whole?.clean === true && whole.blocks.at(1).found)
})

t.test('a text in another language, or far from the one before, is judged like any', async (t) => {
  const [ts, py] = [languageOf('a.ts', ''), languageOf('a.py', '')]
  t.match(host.follows(ts, 'a', 'let x = 1\n', never), { clean: true })
  t.match(host.follows(py, 'a', 'x = 1\n', never), { clean: true })
  t.match(host.follows(ts, 'a', '', never), { clean: true })
  t.match(host.follows(ts, 'a', 'function (', never), { clean: false, errorRow: 0 })
  t.match(host.follows(ts, 'a', 'class A {}\r\n', never), { clean: true })
})
