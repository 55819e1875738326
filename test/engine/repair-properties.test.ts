/**
 * Laws of boundary repair over any text, any ops and any parser: verdicts come from an arbitrary function of the text, so that nothing hangs on a real
 * grammar being sensible. Texts are nested blocks of few different rows, and bodies are made of the rows that they replace, so that echoes and boundaries are everywhere.
 */
import fc from 'fast-check'
import t from 'tap'
import { run } from '../../src/engine/facts.js'
import type { Repaired } from '../../src/engine/repair.js'
import { repair } from '../../src/engine/repair.js'
import type { ResolvedOp } from '../../src/engine/resolved.js'
import { resolvedOp } from '../../src/engine/resolved.js'
import type { Warning } from '../../src/errors/warnings.js'
import { ToolError } from '../../src/errors/tool-error.js'
import { limits } from '../../src/limits.js'
import { Document } from '../../src/text/document.js'
import type { ParseVerdict } from '../../src/text/facts.js'
import { LineRange } from '../../src/text/line-range.js'
import { applied, answersOf } from './repair-notation.js'

const LEAVES = ['x', 'y', '', '* c', 'case 1:']

/** Rows of nested blocks: 0 and 1 open one, 2 closes one, 3 goes on with `else`, the rest are leaves. */
function nested(steps: readonly number[]): string[] {
  const rows: string[] = []
  let depth = 0
  const put = (text: string): number => rows.push(text === '' ? '' : '  '.repeat(depth) + text)
  for (const step of steps) {
    if (step < 2) {
      put(step === 0 ? 'if a {' : 'b(')
      depth++
    } else if (step < 4 && depth > 0) {
      depth--
      put(step === 2 ? '}' : '} else {')
      if (step === 3) depth++
    } else put(LEAVES[step % LEAVES.length] ?? '')
  }
  while (depth-- > 0) put('}')
  return rows
}

/** How a body is made of the rows of its range and those beside it, so that slips at its ends are everywhere. */
const recipe = fc.record({
  cutHead: fc.nat(1),
  cutTail: fc.nat(1),
  echoHead: fc.constantFrom(0, 0, 0, 1, 2),
  echoTail: fc.constantFrom(0, 0, 0, 1, 2),
  added: fc.array(fc.nat(9), { maxLength: 2 }),
})

interface Recipe {
  readonly cutHead: number
  readonly cutTail: number
  readonly echoHead: number
  readonly echoTail: number
  readonly added: readonly number[]
}

function bodyOf(lines: readonly string[], { start, end }: LineRange, made: Recipe): string[] {
  const inner = lines.slice(start - 1 + made.cutHead, Math.max(start - 1 + made.cutHead, end - 1 - made.cutTail))
  const changed = inner.map((row) => row.replace(/x$/, 'z'))
  const indent = /^ */.exec(changed[0] ?? lines[start - 2] ?? '')?.[0] ?? ''
  const body = [
    ...lines.slice(Math.max(0, start - 1 - made.echoHead), start - 1),
    ...changed,
    ...nested(made.added).map((row) => indent + row),
    ...lines.slice(end - 1, end - 1 + made.echoTail),
  ]
  return body.length > 0 ? body : [`${indent}w`]
}

interface Call {
  readonly lines: readonly string[]
  readonly ops: readonly ResolvedOp[]
  readonly order: readonly number[]
  readonly seed: number
}

/** Disjoint ops of every kind over a text, in the order of the text; `order` shuffles them. */
const call: fc.Arbitrary<Call> = fc
  .record({
    lines: fc.array(fc.nat(9), { minLength: 1, maxLength: 14 }).map(nested),
    plan: fc.array(fc.record({ skip: fc.nat(3), take: fc.nat(4), made: recipe, kind: fc.nat(9) }), {
      minLength: 1,
      maxLength: 4,
    }),
    seed: fc.nat(),
    keys: fc.array(fc.nat(), { minLength: 5, maxLength: 5 }),
  })
  .map(({ lines, plan, seed, keys }) => {
    const ops: ResolvedOp[] = []
    let from = 1
    for (const step of plan) {
      const start = from + step.skip
      const end = Math.min(start + step.take, lines.length + 1)
      if (start > lines.length || end < start) break
      const range = new LineRange(start, end)
      ops.push(opOver(range, bodyOf(lines, range, step.made), step.kind, ops.length + 1))
      from = end + (start === end ? 1 : 0)
    }
    const order = ops.map((_, i) => i).sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0) || a - b)
    return { lines, ops, order, seed }
  })
  .filter(({ ops }) => ops.length > 0)

