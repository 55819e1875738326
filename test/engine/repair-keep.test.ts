/**
 * Rows that a range swallowed, case by case (contract §8.4); what must not be kept has as many cases as what must. The notation stands in repair-notation.ts.
 */
import t from 'tap'
import type { ToolError } from '../../src/errors/tool-error.js'
import type { ParseVerdict } from '../../src/text/facts.js'
import { golden, outcome, repaired } from './repair-notation.js'

golden('a swallowed closer is kept below the body', [
  [
    'ok.ts',
    'export function f() {⏎  return 1;⏎}⏎export const k = 2;',
    'PUT 2.=3:⏎+  return 3;',
    'export function f() {⏎  return 3;⏎}⏎export const k = 2; ## kept 3',
  ],
  [
    'h.ts',
    'const handlers = {⏎  a() {⏎    return 1⏎  },⏎}⏎export { handlers }',
    'PUT 5.=5:⏎+  b() {⏎+    return 2⏎+  },',
    'const handlers = {⏎  a() {⏎    return 1⏎  },⏎  b() {⏎    return 2⏎  },⏎}⏎export { handlers } ## kept 5',
  ],
  [
    'a.tsx',
    'useEffect(() => {⏎  a();⏎}, [a, b]);⏎c();',
    'PUT 2.=3:⏎+  z();',
    'useEffect(() => {⏎  z();⏎}, [a, b]);⏎c(); ## kept 3',
  ],
  [
    'a.tsx',
    'const v = (⏎  <div⏎    a="1"⏎  >⏎    text⏎  </div>⏎);',
    'PUT 3.=4:⏎+    b="1"',
    'const v = (⏎  <div⏎    b="1"⏎  >⏎    text⏎  </div>⏎); ## kept 4',
  ],
  ['a.html', '<ul>⏎  <li>a</li>⏎</ul>', 'PUT 2.=3:⏎+  <li>b</li>', '<ul>⏎  <li>b</li>⏎</ul> ## kept 3'],
  ['a.sh', 'if a; then⏎  b⏎fi', 'PUT 2.=3:⏎+  c', 'if a; then⏎  c⏎fi ## kept 3'],
  ['a.py', 'x = f(⏎    1,⏎    2,⏎)⏎y = 1', 'PUT 3.=4:⏎+    3,', 'x = f(⏎    1,⏎    3,⏎)⏎y = 1 ## kept 4'],
  [
    'a.css',
    '.a {⏎  color: red;⏎}⏎⏎.b {⏎  color: blue;⏎}',
    'PUT 2.=3:⏎+  color: green;',
    '.a {⏎  color: green;⏎}⏎⏎.b {⏎  color: blue;⏎} ## kept 3',
  ],
  ['a.toml', 'a = [⏎  1,⏎  2,⏎]⏎b = 1', 'PUT 3.=4:⏎+  3,', 'a = [⏎  1,⏎  3,⏎]⏎b = 1 ## kept 4'],
  ['a.json', '{⏎  "a": [⏎    1⏎  ],⏎  "b": 2⏎}', 'PUT 3.=4:⏎+    2', '{⏎  "a": [⏎    2⏎  ],⏎  "b": 2⏎} ## kept 4'],
  [
    'a.rs',
    'fn a() {⏎    match x {⏎        1 => {⏎            b();⏎        }⏎        _ => {}⏎    }⏎}',
    'PUT 4.=5:⏎+            c();⏎+            d();',
    'fn a() {⏎    match x {⏎        1 => {⏎            c();⏎            d();⏎        }⏎        _ => {}⏎    }⏎} ## kept 5',
  ],
  // The whole construct is replaced and its closer forgotten.
  [
    'a.ts',
    'function f() {⏎  return 1;⏎}⏎g()',
    'PUT 1.=3:⏎+async function f() {⏎+  return 3;',
    'async function f() {⏎  return 3;⏎}⏎g() ## kept 3',
  ],
  [
    'a.ts',
    'function f() {⏎  return 1;⏎}⏎g()',
    'PUT 1*:⏎+function f() {⏎+  return 3;',
    'function f() {⏎  return 3;⏎}⏎g() ## kept 3',
  ],
  // A clause closes one part and opens the next.
  ['a.py', 'x = 1⏎if x:⏎    a()⏎else:⏎    c()', 'PUT 3.=4:⏎+    z()', 'x = 1⏎if x:⏎    z()⏎    c()'],
  [
    'a.ts',
    'if (a) {⏎  x();⏎} else {⏎  y();⏎}',
    'PUT 2.=3:⏎+  if (b) {⏎+    z();',
    'if (a) {⏎  if (b) {⏎    z();⏎  y();⏎}',
  ],
  ['a.ts', '/**⏎ * Adds.⏎ */⏎f()', 'PUT 2.=3:⏎+ * Adds two.', '/**⏎ * Adds two.⏎ */⏎f() ## kept 3'],
])

