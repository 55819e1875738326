/**
 * What EDIT_REPAIR_AMBIGUOUS suggests can be sent as it is: the spelling stands beside the other ops of the call and writes exactly the rows of the op that it is about.
 */
import fc from 'fast-check'
import t from 'tap'
import type { ToolError } from '../../src/errors/tool-error.js'
import { asToolError } from '../../src/errors/tool-error.js'
import { LineEdit } from '../../src/text/line-edit.js'
import type { Shift } from '../../src/text/line-edit.js'
import type { ParseVerdict } from '../../src/text/facts.js'
import type { Driving } from './repair-notation.js'
import { applied, repaired, unfold } from './repair-notation.js'

interface Written {
  readonly header: string
  readonly rows: readonly string[]
}

const opsText = (ops: readonly Written[]): string =>
  ops.map(({ header, rows }) => [header, ...rows.map((row) => `+${row}`)].join('\n')).join('\n')

type Attempt =
  | {
      readonly text: string
      readonly written: string
      readonly repaired: boolean
      readonly shifts: readonly Shift[]
    }
  | { readonly refused: ToolError }

function attempt(path: string, text: string, ops: readonly Written[], driving: Driving): Attempt {
  try {
    const { base, ops: fixed, authored } = repaired(path, text, opsText(ops), driving)
    const edit = new LineEdit(
      base.lineCount,
      fixed.flatMap((op) => op.replacements),
    )
    return {
      text: edit.apply(base).rawText(),
      written: applied(base, authored).rawText(),
      repaired: fixed.some((op, i) => op !== authored[i]),
      shifts: edit.shifts(),
    }
  } catch (error) {
    const refusal = asToolError(error)
    if (refusal) return { refused: refusal }
    throw error
  }
}

/** The two headers of a suggestion, and what it says of their place. */
interface Suggested {
  readonly cut: string
  readonly put: string
  readonly cutLast: boolean
  readonly alone: boolean
}

function readSuggestion(suggestion: string): Suggested {
  const match =
    /^(CUT \d+\.=\d+)( as the last op)? with (PUT (?:[<>]\d+|>\$):)( in a call of its own)? to write exactly these rows/.exec(
      suggestion,
    )
  const [, cut = '', cutLast, put = '', alone] = match ?? []
  if (!match) throw new Error(`no spelling in ${suggestion}`)
  return { cut, put, cutLast: cutLast !== undefined, alone: alone !== undefined }
}

/** The op at that row of `ops`. */
function indexAt(ops: readonly Written[], opsLine: number): number {
  let row = 1
  return ops.findIndex((op) => (row += 1 + op.rows.length) > opsLine)
}

/** The head of a file does not move. */
function moved(op: Written, shifts: readonly Shift[]): Written {
  const by = (line: number): number => shifts.filter((shift) => shift.from <= line).at(-1)?.by ?? 0
  if (op.header.startsWith('PUT <1:')) return op
  return { ...op, header: op.header.replace(/\d+/g, (n) => String(Number(n) + by(Number(n)))) }
}

interface Followed {
  readonly text: string
  readonly repaired: boolean
  readonly taken: readonly Suggested[]
}