/** Bodies mostly; a cut or a register paste now and then. Headers are told apart by `n`. */
function opOver(range: LineRange, body: readonly string[], kind: number, n: number): ResolvedOp {
  const written = { opsLine: n, header: `op ${n}` }
  const anchors = range.isGap ? [] : [range]
  if (range.isGap) {
    const at =
      range.start === 1 ? ({ kind: 'before', line: 1 } as const) : ({ kind: 'after', line: range.start - 1 } as const)
    return kind === 0
      ? resolvedOp({ kind: 'paste', at, register: 'r', ...written }, range, body, 'register', anchors)
      : resolvedOp({ kind: 'put', at, rows: body, ...written }, range, body, 'body', anchors)
  }
  const at = { kind: 'range', first: range.start, last: range.last } as const
  if (kind === 0) return resolvedOp({ kind: 'cut', at, ...written }, range, [], 'none', anchors)
  if (kind === 1) return resolvedOp({ kind: 'paste', at, register: 'r', ...written }, range, body, 'register', anchors)
  return resolvedOp({ kind: 'put', at, rows: body, ...written }, range, body, 'body', anchors)
}

/**
 * A parser that nobody can foresee, but that never changes its mind: `share` percent of all texts parse, and nearly every text of balanced braces, as the
 * tagged texts have them.
 */
