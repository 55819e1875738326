/** What the patch language accepts and refuses, case by case. */
import t from 'tap'
import { checkOpsBytes, parseOps } from '../../src/patch/parser.js'
import { ToolError } from '../../src/errors/tool-error.js'
import type { ParseProblem } from '../../src/errors/parse-problems.js'
import { accepted, refused } from './cases.js'
import { outcome, unfold, verdict } from './notation.js'

t.test('accepted ops mean what the table says', async (t) => {
  t.strictSame(
    accepted.map(([ops]) => [ops, verdict(unfold(ops))]),
    accepted,
  )
})

t.test('refused ops name the row, the fault and what to write', async (t) => {
  t.strictSame(
    refused.map(([ops]) => [ops, verdict(unfold(ops))]),
    refused,
  )
})

t.test('every problem of the closed list has a case', async (t) => {
  const cases: Record<ParseProblem['kind'], number> = {
    'no op': 0,
    'not an op': 0,
    'no verb': 0,
    'body before op': 0,
    'file header not first': 0,
    'file header form': 0,
    'remove beside others': 0,
    'escaped line feed': 0,
    'empty row in body': 0,
    'row of blanks': 0,
    'missing plus': 0,
    'indented plus': 0,
    'minus row': 0,
    'old row': 0,
    'numbered body row': 0,
    'missing body': 0,
    'missing colon': 0,
    'rows under paste': 0,
    'rows under cut': 0,
    'leading blank': 0,
    'verb case': 0,
    spacing: 0,
    'leading zero': 0,
    'line zero': 0,
    'single number': 0,
    'range separator': 0,
    'open range': 0,
    'range to the end': 0,
    placeholder: 0,
    locator: 0,
    'several ranges': 0,
    'block before': 0,
    'block at end': 0,
    'end of file': 0,
    'text behind colon': 0,
    'text behind header': 0,
    'colon after cut': 0,
    'cut at gap': 0,
    'missing register': 0,
    'register with colon': 0,
    'register sigil': 0,
    'text behind REM': 0,
    'no destination': 0,
    'empty destination': 0,
    'open quote': 0,
    'text behind quote': 0,
    'unknown escape': 0,
    'unknown verb': 0,
    'retired verb': 0,
    'foreign syntax': 0,
    'numbered rows': 0,
    'register name': 0,
    'rows under': 0,
    'second move': 0,
  }
  for (const [ops] of refused) {
    const error = outcome(unfold(ops))
    if (error instanceof ToolError && error.is('EDIT_PARSE_FAILED')) cases[error.params.problem.kind]++
  }
  t.strictSame(
    Object.entries(cases).filter(([, count]) => count === 0),
    [],
  )
})

t.test('a refusal quotes the row and ends in the next step', async (t) => {
  const error = outcome('CUT 1.=1\nPUT 5-7:\n+x')
  if (!(error instanceof ToolError)) throw new Error('accepted')
  t.equal(error.detail, 'row 2 of ops: the two numbers of a range are joined by .=; found "PUT 5-7:"; write PUT 5.=7:')
  t.strictSame(error.fields, { opsLine: 2, found: 'PUT 5-7:', suggestion: 'PUT 5.=7:' })
})

t.test('an example is public as the suggestion too', async (t) => {
  const error = outcome('PUT N.=M:\n+x')
  if (!(error instanceof ToolError)) throw new Error('accepted')
  t.match(error.detail, /; for example PUT 5\.=7:\n\+new text$/)
  t.strictSame(error.fields, { opsLine: 1, found: 'PUT N.=M:', suggestion: 'PUT 5.=7:\n+new text' })
})

t.test('a long row is quoted shortened and never inside a surrogate pair', async (t) => {
  for (const start of ['', 'x']) {
    const error = outcome(`PUT 1.=1:\n${start}${'🦀'.repeat(400)}`)
    if (!(error instanceof ToolError)) throw new Error('accepted')
    t.notMatch(error.detail + JSON.stringify(error.fields), /\\ud[89a-f]|\p{Surrogate}/u)
    t.ok(error.detail.length < 600, `${error.detail.length} units`)
  }
})

t.test('rows may end in CRLF, and a CR that is content stays', async (t) => {
  t.equal(verdict('PUT 1.=1:\r\n+x\r\n\r\nCUT 3.=3\r\n'), 'put 1.=1 |x| ; cut 3.=3')
  t.strictSame(parseOps('PUT 1.=1:\n+a\rb\r\r\n+c\r').ops[0], {
    kind: 'put',
    opsLine: 1,
    header: 'PUT 1.=1:',
    at: { kind: 'range', first: 1, last: 1 },
    rows: ['a\rb\r', 'c\r'],
  })
})

t.test('an op keeps its row and its header as written', async (t) => {
  const ops = parseOps('\n[a b.ts#a1b2]\t\n\nPUT <5 @r  \nMV "x\\"y" \nPUT 1.=1:\n+z\n\n\nCUT 2*')
  t.strictSame(ops.named, { path: 'a b.ts', tag: 'A1B2', opsLine: 2 })
  t.strictSame(
    ops.ops.map((op) => [op.opsLine, op.header]),
    [
      [4, 'PUT <5 @r'],
      [5, 'MV "x\\"y"'],
      [6, 'PUT 1.=1:'],
      [10, 'CUT 2*'],
    ],
  )
})

