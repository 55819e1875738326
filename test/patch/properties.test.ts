/** Laws of the patch language. fast-check prints the seed of a failure. */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import fc from 'fast-check'
import { ToolError } from '../../src/errors/tool-error.js'
import { parseOps } from '../../src/patch/parser.js'
import { destinationText, headerText, printOps } from '../../src/patch/print.js'
import type { Gap, Op, Patch, Span } from '../../src/patch/ops.js'
import { refused } from './cases.js'
import { outcome, refusalText, unfold } from './notation.js'

const line = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 9_999_999 }))
const span: fc.Arbitrary<Span> = fc.oneof(
  fc.tuple(line, line).map(([a, b]) => ({ kind: 'range' as const, first: Math.min(a, b), last: Math.max(a, b) })),
  line.map((at) => ({ kind: 'block' as const, line: at })),
)
const gap: fc.Arbitrary<Gap> = fc.oneof(
  fc.constant({ kind: 'end' as const }),
  fc
    .tuple(fc.constantFrom('before' as const, 'after' as const, 'afterBlock' as const), line)
    .map(([kind, at]) => ({ kind, line: at })),
)
const register = fc.stringMatching(/^[A-Za-z0-9_-]{1,32}$/)
const tricky = fc.constantFrom(
  '',
  '+',
  '-',
  '- x',
  'PUT 1.=1:',
  '[a#1234]',
  '2:x',
  '\r',
  'x\r',
  '\t',
  ' x ',
  '\\n',
  '"',
)
const text = fc.oneof(tricky, fc.string({ unit: 'binary', maxLength: 12 })).filter((s) => !s.includes('\n'))
const dest = text.filter((s) => s !== '')

type Bare = Op extends infer O ? (O extends Op ? Omit<O, 'opsLine' | 'header'> : never) : never

const located: fc.Arbitrary<Bare> = fc.oneof(
  fc.record({
    kind: fc.constant('put' as const),
    at: fc.oneof(gap, span),
    rows: fc.array(text, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant('paste' as const), at: gap }),
  fc.record({ kind: fc.constant('paste' as const), at: fc.oneof(gap, span), register }),
  fc.record({ kind: fc.constant('cut' as const), at: span }),
  fc.record({ kind: fc.constant('cut' as const), at: span, register }),
)
const move: fc.Arbitrary<Bare & { quoted?: boolean }> = fc.record({
  kind: fc.constant('move' as const),
  dest,
  quoted: fc.boolean(),
})
const bareOps = fc.oneof(
  { weight: 6, arbitrary: fc.array(located, { minLength: 1, maxLength: 6 }) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.array(located, { maxLength: 3 }), move, fc.array(located, { maxLength: 3 }))
      .map(([above, mv, below]) => [...above, mv, ...below]),
  },
  { weight: 1, arbitrary: fc.constant<Bare[]>([{ kind: 'remove' }]) },
)
const named = fc.option(
  fc.record({
    path: fc
      .oneof(fc.constantFrom('a.ts', 'app/[id]#2.tsx', 'a#1234]b', '[x'), text)
      .filter((path) => path !== '' && path.length < 40),
    tag: fc.stringMatching(/^[0-9A-F]{4}$/),
  }),
  { nil: undefined },
)

/** Every patch the grammar can express: rows of `ops` and headers are filled in, with `blanks` empty rows over each header. */
const patch: fc.Arbitrary<Patch> = fc
  .tuple(named, bareOps, fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 8, maxLength: 8 }))
  .map(([named, ops, blanks]) => {
    let row = 0
    const place = (i: number): number => (row += 1 + (blanks[i] ?? 0))
    const head = named === undefined ? {} : { named: { ...named, opsLine: place(7) } }
    const placed = ops.map((op, i): Op => {
      const opsLine = place(i)
      if (op.kind === 'put') row += op.rows.length
      if (op.kind !== 'move') return { ...op, opsLine, header: headerText(op) }
      const quoted = 'quoted' in op && op.quoted === true
      const written = quoted ? `"${op.dest.replace(/["\\]/g, '\\$&')}"` : destinationText(op.dest)
      return { kind: 'move', dest: op.dest, opsLine, header: `MV ${written}` }
    })
    return { ...head, ops: placed }
  })

/** A law is a property that holds for every generated value; a failure names seed and counterexample. */
function law<T>(name: string, values: fc.Arbitrary<T>, holds: (value: T) => boolean, numRuns = 500): void {
  t.test(name, async (t) => {
    t.doesNotThrow(() => fc.assert(fc.property(values, holds), { numRuns }))
  })
}

law('parse(print(x)) = x', patch, (x) => isDeepStrictEqual(parseOps(printOps(x)), x))

law('ops with CRLF parse as the same ops with LF', patch, (x) => {
  const ops = printOps(x)
  // A CR that is content would stand before the LF; printing shows how that is written.
  fc.pre(!ops.includes('\r'))
  return isDeepStrictEqual(parseOps(ops.replaceAll('\n', '\r\n')), x)
})

law('blanks behind headers and empty rows at the end change nothing', patch, (x) => {
  const headers = new Set([...x.ops.map((op) => op.opsLine), x.named?.opsLine])
  const rows = printOps(x).split('\n')
  const loose = rows.map((row, i) => (headers.has(i + 1) ? `${row} \t` : row)).join('\n')
  return isDeepStrictEqual(parseOps(`${loose}\n\n`), x)
})