golden('the blank rows that end a range do not hide its last row', [
  ['a.ts', 'function f() {⏎  return 1;⏎}⏎⏎g()', 'PUT 2.=4:⏎+  return 2;', 'function f() {⏎  return 2;⏎}⏎g() ## kept 3'],
  [
    'a.ts',
    'function f() {⏎  return 1;⏎}⏎⏎g()',
    'PUT 2.=4:⏎+  return 2;⏎+',
    'function f() {⏎  return 2;⏎}⏎⏎g() ## kept 3',
  ],
  [
    'a.ts',
    'function f() {⏎  return 1;⏎}⏎⏎⏎g()',
    'PUT 2.=5:⏎+  return 2;⏎+',
    'function f() {⏎  return 2;⏎}⏎⏎g() ## kept 3',
  ],
])

golden('a swallowed opener is kept above the body', [
  [
    'a.ts',
    'function f() {⏎  return 1;⏎}',
    'PUT 1.=2:⏎+  x();⏎+  return 3;',
    'function f() {⏎  x();⏎  return 3;⏎} ## kept 1',
  ],
  [
    'a.ts',
    'function f() {⏎  return 1;⏎}⏎g()',
    'PUT 1.=3:⏎+  x();⏎+  return 3;⏎+}',
    'function f() {⏎  x();⏎  return 3;⏎}⏎g() ## kept 1',
  ],
  [
    'a.tsx',
    'const v = (⏎  <ul>⏎    <Old />⏎  </ul>⏎);',
    'PUT 2.=3:⏎+    <New />',
    'const v = (⏎  <ul>⏎    <New />⏎  </ul>⏎); ## kept 2',
  ],
  [
    'a.py',
    'x = 1⏎if x:⏎    a()⏎    b()⏎else:⏎    c()',
    'PUT 2.=3:⏎+    z()',
    'x = 1⏎if x:⏎    z()⏎    b()⏎else:⏎    c() ## kept 2',
  ],
  [
    'a.ts',
    'switch (a) {⏎  case 1:⏎    x();⏎  case 2:⏎    y();⏎}',
    'PUT 2.=3:⏎+    z();',
    'switch (a) {⏎  case 1:⏎    z();⏎  case 2:⏎    y();⏎} ## kept 2',
  ],
  ['a.ts', '/**⏎ * Adds.⏎ */⏎f()', 'PUT 1.=2:⏎+ * Adds two.', '/**⏎ * Adds two.⏎ */⏎f() ## kept 1'],
])

golden('a range that begins or ends one row into the neighbouring construct', [
  ['a.ts', 'function f() {⏎  a();⏎}⏎b();', 'PUT 3.=3:⏎+c();', 'function f() {⏎  a();⏎}⏎c();⏎b(); ## kept 3'],
  [
    'a.ts',
    'function f() {⏎  a();⏎}⏎⏎function g() {⏎  b();⏎}',
    'PUT 1.=5:⏎+function f() {⏎+  c();⏎+}',
    'function f() {⏎  c();⏎}⏎function g() {⏎  b();⏎} ## kept 5',
  ],
  [
    'a.ts',
    'function f() {⏎  a();⏎}⏎function g() {⏎  b();⏎}',
    'PUT 3.=4:⏎+function h() {',
    'function f() {⏎  a();⏎}⏎function h() {⏎  b();⏎} ## kept 3',
  ],
  [
    'a.css',
    '.a {⏎  color: red;⏎}⏎⏎.b {⏎  color: blue;⏎}',
    'PUT 2.=5:⏎+  color: green;⏎+}⏎+',
    '.a {⏎  color: green;⏎}⏎⏎.b {⏎  color: blue;⏎} ## kept 5',
  ],
  [
    'a.ts',
    '/**⏎ * Adds.⏎ */⏎function f() {⏎}',
    'PUT 3.=4:⏎+function g() {',
    '/**⏎ * Adds.⏎ */⏎function g() {⏎} ## kept 3',
  ],
])

