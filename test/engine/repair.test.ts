/**
 * Boundary repair as a whole (contract §8.4, reading §6): what it leaves alone, what it only says, what it asks and hands on. The notation stands in repair-notation.ts.
 */
import t from 'tap'
import { applied, golden, repaired, unfold } from './repair-notation.js'

golden('without a known language only exact echoes change', [
  ['a.unknown', 'function f() {⏎  return 1;⏎}', 'PUT 2.=3:⏎+  return 3;', 'function f() {⏎  return 3;'],
  ['a.unknown', 'if a {⏎if b {⏎x⏎}⏎}', 'PUT 3.=4:⏎+y⏎+}', 'if a {⏎if b {⏎y⏎} ## dropped 5'],
])

golden(
  'a missing verdict removes nothing and keeps nothing, and says so',
  [
    ['a.ts', 'a()⏎b()⏎c()', 'PUT 2.=2:⏎+d()⏎+c()', 'a()⏎d()⏎c()⏎c() ## REPAIR_NOT_EVALUATED'],
    [
      'a.ts',
      'function f() {⏎  return 1;⏎}',
      'PUT 2.=3:⏎+  return 3;',
      'function f() {⏎  return 3; ## REPAIR_NOT_EVALUATED',
    ],
    // A tie is refused with or without a parser: a refusal changes no byte.
    [
      'a.ts',
      'a()⏎b()⏎c()',
      'PUT 2.=2:⏎+c()',
      'AMBIGUOUS as written | "PUT 2.=2:" without the rows that restate line 3',
    ],
    // Without a decision to make there is nothing to say.
    ['a.ts', 'a()⏎b()⏎c()', 'PUT 2.=2:⏎+d()', 'a()⏎d()⏎c()'],
    ['a.unknown', 'a⏎b⏎c', 'PUT 2.=2:⏎+d⏎+c', 'a⏎d⏎c ## dropped 3'],
  ],
  { verdict: () => ({ verdict: 'no-verdict', why: 'timed-out' }) },
)

golden(
  'register pastes are literal',
  [
    ['a.ts', 'a()⏎b()⏎c()⏎d()', 'CUT 1.=1 @r⏎PUT 3.=3 @r', 'b()⏎a()⏎d()'],
    ['a.ts', 'function f() {⏎  return 1;⏎}⏎x()', 'CUT 4.=4 @r⏎PUT 2.=3 @r', 'function f() {⏎x()'],
    ['l.txt', 'a⏎b⏎c', 'PUT 2.=2 @s', 'a⏎a⏎c⏎c'],
    ['l.txt', 'a⏎b⏎c', 'PUT >1 @s', 'a⏎a⏎c⏎b⏎c'],
  ],
  { registers: { s: ['a', 'c'] } },
)

golden('an insert that repeats its anchor is literal, and said', [
  ['e.txt', 'north⏎east⏎west', 'PUT >2:⏎+east⏎+new', 'north⏎east⏎east⏎new⏎west ## INSERT_REPEATS_ANCHOR'],
  ['e.txt', 'north⏎east⏎west', 'PUT <2:⏎+new⏎+east', 'north⏎new⏎east⏎east⏎west ## INSERT_REPEATS_ANCHOR'],
  ['e.txt', 'north⏎east', 'PUT <1:⏎+new⏎+north', 'new⏎north⏎north⏎east ## INSERT_REPEATS_ANCHOR'],
  ['e.txt', 'north⏎east⏎west', 'PUT >2:⏎+new⏎+east', 'north⏎east⏎new⏎east⏎west'],
  ['e.txt', 'north⏎east⏎west', 'PUT >2:⏎+new⏎+west', 'north⏎east⏎new⏎west⏎west'],
  ['e.txt', 'north⏎east⏎west', 'PUT >2:⏎+ east⏎+new', 'north⏎east⏎ east⏎new⏎west'],
  ['e.txt', 'a⏎}⏎b', 'PUT >2:⏎+}⏎+x', 'a⏎}⏎}⏎x⏎b'],
  ['e.txt', 'a⏎⏎b', 'PUT >2:⏎+⏎+x', 'a⏎⏎⏎x⏎b'],
  ['e.txt', 'a⏎b', 'PUT >$:⏎+b', 'a⏎b⏎b'],
  ['e.txt', 'a⏎b', 'CUT 1.=1⏎PUT <1:⏎+a', 'a⏎b'],
])