/** Does what every refusal suggests until the call is accepted. Throws when a suggestion is refused for another reason than a tie of another op. */
function follow(path: string, start: string, call: readonly Written[], driving: Driving): Followed {
  const taken: Suggested[] = []
  let [text, ops, wasRepaired] = [start, call, false]
  while (taken.length <= call.length) {
    const result = attempt(path, text, ops, driving)
    if ('text' in result) return { text: result.text, repaired: wasRepaired || result.repaired, taken }
    const { refused } = result
    if (!refused.is('EDIT_REPAIR_AMBIGUOUS')) throw new Error(`${opsText(ops)} is ${refused.code}: ${refused.detail}`)
    const suggested = readSuggestion(refused.params.suggestion)
    taken.push(suggested)
    const at = indexAt(ops, refused.params.opsLine)
    const put = { header: suggested.put, rows: ops[at]?.rows ?? [] }
    const cut = { header: suggested.cut, rows: [] }
    if (!suggested.alone) {
      ops = suggested.cutLast ? [...ops.toSpliced(at, 1, put), cut] : ops.toSpliced(at, 1, cut, put)
      continue
    }
    const own = attempt(path, text, [cut, put], driving)
    if (!('text' in own)) throw new Error(`${opsText([cut, put])} is ${own.refused.code}`)
    text = own.text
    ops = ops.toSpliced(at, 1).map((op) => moved(op, own.shifts))
    wasRepaired ||= own.repaired
  }
  throw new Error(`${opsText(call)} is refused again and again`)
}

const said = (text: string, ...ops: Written[]): string => {
  const result = attempt('l.txt', unfold(text), ops, {})
  return 'refused' in result && result.refused.is('EDIT_REPAIR_AMBIGUOUS')
    ? result.refused.params.suggestion.replace(/(?: to write exactly)?(?: these rows.*)/, '')
    : 'no tie'
}

t.test('the rows go into the gap above, else into the one below, else into a call of their own', async (t) => {
  const five = 'l1⏎l2⏎l3⏎l4⏎l5⏎'
  const tie = { header: 'PUT 2.=2:', rows: ['l3'] }
  t.equal(said(five, tie), 'CUT 2.=2 with PUT >1:')
  t.equal(said(five, { header: 'PUT 1.=1:', rows: ['x'] }, tie), 'CUT 2.=2 with PUT <3:')
  t.equal(said(five, { header: 'PUT >1:', rows: ['x'] }, tie), 'CUT 2.=2 with PUT <3:')
  t.equal(
    said(five, { header: 'PUT >1:', rows: ['x'] }, tie, { header: 'PUT >3:', rows: ['y'] }),
    'CUT 2.=2 with PUT >1: in a call of its own',
    'both would name line 3',
  )
  t.equal(
    said(five, { header: 'PUT >1:', rows: ['x'] }, tie, { header: 'CUT 4.=4', rows: [] }),
    'CUT 2.=2 with PUT <3:',
  )
  t.equal(
    said(five, { header: 'PUT 1.=1:', rows: ['x'] }, tie, { header: 'PUT <4:', rows: ['y'] }),
    'CUT 2.=2 with PUT <3:',
  )
  t.equal(said('l1⏎l2⏎', { header: 'PUT 1.=1:', rows: ['l2'] }), 'CUT 1.=1 with PUT <1:')
  t.equal(said('l1⏎l2⏎', { header: 'PUT 2.=2:', rows: ['l1'] }), 'CUT 2.=2 with PUT >1:')
  t.equal(
    said(
      five,
      { header: 'PUT <4:', rows: ['x'] },
      { header: 'PUT >4:', rows: ['y'] },
      { header: 'PUT 4.=4:', rows: ['l3'] },
    ),
    'no tie',
    'what stands between is no echo, and they touch anyway',
  )
  t.equal(
    said('l1⏎l2⏎l3⏎', { header: 'PUT <1:', rows: ['x'] }, { header: 'PUT 1.=1:', rows: ['l2'] }),
    'CUT 1.=1 with PUT <2:',
  )
  t.equal(
    said(
      'l1⏎l2⏎',
      { header: 'PUT >$:', rows: ['x'] },
      { header: 'CUT 1.=1', rows: [] },
      { header: 'PUT 2.=2:', rows: ['l1'] },
    ),
    'no tie',
  )
  t.equal(
    said(five, { header: 'CUT 5.=5', rows: [] }, tie, { header: 'PUT >3', rows: [] }),
    'CUT 2.=2 as the last op with PUT >1:',
    'an anonymous paste must not take the cut lines',
  )
})