golden('a row is never kept because the text parses with it', [
  // No boundary: a member beside a stray comma.
  ['a.json', '{⏎  "a": 1,⏎  "b": 2⏎}', 'PUT 3.=3:⏎+  "c": 3,', '{⏎  "a": 1,⏎  "c": 3,⏎}'],
  // The closer of what was replaced whole, by something else.
  [
    'a.ts',
    'function f() {⏎  return 1;⏎}⏎g()',
    'PUT 1.=3:⏎+class Other {⏎+  static x = 1;',
    'class Other {⏎  static x = 1;⏎g()',
  ],
  ['a.ts', 'if (a) {⏎  x();⏎}⏎g()', 'PUT 1.=3:⏎+if (b) {', 'if (b) {⏎g()'],
  // Nested in another way than what was there.
  [
    'a.ts',
    'function f() {⏎  return 1;⏎}⏎g()',
    'PUT 3.=3:⏎+      return 3;',
    'function f() {⏎  return 1;⏎      return 3;⏎g()',
  ],
  [
    'a.ts',
    'function f() {⏎  return 1;⏎}⏎g()',
    'PUT 2.=3:⏎+\treturn 3;',
    'function f() {⏎\treturn 3;⏎g() ## INDENT_STYLE_DIFFERS',
  ],
  ['a.ts', 'function f() {⏎  return 1;⏎}⏎g()', 'PUT 2.=3:⏎+return 3;', 'function f() {⏎return 3;⏎g()'],
  // A missing closer of the body's own, deeper down.
  [
    'a.ts',
    'function f() {⏎  return 1;⏎}⏎g()',
    'PUT 1.=3:⏎+function f() {⏎+  if (a) {⏎+    return 3;⏎+}',
    'function f() {⏎  if (a) {⏎    return 3;⏎}⏎g()',
  ],
  // The header is written again, indented anew.
  [
    'a.ts',
    'function f() {⏎  if (a) {⏎    b();⏎  }⏎}',
    'PUT 2.=3:⏎+    if (a) {⏎+      b();⏎+    }⏎+    c();',
    'function f() {⏎    if (a) {⏎      b();⏎    }⏎    c();⏎  }⏎}',
  ],
  // A sibling over a header alone is what the author wanted in its place.
  [
    'a.ts',
    'function f() {⏎  for (const a of b) {⏎    c(a);⏎  }⏎}',
    'PUT 2.=2:⏎+  b.forEach(c);',
    'function f() {⏎  b.forEach(c);⏎    c(a);⏎  }⏎}',
  ],
])

golden('nothing is kept when the text was broken before, and nothing when it parses', [
  ['a.ts', 'function f() {⏎  return 1;⏎}⏎let = ;', 'PUT 2.=3:⏎+  return 3;', 'function f() {⏎  return 3;⏎let = ;'],
  ['s.swift', 'if on {⏎    show(1)⏎}⏎show(2)', 'CUT 1.=1⏎PUT 2.=3:⏎+show(1)', 'show(1)⏎show(2)'],
  ['a.ts', 'if (on) {⏎  show(1)⏎}⏎show(2)', 'PUT 1.=3:⏎+show(1)', 'show(1)⏎show(2)'],
  [
    'l.rs',
    "fn a(s: &'static str) {⏎    p(s);⏎}⏎fn b<'t>(x: &'t str) {⏎    q(x);⏎}",
    "PUT 4.=6:⏎+fn b<'t>(x: &'t str) {⏎+    r(x);⏎+}",
    "fn a(s: &'static str) {⏎    p(s);⏎}⏎fn b<'t>(x: &'t str) {⏎    r(x);⏎}",
  ],
  ['a.py', 'def f():⏎    a()⏎    b()', 'PUT 1.=2:⏎+    x()', '    x()⏎    b()'],
])

golden('two ops that remove a wrapper leave no half behind', [
  ['a.ts', 'if (on) {⏎  show(1)⏎}⏎show(2)', 'CUT 1.=1⏎PUT 2.=3:⏎+show(1', 'show(1⏎show(2)'],
  [
    'a.ts',
    'function f() {⏎  if (on) {⏎    show(1)⏎  }⏎}',
    'CUT 2.=2⏎PUT 3.=4:⏎+    while (a) {⏎+      show(1)',
    'function f() {⏎    while (a) {⏎      show(1)⏎}',
  ],
  [
    'a.ts',
    'if (on) {⏎  show(1)⏎}⏎show(2)',
    'PUT 1.=1:⏎+if (off) {⏎PUT 2.=3:⏎+  show(3)',
    'if (off) {⏎  show(3)⏎}⏎show(2) ## kept 3',
  ],
])

