/**
 * Rows that restate the lines beside their range, case by case (contract §8.4, reading §6.1). The notation stands in repair-notation.ts.
 */
import t from 'tap'
import { ToolError } from '../../src/errors/tool-error.js'
import { golden, outcome, repaired } from './repair-notation.js'

golden('a row that restates the line beside its range is dropped, on line equality alone', [
  ['l.txt', 'a⏎b⏎c', 'PUT 2.=2:⏎+a⏎+x', 'a⏎x⏎c ## dropped 1'],
  ['l.txt', 'a⏎b⏎c', 'PUT 2.=2:⏎+x⏎+c', 'a⏎x⏎c ## dropped 3'],
  ['l.txt', 'a⏎b⏎c', 'PUT 2.=2:⏎+a⏎+x⏎+c', 'a⏎x⏎c ## dropped 1, dropped 3'],
  ['l.txt', 'a⏎b⏎c⏎d', 'PUT 2.=2:⏎+x⏎+c⏎+d', 'a⏎x⏎c⏎d ## dropped 3-4'],
  [
    'v.jsx',
    'const v = (⏎  <ul>⏎    <Old />⏎  </ul>⏎);',
    'PUT 3.=3:⏎+    <New />⏎+  </ul>',
    'const v = (⏎  <ul>⏎    <New />⏎  </ul>⏎); ## dropped 4',
  ],
  [
    'v.jsx',
    'const v = (⏎  <ul>⏎    <Old />⏎  </ul>⏎);',
    'PUT 3.=3:⏎+  <ul>⏎+    <New />⏎+  </ul>⏎+);',
    'const v = (⏎  <ul>⏎    <New />⏎  </ul>⏎); ## dropped 2, dropped 4-5',
  ],
  [
    'n.rs',
    '#[export]⏎fn a() -> i32 {⏎    1⏎}',
    'PUT 2.=2:⏎+#[export]⏎+fn a() -> i64 {',
    '#[export]⏎fn a() -> i64 {⏎    1⏎} ## dropped 1',
  ],
  [
    'a.py',
    '@wraps(f)⏎def g():⏎    return 1',
    'PUT 2*:⏎+@wraps(f)⏎+def g():⏎+    return 2',
    '@wraps(f)⏎def g():⏎    return 2 ## dropped 1',
  ],
])

golden('the longest run counts, also where a shorter one does not match', [
  ['l.txt', 'a⏎b⏎a⏎old⏎z', 'PUT 4.=4:⏎+a⏎+b⏎+a⏎+new', 'a⏎b⏎a⏎new⏎z ## dropped 1-2-3'],
  ['l.txt', 'a⏎b⏎old⏎z', 'PUT 3.=3:⏎+a⏎+b⏎+new', 'a⏎b⏎new⏎z ## dropped 1-2'],
  ['l.txt', 'z⏎old⏎a⏎b⏎a', 'PUT 2.=2:⏎+new⏎+a⏎+b⏎+a', 'z⏎new⏎a⏎b⏎a ## dropped 3-4-5'],
  ['l.txt', 'a⏎a⏎old⏎z', 'PUT 3.=3:⏎+a⏎+a⏎+a⏎+new', 'a⏎a⏎a⏎new⏎z ## dropped 1-2'],
])

golden('equality takes blanks seriously and terminators not at all', [
  ['l.txt', 'a⏎old⏎}', 'PUT 2.=2:⏎+new⏎+} ', 'a⏎new⏎} ⏎}'],
  ['l.txt', 'a⏎old⏎  }', 'PUT 2.=2:⏎+new⏎+}', 'a⏎new⏎}⏎  }'],
  ['l.txt', 'a⏎old⏎\t}', 'PUT 2.=2:⏎+new⏎+  }', 'a⏎new⏎  }⏎\t} ## INDENT_STYLE_DIFFERS'],
  ['l.txt', 'a\r⏎old\r⏎c\r⏎d\r', 'PUT 2.=2:⏎+new⏎+c', 'a\r⏎new\r⏎c\r⏎d\r ## dropped 3'],
  [
    'n.c',
    'void f() {⏎  if (a) {⏎    x();⏎  }⏎}',
    'PUT 3.=3:⏎+    if (b) {⏎+      x();⏎+    }',
    'void f() {⏎  if (a) {⏎    if (b) {⏎      x();⏎    }⏎  }⏎}',
  ],
])

golden('a run of blank rows is no echo; blank rows inside of a run are', [
  ['l.txt', 'a⏎⏎old⏎⏎z', 'PUT 3.=3:⏎+⏎+new⏎+', 'a⏎⏎⏎new⏎⏎⏎z'],
  ['l.txt', 'a⏎  ⏎old⏎z', 'PUT 3.=3:⏎+  ⏎+new', 'a⏎  ⏎  ⏎new⏎z'],
  ['l.txt', 'a⏎⏎old⏎z', 'PUT 3.=3:⏎+a⏎+⏎+new', 'a⏎⏎new⏎z ## dropped 1-2'],
  ['l.txt', 'z⏎old⏎⏎b', 'PUT 2.=2:⏎+new⏎+⏎+b', 'z⏎new⏎⏎b ## dropped 3-4'],
])