function oracle(seed: number, share: number): (path: string, text: string) => ParseVerdict {
  return (_path, text) => {
    let hash = seed | 0
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    const opened = text.split(/[{(]/).length
    const parses = opened === text.split('}').length ? 90 : share
    return (hash >>> 8) % 100 < parses ? { verdict: 'clean' } : { verdict: 'broken', errorLine: 1 }
  }
}

type Result = { readonly base: Document } & (
  { readonly repaired: Repaired } | { readonly refused: ToolError<'EDIT_REPAIR_AMBIGUOUS'> }
)

function outcomeOf(
  path: string,
  lines: readonly string[],
  ops: readonly ResolvedOp[],
  verdict: (path: string, text: string) => ParseVerdict,
): Result {
  const base = Document.fromText(lines.map((line) => `${line}\n`).join(''))
  try {
    return { base, repaired: run(repair({ path, base, ops }, limits), answersOf({ verdict })) }
  } catch (error) {
    if (error instanceof ToolError && error.is('EDIT_REPAIR_AMBIGUOUS')) return { base, refused: error }
    throw error
  }
}

const linesIn = (range: LineRange): number[] => Array.from({ length: range.length }, (_, i) => range.start + i)
const said = (warnings: readonly Warning[], op: ResolvedOp, code: string): { rows: string[]; lines: number[] } => {
  const own = warnings.filter((warning) => warning.code === code && warning['op'] === op.op.header)
  return {
    rows: own.flatMap((warning) => warning['rows'] as string[]),
    lines: own.flatMap((warning) => warning['lines'] as number[]),
  }
}

function holds(name: string, property: (call: Call) => void, runs = 1_500): void {
  t.test(name, async (t) => {
    fc.assert(fc.property(call, property), { numRuns: runs })
    t.pass()
  })
}

holds('a repaired result differs from the authored one only by rows named in the warnings', ({ lines, ops, seed }) => {
  const result = outcomeOf('a.ts', lines, ops, oracle(seed, 20))
  if (!('repaired' in result)) return
  const { ops: after, warnings } = result.repaired
  for (const [i, op] of ops.entries()) {
    const now = after[i]
    if (!now) throw new Error('an op is missing')
    const dropped = said(warnings, op, 'BOUNDARY_ECHO_REMOVED')
    const kept = said(warnings, op, 'BOUNDARY_ROW_KEPT')
    const gone = now.replacements.flatMap(({ range }) => linesIn(range))
    const written = now.replacements.flatMap((part) => part.rows)
    const authored = op.replacements.flatMap((part) => part.rows)
    const head = dropped.lines.filter((line) => line < op.range.start).length
    const tail = dropped.lines.length - head
    same(
      kept.lines,
      linesIn(op.range).filter((line) => !gone.includes(line)),
      'lines that stay',
    )
    same(
      kept.rows,
      kept.lines.map((line) => result.base.text(line)),
      'rows that stay',
    )
    same(written, authored.slice(head, authored.length - tail), 'rows that are written')
    same(dropped.rows, [...authored.slice(0, head), ...authored.slice(authored.length - tail)], 'rows that are dropped')
    same(
      dropped.rows,
      dropped.lines.map((line) => result.base.text(line)),
      'what they restate',
    )
    same(now.echoes.flatMap(linesIn), dropped.lines, 'echoes to prove')
    same(now.anchors.map(String), op.anchors.map(String), 'anchors')
    if (dropped.lines.length + kept.lines.length === 0 && now !== op) throw new Error('an op changed unnamed')
  }
})

holds('repair never touches a register paste, a cut or an insert', ({ lines, ops, seed }) => {
  const result = outcomeOf('a.ts', lines, ops, oracle(seed, 20))
  if (!('repaired' in result)) return
  for (const [i, op] of ops.entries()) {
    if ((op.source !== 'body' || op.range.isGap) && result.repaired.ops[i] !== op)
      throw new Error(`${op.op.header} changed`)
  }
})

holds('decisions do not depend on the order of the ops in the call', ({ lines, ops, order, seed }) => {
  const shuffled = order.flatMap((i) => ops[i] ?? [])
  const straight = outcomeOf('a.ts', lines, ops, oracle(seed, 20))
  const mixed = outcomeOf('a.ts', lines, shuffled, oracle(seed, 20))
  if ('refused' in straight || 'refused' in mixed) {
    if (!('refused' in straight && 'refused' in mixed)) throw new Error('refused in one order only')
    same(mixed.refused.fields, straight.refused.fields, 'the refusal')
    return
  }
  same(text(mixed, mixed.repaired), text(straight, straight.repaired), 'the text')
  same(mixed.repaired.warnings.filter(isRepair), straight.repaired.warnings.filter(isRepair), 'the warnings')
})

holds('without a known language only exact echoes change', ({ lines, ops, seed }) => {
  const result = outcomeOf('a.unknown', lines, ops, oracle(seed, 20))
  const expected = ops.map((_, i) => plainEcho(lines, ops, i))
  if ('refused' in result) {
    if (!expected.some((echo) => echo === 'tie')) throw new Error('refused without a tie')
    return
  }
  for (const [i, op] of ops.entries()) {
    const echo = expected[i]
    if (echo === 'tie' || echo === undefined) throw new Error('a tie was let through')
    const authored = op.replacements[0]?.rows ?? []
    same(
      result.repaired.ops[i]?.replacements,
      [{ range: op.range, rows: authored.slice(echo.head, authored.length - echo.tail) }],
      op.op.header,
    )
  }
})

holds(
  'a result that parses is only freed of echoes, and stays as written when it would not parse without them',
  ({ lines, ops, seed }) => {
    const verdict = oracle(seed, 60)
    const result = outcomeOf('a.ts', lines, ops, verdict)
    if (!('repaired' in result)) return
    const written = applied(result.base, ops).rawText()
    if (verdict('a.ts', written).verdict !== 'clean') return
    if (result.repaired.warnings.some(({ code }) => code === 'BOUNDARY_ROW_KEPT')) throw new Error('a row was kept')
    if (verdict('a.ts', text(result, result.repaired)).verdict !== 'clean')
      throw new Error('it parsed and does not now')
  },
)

holds(
  'a row is kept only where the tagged text parsed, needed it, and the result parses',
  ({ lines, ops, seed }) => {
    const verdict = oracle(seed, 20)
    const isClean = (source: string): boolean => verdict('a.ts', source).verdict === 'clean'
    const result = outcomeOf('a.ts', lines, ops, verdict)
    if (!('repaired' in result)) return
    const kept = ops.flatMap((op) => said(result.repaired.warnings, op, 'BOUNDARY_ROW_KEPT').lines)
    if (kept.length === 0) return
    const before = result.base.rawText()
    if (!isClean(before)) throw new Error('the tagged text did not parse')
    if (isClean(applied(result.base, ops).rawText())) throw new Error('it parsed as written')
    if (!isClean(text(result, result.repaired))) throw new Error('it does not parse now')
    for (const line of kept) {
      const without = lines
        .filter((_, i) => i !== line - 1)
        .map((row) => `${row}\n`)
        .join('')
      if (isClean(without)) throw new Error(`line ${line} is not needed`)
    }
  },
  6_000,
)

holds('without a verdict nothing changes', ({ lines, ops }) => {
  const result = outcomeOf('a.ts', lines, ops, () => ({ verdict: 'no-verdict', why: 'timed-out' }))
  if ('repaired' in result && result.repaired.ops.some((op, i) => op !== ops[i])) throw new Error('an op changed')
})

t.test('the calls of these laws hold what they speak of', async (t) => {
  const met = { kept: 0, dropped: 0, refused: 0, asWritten: 0 }
  for (const { lines, ops, seed } of fc.sample(call, { numRuns: 4_000, seed: 7 })) {
    const result = outcomeOf('a.ts', lines, ops, oracle(seed, 20))
    if ('refused' in result) met.refused++
    else if (result.repaired.warnings.some(({ code }) => code === 'BOUNDARY_ROW_KEPT')) met.kept++
    else if (result.repaired.warnings.some(({ code }) => code === 'BOUNDARY_ECHO_REMOVED')) met.dropped++
    else met.asWritten++
  }
  t.comment(JSON.stringify(met))
  for (const [what, count] of Object.entries(met)) t.ok(count >= 10, what)
})

function isRepair({ code }: Warning): boolean {
  return code.startsWith('BOUNDARY') || code === 'REPAIR_NOT_EVALUATED'
}

function text(result: { readonly base: Document }, repaired: Repaired): string {
  return applied(result.base, repaired.ops).rawText()
}

/** The longest runs by trying every length, in the words of the reading. */
function plainEcho(
  lines: readonly string[],
  ops: readonly ResolvedOp[],
  at: number,
): { head: number; tail: number } | 'tie' {
  const op = ops[at]
  const body = op?.source === 'body' && !op.range.isGap ? (op.replacements[0]?.rows ?? []) : []
  if (!op || body.length === 0) return { head: 0, tail: 0 }
  const taken = ops.filter((other) => other !== op).map(({ range }) => range)
  const stands = (line: number): boolean =>
    line >= 1 && line <= lines.length && !taken.some((range) => range.contains(line))
  const isOpen = (gap: number): boolean => !taken.some((range) => range.isGap && range.start === gap)
  const longest = (matches: (length: number) => boolean): number =>
    body.reduce((best, _row, i) => (matches(i + 1) ? i + 1 : best), 0)
  const { start, end } = op.range
  const head = longest((length) =>
    body.slice(0, length).every((row, i) => {
      const line = start - length + i
      return stands(line) && isOpen(line + 1) && lines[line - 1] === row
    }),
  )
  const tail = longest((length) =>
    body.slice(-length).every((row, i) => stands(end + i) && isOpen(end + i) && lines[end + i - 1] === row),
  )
  const echo = {
    head: body.slice(0, head).every((row) => row.trim() === '') ? 0 : head,
    tail: tail === 0 || body.slice(-tail).every((row) => row.trim() === '') ? 0 : tail,
  }
  return echo.head + echo.tail > 0 && echo.head + echo.tail >= body.length ? 'tie' : echo
}

function same(found: unknown, expected: unknown, what: string): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
  if (a !== b) throw new Error(`${what}: ${a} is not ${b}`)
}