/** Parses, or refuses with a code of the patch language, a row of `ops` and a next step. */
function isAnswer(ops: string): boolean {
  const result = outcome(ops)
  if (!(result instanceof ToolError)) return result.ops.length > 0
  if (result.is('EDIT_PARSE_FAILED')) {
    const { opsLine, suggestion, example } = result.params
    const inside = opsLine >= 1 && opsLine <= ops.split('\n').length
    return inside && /; (?:write|for example) ./s.test(result.detail) && (suggestion ?? example) !== ''
  }
  return result.is('EDIT_RANGE_INVALID', 'INVALID_ARGUMENT') && result.detail !== ''
}

law(
  'every prefix of valid ops parses or is refused with a code of the language',
  patch,
  (x) => {
    const ops = printOps(x)
    return Array.from({ length: Math.min(ops.length, 200) }, (_, end) => ops.slice(0, end)).every(isAnswer)
  },
  60,
)

const letters = Array.from(' +-*<>$@:.=,0123456789PUTCRMEVputx"\\[]#{`/\r\n\t')
const alphabet = fc.constantFrom(...letters, '\ufeff', '🦀', '.=', '\n+', 'CUT ', 'SWAP ')
type Change = { kind: 'insert' | 'delete' | 'replace' | 'swap' | 'double'; at: number; text: string }
const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('insert', 'delete', 'replace', 'swap', 'double'),
  at: fc.nat(200),
  text: alphabet,
})

function damaged(ops: string, changes: readonly Change[]): string {
  return changes.reduce((ops, { kind, at, text }) => {
    const i = at % (ops.length + 1)
    const rows = ops.split('\n')
    const r = at % rows.length
    switch (kind) {
      case 'insert':
        return ops.slice(0, i) + text + ops.slice(i)
      case 'delete':
        return ops.slice(0, i) + ops.slice(i + 1)
      case 'replace':
        return ops.slice(0, i) + text + ops.slice(i + 1)
      case 'swap':
        return rows.toSpliced(r, 2, rows[r + 1] ?? '', rows[r] ?? '').join('\n')
      case 'double':
        return rows.toSpliced(r, 0, rows[r] ?? '').join('\n')
    }
  }, ops)
}
const damagedOps = fc
  .tuple(patch, fc.array(change, { minLength: 1, maxLength: 5 }))
  .map(([x, c]) => damaged(printOps(x), c))

/** Rows made of pieces of this and neighbouring languages. */
const piece = fc.constantFrom(
  ...['PUT', 'CUT', 'REM', 'MV', 'put', 'SWAP', 'INS.POST', 'DEL.BLK', 'N', 'line', '5', '7', '07', '0', '12345678'],
  ...[
    '.=',
    '..',
    '-',
    '–',
    ',',
    '*',
    '<',
    '>',
    '$',
    ':',
    '@',
    '@a',
    '@a.b',
    ' ',
    '  ',
    '\t',
    '+',
    '- ',
    '"',
    '\\',
    '\\n',
  ],
  ...['[', ']', '#A1B2]', '{', '```', '@@', '<<<<<<<', 'x', '\r', '+x', '7:x', 'and', '# why'],
)
const piecedRow = fc.oneof(
  fc.constantFrom('', '+x', '+', 'PUT 5.=7:', 'CUT 3.=3'),
  fc.array(piece, { maxLength: 7 }).map((p) => p.join('')),
)
const piecedOps = fc.array(piecedRow, { maxLength: 5 }).map((rows) => rows.join('\n'))
const anyOps = fc.oneof(
  damagedOps,
  piecedOps,
  fc.constantFrom(...refused).map(([ops]) => unfold(ops)),
)

law('damaged ops parse or are refused with a code of the language', anyOps, isAnswer, 1_500)

law('what damaged ops still mean survives printing', anyOps, (ops) => {
  const result = outcome(ops)
  return result instanceof ToolError || isDeepStrictEqual(parseOps(printOps(result)), result)
})

/** `ops` with the correction in place of the refused row; rows the correction already contains are not doubled. */
function corrected(ops: string, opsLine: number, suggestion: string): string {
  const rows = ops.split('\n')
  const written = suggestion.split('\n')
  const repeated = written.slice(1).every((row, i) => rows[opsLine + i] === row)
  return rows.toSpliced(opsLine - 1, repeated ? written.length : 1, ...written).join('\n')
}

/** Follows every certain correction. Answers the refusals met, ending where none is certain or nothing is refused. */
function follow(ops: string): string[] {
  const met: string[] = []
  for (let text = ops; met.length < 40;) {
    const result = outcome(text)
    if (!(result instanceof ToolError)) return met
    met.push(refusalText(result))
    if (!result.is('EDIT_PARSE_FAILED') || result.params.suggestion === undefined) return met
    text = corrected(text, result.params.opsLine, result.params.suggestion)
  }
  return met
}

law(
  'a certain correction never leads back to the same refusal',
  anyOps,
  (ops) => {
    const met = follow(ops)
    return new Set(met).size === met.length
  },
  1_500,
)

t.test('a worked example is valid ops', async (t) => {
  for (const [ops] of refused) {
    const error = outcome(unfold(ops))
    if (!(error instanceof ToolError) || !error.is('EDIT_PARSE_FAILED') || error.params.example === undefined) continue
    t.doesNotThrow(() => parseOps(error.params.example ?? ''), ops)
  }
})