golden('several ops: the fewest rows that make the text parse, and no more', [
  [
    'a.ts',
    'function f() {⏎  return 1;⏎}⏎⏎function g() {⏎  return 1;⏎}',
    'PUT 2.=3:⏎+  return 2;⏎PUT 6.=7:⏎+  return 2;',
    'function f() {⏎  return 2;⏎}⏎⏎function g() {⏎  return 2;⏎} ## kept 3, kept 7',
  ],
  [
    'a.ts',
    'function f() {⏎  return 1;⏎}⏎⏎function g() {⏎  return 1;⏎}',
    'PUT 2.=3:⏎+  return 2;⏎PUT 6.=6:⏎+  return 2;',
    'function f() {⏎  return 2;⏎}⏎⏎function g() {⏎  return 2;⏎} ## kept 3',
  ],
  [
    'n.rs',
    '#[export]⏎fn a() -> i32 {⏎    1⏎}⏎fn b() {}',
    'PUT 2.=4:⏎+#[export]⏎+fn a() -> i64 {⏎+    2',
    '#[export]⏎fn a() -> i64 {⏎    2⏎}⏎fn b() {} ## dropped 1, kept 4',
  ],
  [
    'a.ts',
    'const a = {⏎  b: 1,⏎};⏎c(⏎  1,⏎);',
    'PUT 2.=3:⏎+  b: 2,⏎PUT 4.=5:⏎+  2,',
    'const a = {⏎  b: 2,⏎};⏎c(⏎  2,⏎); ## kept 3, kept 4',
  ],
])

golden('two rows that only each other speaks for are not kept', [
  ['a.ts', 'f(() => {⏎  a();⏎}, () => {⏎  b();⏎});', 'PUT 2.=3:⏎+  a();⏎PUT 4.=5:⏎+  b();', 'f(() => {⏎  a();⏎  b();'],
])

golden('a row that could stand on either side of the body is refused', [
  [
    'a.ts',
    'f(() => {⏎  a();⏎});⏎g()',
    'PUT 3.=3:⏎+',
    'AMBIGUOUS "PUT 3.=3:" with line 3 kept above the body | "PUT 3.=3:" with line 3 kept below the body',
  ],
])

t.test('distinct texts at the lowest cost are refused, equal texts are not', async (t) => {
  const text = 'f {\n  a\n}\ng {\n  b\n}\n'
  const ops = 'PUT 2.=3:\n+  c\nPUT 5.=6:\n+  d'
  const broken: ParseVerdict = { verdict: 'broken', errorLine: 1 }
  // A language in which one brace may be missing, no matter which.
  const verdict = (_path: string, source: string): ParseVerdict =>
    source.split('}').length - 1 === (source.includes('  c') ? 1 : 2) ? { verdict: 'clean' } : broken
  t.equal(
    outcome('a.ts', text, ops, { verdict }),
    'AMBIGUOUS "PUT 2.=3:" with line 3 kept below the body | "PUT 5.=6:" with line 6 kept below the body',
  )
  const refusal = t.throws(() => repaired('a.ts', text, ops, { verdict })) as unknown as ToolError
  t.match(refusal.detail, /row 1 of ops: as written the file no longer parses.*CUT 2\.=3 with PUT >1:/)
})

t.test('a search that would be too large keeps nothing and says so', async (t) => {
  const count = 8
  const lines = Array.from({ length: count }, (_, i) => `function f${i}() {\n  return 1;\n}\n`).join('')
  const ops = Array.from({ length: count }, (_, i) => `PUT ${3 * i + 2}.=${3 * i + 3}:\n+  return 2;`).join('\n')
  const { ops: same, authored, warnings, verdicts } = repaired('a.ts', lines, ops)
  t.same(same, authored)
  t.same(
    warnings.map(({ code }) => code),
    ['REPAIR_NOT_EVALUATED'],
  )
  t.match(verdicts, { before: { verdict: 'clean' }, after: { verdict: 'broken' } })
  const five = repaired('a.ts', lines, ops.split('\n').slice(0, 10).join('\n'))
  t.equal(five.warnings.length, 5, 'five swallowed rows are within the bound')
})