golden('a neighbour counts only when it survives the call with nothing in between', [
  ['l.txt', 'a⏎b⏎c', 'PUT 2.=2:⏎+a⏎+x⏎CUT 1.=1', 'a⏎x⏎c'],
  ['l.txt', 'a⏎b⏎c⏎d', 'PUT 2.=2:⏎+x⏎+c⏎PUT 3.=3:⏎+y', 'a⏎x⏎c⏎y⏎d'],
  ['l.txt', 'a⏎b⏎c', 'PUT >1:⏎+new⏎PUT 2.=2:⏎+a⏎+x', 'a⏎new⏎a⏎x⏎c'],
  ['l.txt', 'a⏎b⏎c', 'PUT 2.=2:⏎+x⏎+c⏎PUT <3:⏎+new', 'a⏎x⏎c⏎new⏎c'],
  ['l.txt', 'a⏎b⏎c⏎d', 'PUT >1:⏎+new⏎PUT 3.=3:⏎+a⏎+b⏎+x', 'a⏎new⏎b⏎a⏎b⏎x⏎d'],
  ['l.txt', 'a⏎b⏎c⏎d', 'PUT >1:⏎+new⏎PUT 3.=3:⏎+b⏎+x', 'a⏎new⏎b⏎x⏎d ## dropped 2'],
  ['l.txt', 'a⏎b⏎c', 'PUT 1.=1:⏎+x⏎+b⏎PUT 3.=3:⏎+b⏎+y', 'x⏎b⏎y ## dropped 2, dropped 2'],
])

golden('what parses as written and not without the restated row stays as written', [
  ['a.js', 'if (a) {⏎if (b) {⏎x();⏎}⏎}', 'PUT 3.=4:⏎+y();⏎+}', 'if (a) {⏎if (b) {⏎y();⏎}⏎}'],
  ['a.js', 'if (a) {⏎if (b) {⏎x();⏎}⏎}', 'PUT 3.=3:⏎+y();⏎+}', 'if (a) {⏎if (b) {⏎y();⏎}⏎} ## dropped 4'],
  // One of two runs is needed, the other is not.
  [
    'a.rs',
    '#[a]⏎fn f() {⏎if b {⏎x();⏎}⏎}',
    'PUT 2.=5:⏎+#[a]⏎+fn f() {⏎+if c {⏎+y();⏎+}',
    '#[a]⏎fn f() {⏎if c {⏎y();⏎}⏎} ## dropped 1',
  ],
  // Neither run alone, but both together.
  ['a.js', '{⏎old()⏎}', 'PUT 2.=2:⏎+{⏎+now()⏎+}', '{⏎now()⏎} ## dropped 1, dropped 3'],
])

golden('a body that is nothing but echo is refused, with every reading', [
  [
    'l.txt',
    'a⏎old⏎c',
    'PUT 2.=2:⏎+a⏎+c',
    'AMBIGUOUS as written | "PUT 2.=2:" without the rows that restate line 1 | "PUT 2.=2:" without the rows that restate line 3 | "PUT 2.=2:" without the rows that restate line 1; "PUT 2.=2:" without the rows that restate line 3',
  ],
  ['l.txt', 'a⏎old⏎c', 'PUT 2.=2:⏎+c', 'AMBIGUOUS as written | "PUT 2.=2:" without the rows that restate line 3'],
  [
    'l.txt',
    'a⏎b⏎old⏎b⏎a',
    'PUT 3.=3:⏎+a⏎+b⏎+a',
    'AMBIGUOUS as written | "PUT 3.=3:" without the rows that restate lines 1-2 | "PUT 3.=3:" without the rows that restate lines 4-5',
  ],
  [
    'a.json',
    '[⏎  0,⏎  1,⏎  2⏎]',
    'PUT 3.=3:⏎+  0,',
    'AMBIGUOUS as written | "PUT 3.=3:" without the rows that restate line 2',
  ],
  ['a.js', 'if (a) {⏎if (b) {⏎x();⏎}⏎}', 'PUT 4.=4:⏎+}', 'if (a) {⏎if (b) {⏎x();⏎}⏎}'],
])

t.test('the refusal shows the differing rows and spells what cannot be misread', async (t) => {
  const refusal = t.throws(() => repaired('l.txt', 'a\nold\nc\n', 'PUT 2.=2:\n+c')) as unknown as ToolError
  t.ok(refusal instanceof ToolError && refusal.is('EDIT_REPAIR_AMBIGUOUS'))
  t.match(refusal.fields['candidates'], [
    { label: 'as written', rows: [{ line: 3, text: 'c', clipped: false }] },
    { label: '"PUT 2.=2:" without the rows that restate line 3', rows: [] },
  ])
  t.match(refusal.detail, /^row 1 of ops: .*CUT 2\.=2 with PUT >1:/)
  t.equal(outcome('l.txt', 'a⏎old⏎c', 'CUT 2.=2⏎PUT >1:⏎+c'), 'a⏎c⏎c', 'the spelling means what it says')
  const first = t.throws(() => repaired('l.txt', 'old\nc\n', 'PUT 1.=1:\n+c')) as unknown as ToolError
  t.match(first.detail, /CUT 1\.=1 with PUT <1:/)
})

t.test('a repetitive body costs no more than its rows', async (t) => {
  const cost = (rows: number): number => {
    const half = 'a\n'.repeat(rows)
    const body = `${'+a\n'.repeat(rows - 1)}+b\n${'+a\n'.repeat(rows - 1)}+a`
    const started = performance.now()
    t.equal(repaired('l.txt', `${half}old\n${half}`, `PUT ${rows + 1}.=${rows + 1}:\n${body}`).warnings.length, 2)
    return performance.now() - started
  }
  cost(1_000)
  const small = cost(4_000)
  t.ok(cost(32_000) < 100 * Math.max(small, 1), 'eight times the rows cost far less than the square of that')
})