t.test('line numbers have at most seven digits', async (t) => {
  t.equal(verdict('CUT 1.=9999999'), 'cut 1.=9999999')
  t.equal(verdict('PUT >9999999 @r'), 'paste >9999999 @r')
  for (const ops of ['CUT 1.=10000000', 'CUT 10000000*', 'PUT <10000000 @r', 'PUT >10000000*:⏎+x', 'CUT 10000000'])
    t.equal(verdict(unfold(ops)), '1 EDIT_RANGE_INVALID number too long', ops)
  t.equal(verdict(`CUT 1.=${'9'.repeat(200_000)}`), '1 EDIT_RANGE_INVALID number too long')
  t.equal(verdict(`CUT ${'0'.repeat(250)}7.=9`), '1 leading zero = CUT 7.=9')
})

t.test('a register name has at most 32 characters', async (t) => {
  const name = 'a_-Z'.repeat(8)
  t.equal(verdict(`CUT 1.=1 @${name}`), `cut 1.=1 @${name}`)
  t.equal(verdict(`CUT 1.=1 @${name}x`), `1 register name = CUT 1.=1 @${name}`)
})

t.test('200 ops are accepted and 201 are not', async (t) => {
  t.equal(parseOps('CUT 1.=1\n'.repeat(200)).ops.length, 200)
  const error = outcome('CUT 1.=1\n'.repeat(201))
  t.ok(error instanceof ToolError && error.is('INVALID_ARGUMENT'))
  t.match(error, { params: { issues: [{ path: 'ops', message: /more than 200 ops/ }] } })
})

t.test('the bounds are arguments', async (t) => {
  const bounds = { opsBytes: 10, opsPerCall: 1, lineNumberDigits: 2, registerNameChars: 3 }
  t.throws(() => checkOpsBytes('CUT 1.=1 @a', bounds), { code: 'INVALID_ARGUMENT', params: { limitBytes: 10 } })
  t.throws(() => parseOps('CUT 1.=1\nCUT 2.=2', bounds), { code: 'INVALID_ARGUMENT' })
  t.throws(() => parseOps('CUT 1.=100', bounds), { code: 'EDIT_RANGE_INVALID' })
  t.throws(() => parseOps('CUT 1.=1 @abcd', bounds), { code: 'EDIT_PARSE_FAILED', detail: /write CUT 1\.=1 @abc$/ })
})

t.test('ops of 262,144 UTF-8 bytes pass the check and one more does not', async (t) => {
  checkOpsBytes('x'.repeat(262_144))
  checkOpsBytes('é'.repeat(131_072))
  for (const ops of ['x'.repeat(262_145), 'é'.repeat(131_073)])
    t.throws(() => checkOpsBytes(ops), {
      code: 'INVALID_ARGUMENT',
      detail: /^ops: has 26214\d bytes, the limit is 262144;/,
      params: { issues: [{ path: 'ops' }], limitBytes: 262_144 },
    })
})

t.test('a NUL and half a surrogate pair are refused with their row', async (t) => {
  checkOpsBytes('PUT 1.=1:\n+🦀\u{10FFFF}')
  t.throws(() => checkOpsBytes('PUT 1.=1:\n+a\0b'), { code: 'INVALID_ARGUMENT', detail: /^ops: row 2 holds a NUL/ })
  for (const half of ['\ud83e', '\udd80', '\udd80\ud83e'])
    t.throws(() => checkOpsBytes(`PUT 1.=1:\n\n+${half}`), {
      code: 'INVALID_ARGUMENT',
      detail: /^ops: row 3 holds half/,
    })
})

t.test('no payload of the largest size takes more than linear time', async (t) => {
  const size = 262_144
  const fill = (start: string, unit: string, end = ''): string =>
    start + unit.repeat(Math.floor((size - start.length - end.length) / unit.length)) + end
  const payloads = [
    fill('', '\n'),
    fill('', '\r\n'),
    fill('', '+'),
    fill('', '+\n'),
    fill('PUT 1.=1:\n', '+\n'),
    fill('PUT 1.=1:\n', '\n', '+x'),
    fill('PUT 1.=1:\n', '-\n'),
    fill('PUT 1.=1:\n', '- \n', '+- x'),
    fill('PUT 1.=1:\n', '+x\n', '-x'),
    fill('', 'PUT >1:\n'),
    fill('', 'PUT >1\n'),
    fill('', 'CUT 1.=1\n'),
    fill('', 'MV a\n'),
    fill('', '1:x\n'),
    fill('', ' '),
    fill('', ' \n'),
    fill('', '\t\r'),
    fill('PUT 1.=1:', ' ', 'x'),
    fill('PUT 1.=1:', ' '),
    fill('PUT', ' ', '1.=1:'),
    fill('CUT 1.=1', ', 1.=1'),
    fill('CUT 1.=1 @', 'a'),
    fill('CUT 1.=1 @', ' '),
    fill('PUT 1.=1:', '\\n'),
    fill('PUT 1.=1:', '\\n+'),
    fill('MV "', '\\"'),
    fill('MV "', 'a', '"'),
    fill('MV', ' ', 'x'),
    fill('REM', ' ', 'x'),
    fill('[', '#AAAA]', 'x'),
    fill('[', '#AAAA] ', 'x'),
    fill('[', '[#'),
    fill('', '1'),
    fill('CUT ', '0'),
    fill('', 'A.'),
    fill('PUT 1.=1:\n', 'x'),
    fill('PUT 1.=1:\n', ' ', '+'),
    fill('', '<'),
    fill('', '🦀'.slice(0, 1) + 'x'),
  ]
  for (const ops of payloads) {
    const before = performance.now()
    outcome(ops)
    const ms = performance.now() - before
    t.ok(ms < 2_000, `${JSON.stringify(ops.slice(0, 16))}… takes ${ms.toFixed(0)} ms`)
  }
})