golden('a body of the other indent style is literal, and said', [
  ['t.go', 'func a() {⏎\tx()⏎}', 'PUT 2.=2:⏎+    y()', 'func a() {⏎    y()⏎} ## INDENT_STYLE_DIFFERS'],
  ['t.ts', 'function a() {⏎  x()⏎}', 'PUT >2:⏎+\ty()', 'function a() {⏎  x()⏎\ty()⏎} ## INDENT_STYLE_DIFFERS'],
  ['t.go', 'func a() {⏎\tx()⏎}', 'PUT 2.=2:⏎+\ty()⏎+    z()', 'func a() {⏎\ty()⏎    z()⏎}'],
  ['t.go', 'func a() {⏎\tx()⏎ z()⏎}', 'PUT 2.=2:⏎+    y()', 'func a() {⏎    y()⏎ z()⏎}'],
  ['t.go', 'func a() {⏎\tx()⏎}', 'PUT 2.=2:⏎+y()', 'func a() {⏎y()⏎}'],
  ['t.txt', 'a⏎b', 'PUT 2.=2:⏎+  y', 'a⏎  y'],
  ['t.txt', 'a⏎\t⏎b', 'PUT 3.=3:⏎+  y', 'a⏎\t⏎  y'],
])

t.test('a call asks for no more facts than a decision needs', async (t) => {
  const questions = (path: string, text: string, ops: string): { questions: string[]; texts: number } =>
    repaired(path, unfold(text), unfold(ops)).asked
  t.same(questions('a.ts', 'a()⏎b()⏎c()', 'PUT >2:⏎+b()⏎CUT 1.=1'), { questions: [], texts: 0 }, 'no replacement')
  t.same(questions('a.ts', 'a()⏎b()⏎c()', 'PUT 2.=2:⏎+d()'), { questions: [], texts: 0 }, 'no echo and no boundary')
  t.same(questions('a.txt', 'a⏎b⏎c', 'PUT 2.=2:⏎+d⏎+c'), { questions: ['language'], texts: 0 }, 'an echo, no language')
  t.same(questions('a.ts', 'a()⏎b()⏎c()', 'PUT 2.=2:⏎+d()⏎+c()'), { questions: ['language', 'verdicts'], texts: 2 })
  t.same(
    questions('a.ts', 'function f() {⏎  a()⏎}⏎c()', 'PUT 2.=3:⏎+  b()'),
    { questions: ['language', 'verdicts', 'verdicts'], texts: 4 },
    'as written, then the tagged text, the text without the row, and the text with it',
  )
})

t.test('verdicts are handed on, and a broken result always with that of the tagged text', async (t) => {
  const verdicts = (text: string, ops: string): unknown => repaired('a.ts', unfold(text), unfold(ops)).verdicts
  t.same(verdicts('a()⏎b()⏎c()', 'PUT 2.=2:⏎+d()⏎+c()'), { after: { verdict: 'clean' } })
  t.match(verdicts('function f() {⏎  a()⏎}⏎c()', 'PUT 2.=3:⏎+  b()'), {
    before: { verdict: 'clean' },
    after: { verdict: 'clean' },
  })
  t.match(verdicts('a()⏎b()⏎c()', 'PUT 2.=2:⏎+d(⏎+c()'), { before: { verdict: 'clean' }, after: { verdict: 'broken' } })
  t.equal(verdicts('a()⏎b()⏎c()', 'PUT 2.=2:⏎+d('), undefined)
})

t.test('a kept row keeps its bytes, a restated line is an echo to be proven', async (t) => {
  const text = '#[export]\r\nfn a() -> i32 {\n    1\n}  \r\nfn b() {}\n'
  const { ops, base } = repaired('n.rs', text, 'PUT 2.=4:\n+#[export]\n+fn a() -> i64 {\n+    2')
  t.equal(applied(base, ops).rawText(), '#[export]\r\nfn a() -> i64 {\n    2\n}  \r\nfn b() {}\n')
  const [op] = ops
  t.same(op?.echoes.map(String), ['[1,2)'])
  t.same(op?.anchors.map(String), ['[2,5)'], 'a kept row stays an anchor')
  t.same(
    op?.replacements.map((r) => [String(r.range), r.rows]),
    [['[2,4)', ['fn a() -> i64 {', '    2']]],
  )
})