/** Ops over a few equal lines, so that ties and neighbours are everywhere. */
const written = fc
  .array(
    fc.record({
      skip: fc.constantFrom(0, 0, 0, 1, 2),
      take: fc.integer({ min: 1, max: 2 }),
      kind: fc.constantFrom('put', 'put', 'put', 'after', 'before', 'cut', 'named', 'paste', 'paste'),
      rows: fc.array(fc.constantFrom('a', 'b', 'c', '{', '}'), { minLength: 1, maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((steps) => {
    let line = 1
    return steps.map(({ skip, take, kind, rows }): Written => {
      const first = line + skip
      const isSpan = kind === 'put' || kind === 'cut' || kind === 'named'
      line = first + (isSpan ? take : 0)
      switch (kind) {
        case 'put':
          return { header: `PUT ${first}.=${line - 1}:`, rows }
        case 'after':
          return { header: `PUT >${first}:`, rows }
        case 'before':
          return { header: `PUT <${first}:`, rows }
        case 'cut':
          return { header: `CUT ${first}.=${line - 1}`, rows: [] }
        case 'named':
          return { header: `PUT ${first}.=${line - 1} @r`, rows: [] }
        case 'paste':
          return { header: `PUT >${first}`, rows: [] }
      }
    })
  })

/** Some texts parse and some do not; it is foreseen by nobody and never changes. */
const oracle =
  (seed: number) =>
  (_path: string, text: string): ParseVerdict => {
    let hash = seed | 0
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    return (hash >>> 8) % 100 < 40 ? { verdict: 'clean' } : { verdict: 'broken', errorLine: 1 }
  }

t.test('the suggested spelling is accepted and writes what was written', async (t) => {
  const met = { above: 0, below: 0, alone: 0, cutLast: 0, exact: 0 }
  fc.assert(
    fc.property(
      fc.constantFrom('l.txt', 'a.js'),
      fc.array(fc.constantFrom('a', 'b', 'c', '{', '}'), { minLength: 2, maxLength: 9 }),
      written,
      fc.boolean(),
      fc.nat(),
      (path, lines, call, terminated, seed) => {
        const text = lines.join('\n') + (terminated ? '\n' : '')
        const driving = { verdict: oracle(seed), registers: { r: ['a', 'q'] } }
        const first = attempt(path, text, call, driving)
        if (!('refused' in first) || !first.refused.is('EDIT_REPAIR_AMBIGUOUS')) return
        const result = follow(path, text, call, driving)
        for (const { put, alone, cutLast } of result.taken) {
          if (alone) met.alone++
          else if (cutLast) met.cutLast++
          else if (put.startsWith('PUT >') && put !== 'PUT >$:') met.above++
          else met.below++
        }
        if (result.repaired) return
        met.exact++
        const plain = attempt(path, text, call, { ...driving, verdict: () => ({ verdict: 'clean' }) })
        const expected = 'text' in plain ? plain.written : plainText(path, text, call, driving)
        if (result.text !== expected)
          throw new Error(`${opsText(call)} gave ${JSON.stringify(result.text)}, not ${JSON.stringify(expected)}`)
      },
    ),
    { numRuns: 60_000, endOnFailure: true },
  )
  t.comment(JSON.stringify(met))
  for (const [what, count] of Object.entries(met)) t.ok(count > 0, `${what}: ${count}`)
})

/** The call without repair: every body is pasted, which is literal (reading §6.5). */
function plainText(path: string, text: string, call: readonly Written[], driving: Driving): string {
  const registers: Record<string, readonly string[]> = { ...driving.registers }
  const literal = call.map((op, i): Written => {
    if (op.rows.length === 0 || !/^PUT \d/.test(op.header)) return op
    registers[`body${i}`] = op.rows
    return { header: op.header.replace(':', ` @body${i}`), rows: [] }
  })
  const result = attempt(path, text, literal, { ...driving, registers })
  if ('refused' in result) throw result.refused
  return result.text
}
