/**
 * The pipeline of an edit without I/O: gates, registers, reveals, and the law that a direct edit equals a naive splice.
 */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import type { ToolError } from '../../src/errors/tool-error.js'
import { asToolError } from '../../src/errors/tool-error.js'
import type { Answers } from '../../src/engine/facts.js'
import { run } from '../../src/engine/facts.js'
import type { EngineBounds, KnownVersion, Prepared } from '../../src/engine/input.js'
import { stripMarkup } from '../../src/engine/markup.js'
import { prepare } from '../../src/engine/prepare.js'
import { reveal, revealBounds, shownBy } from '../../src/engine/reveal.js'
import { limits } from '../../src/limits.js'
import { parseOps } from '../../src/patch/parser.js'
import { Document } from '../../src/text/document.js'
import type { Seen } from '../../src/text/line-set.js'
import { LineSet } from '../../src/text/line-set.js'
import { windowOf } from '../../src/text/window.js'
import { fileText } from '../text/arbitraries.js'

const bounds: EngineBounds = {
  reveal: revealBounds(false),
  expandedLines: limits.expandedLines,
  registerLines: limits.registerLines,
  registerBytes: limits.registerBytes,
  repairCandidates: limits.repairCandidates,
}

const versionOf = (text: Document, seen: Seen = LineSet.all(text.lineCount)): KnownVersion => ({
  tag: text.tag,
  versionDigest: text.versionDigest,
  textDigest: text.textDigest,
  seen,
  retained: true,
})

const answers: Answers = {
  language: () => false,
  verdicts: ({ texts }) => texts.map(() => ({ verdict: 'unknown-language' })),
  register: ({ name }) => (name === 'kept' ? ['k1', 'k2'] : undefined),
  registers: () => ['kept'],
}

interface Given {
  readonly versions?: readonly KnownVersion[]
  readonly tag?: string
  readonly answers?: Answers
  readonly bounds?: EngineBounds
}

function prepared(live: Document, ops: string, given: Given = {}): Prepared {
  const versions = given.versions ?? [versionOf(live)]
  const input = { path: 'a.txt', ops: parseOps(ops).ops, tag: given.tag ?? live.tag, live, versions }
  return run(prepare(input, given.bounds ?? bounds), { ...answers, ...given.answers })
}

function refused(error: unknown): ToolError {
  const refusal = asToolError(error)
  if (!refusal) throw error
  return refusal
}

/** The resulting text, or the code of the refusal. */
function outcome(text: string, ops: string, given: Given = {}): string {
  try {
    return prepared(Document.fromText(text), ops.replaceAll('⏎', '\n'), given).result.rawText()
  } catch (error) {
    return refused(error).code
  }
}

const eight = '1\n2\n3\n4\n5\n6\n7\n8\n'

t.test('two ops conflict by line, by gap or by anchor, and by nothing else', async (t) => {
  const cases: [ops: string, expected: string][] = [
    ['CUT 2.=4⏎CUT 4.=5', 'EDIT_RANGE_INVALID'],
    ['CUT 2.=4⏎CUT 5.=6', '1\n7\n8\n'],
    ['PUT >4:⏎+x⏎PUT <5:⏎+y', 'EDIT_RANGE_INVALID'],
    ['PUT >4:⏎+x⏎PUT >4:⏎+y', 'EDIT_RANGE_INVALID'],
    ['PUT <5:⏎+x⏎PUT 5.=7:⏎+y', 'EDIT_RANGE_INVALID'],
    ['PUT >7:⏎+x⏎PUT 5.=7:⏎+y', 'EDIT_RANGE_INVALID'],
    ['PUT >5:⏎+x⏎PUT 5.=7:⏎+y', 'EDIT_RANGE_INVALID'],
    ['PUT >4:⏎+x⏎PUT 5.=7:⏎+y', '1\n2\n3\n4\nx\ny\n8\n'],
    ['PUT 5.=7:⏎+y⏎PUT >4:⏎+x', '1\n2\n3\n4\nx\ny\n8\n'],
    ['PUT <8:⏎+x⏎PUT 5.=7:⏎+y', '1\n2\n3\n4\ny\nx\n8\n'],
    ['PUT <4:⏎+x⏎PUT >4:⏎+y', 'EDIT_RANGE_INVALID'],
    ['PUT <1:⏎+x⏎PUT >1:⏎+y', 'x\n1\ny\n2\n3\n4\n5\n6\n7\n8\n'],
    ['PUT <1:⏎+x⏎CUT 1.=1', 'x\n2\n3\n4\n5\n6\n7\n8\n'],
    ['PUT >$:⏎+x⏎CUT 8.=8', '1\n2\n3\n4\n5\n6\n7\nx\n'],
    ['PUT >$:⏎+x⏎PUT >8:⏎+y', 'EDIT_RANGE_INVALID'],
    ['PUT >$:⏎+x⏎PUT >$:⏎+y', 'EDIT_RANGE_INVALID'],
    ['PUT <1:⏎+x⏎PUT >$:⏎+y', 'x\n1\n2\n3\n4\n5\n6\n7\n8\ny\n'],
  ]
  for (const [ops, expected] of cases) t.equal(outcome(eight, ops), expected, ops)
  t.equal(outcome('', 'PUT <1:⏎+x⏎PUT >$:⏎+y'), 'EDIT_RANGE_INVALID', 'on an empty file head and tail are one gap')
  t.equal(outcome('', 'PUT <1:⏎+x'), 'x\n')
})

t.test('registers read what was captured above, in authored order', async (t) => {
  const cases: [ops: string, expected: string][] = [
    ['CUT 1.=2⏎PUT >4', '3\n4\n1\n2\n5\n6\n7\n8\n'],
    ['PUT >4⏎CUT 1.=2', 'EDIT_REGISTER_EMPTY'],
    ['CUT 1.=1⏎CUT 2.=2⏎PUT >4', 'EDIT_REGISTER_AMBIGUOUS'],
    ['CUT 1.=1⏎CUT 2.=2', '3\n4\n5\n6\n7\n8\n'],
    ['CUT 1.=1⏎PUT >4⏎PUT >6', '2\n3\n4\n1\n5\n6\n1\n7\n8\n'],
    ['CUT 1.=1⏎PUT >4⏎CUT 2.=2⏎PUT >6', '3\n4\n1\n5\n6\n2\n7\n8\n'],
    ['CUT 1.=1 @r⏎PUT >4 @r', '2\n3\n4\n1\n5\n6\n7\n8\n'],
    ['PUT >4 @r⏎CUT 1.=1 @r', 'EDIT_REGISTER_EMPTY'],
    ['PUT 4.=5 @kept', '1\n2\n3\nk1\nk2\n6\n7\n8\n'],
    ['CUT 1.=1 @kept⏎PUT >4 @kept', '2\n3\n4\n1\n5\n6\n7\n8\n'],
    ['CUT 1.=1⏎CUT 2.=2 @n⏎PUT >4', '3\n4\n1\n5\n6\n7\n8\n'],
    ['CUT 2.=3 @m⏎PUT 3.=4 @m', 'EDIT_RANGE_INVALID'],
  ]
  for (const [ops, expected] of cases) t.equal(outcome(eight, ops), expected, ops)
  const { registers } = prepared(Document.fromText('a\r\nb \r\nc'), 'CUT 1.=2 @r\nCUT 3.=3 @s')
  t.same(registers, [
    { name: 'r', lines: ['a', 'b '] },
    { name: 's', lines: ['c'] },
  ])
})

t.test('limits hold before anything of their size is built', async (t) => {
  const big = Document.fromText('x\n'.repeat(200_000))
  const code = (ops: string): string => {
    try {
      prepared(big, ops)
      return 'ok'
    } catch (error) {
      return refused(error).code
    }
  }
  t.equal(code('CUT 1.=100000'), 'ok')
  t.equal(code('CUT 1.=100001'), 'EDIT_AMPLIFICATION_LIMIT')
  t.equal(code('CUT 1.=4096 @r'), 'ok')
  t.equal(code('CUT 1.=4097 @r'), 'INVALID_ARGUMENT')
  t.equal(code('CUT 1.=5000'), 'ok', 'a plain deletion captures nothing')
  t.equal(code('CUT 1.=5000\nPUT >9000'), 'INVALID_ARGUMENT', 'an anonymous capture that is pasted does')
  const pastes = Array.from({ length: 30 }, (_, i) => `PUT >${10_000 + i} @r`).join('\n')
  t.equal(code(`CUT 1.=4000 @r\n${pastes}`), 'EDIT_AMPLIFICATION_LIMIT')
})

t.test('a version under the tag with another digest authorizes nothing', async (t) => {
  const live = Document.fromText('live\ntext\n')
  const other = Document.fromText('other\ntext\n')
  const collision = { ...versionOf(other), tag: live.tag }
  const no: Answers = { lineMap: () => ({ runs: [], alternatives: [] }), text: () => other }
  t.equal(outcome(live.rawText(), 'CUT 1.=1', { versions: [collision], answers: no }), 'EDIT_TAG_MISMATCH')
  const third = { ...versionOf(Document.fromText('third\n')), tag: live.tag }
  t.equal(outcome(live.rawText(), 'CUT 1.=1', { versions: [collision, third], answers: no }), 'EDIT_TAG_MISMATCH')
  t.equal(outcome(live.rawText(), 'CUT 1.=1', { versions: [collision, versionOf(live)] }), 'text\n')
  t.equal(outcome(live.rawText(), 'CUT 1.=1', { versions: [] }), 'EDIT_TAG_UNKNOWN')
})

t.test('an empty set refuses every anchor, None none, and None absorbs sets', async (t) => {
  const live = Document.fromText(eight)
  const seen = (...sets: Seen[]): string =>
    outcome(eight, 'CUT 3.=3', { versions: sets.map((set) => versionOf(live, set)) })
  const without = eight.replace('3\n', '')
  t.equal(seen(LineSet.empty), 'EDIT_LINES_UNSEEN')
  t.equal(seen(LineSet.ofLines([3])), without)
  t.equal(seen('unknown'), without)
  t.equal(seen(LineSet.empty, 'unknown'), without)
  t.equal(seen(LineSet.ofLines([1]), LineSet.ofLines([3])), without, 'the union over every version of that text')
})

t.test('a reveal shows anchors first, then context, and is complete only at full width', async (t) => {
  const live = Document.fromText(
    Array.from({ length: 100 }, (_, i) => (i === 49 ? 'x'.repeat(600) : `l${i + 1}`)).join('\n'),
  )
  const shown = (lines: LineSet, rows = 40) => {
    const fields = reveal(live, lines, { ...bounds.reveal, rows })
    return `${fields.revealComplete ? 'complete' : 'cut'} ${fields.lines.map((row) => `${row.line}${row.clipped ? '…' : ''}`).join(' ')}`
  }
  t.equal(shown(LineSet.ofLines([5])), 'complete 2 3 4 5 6 7 8')
  t.equal(shown(LineSet.ofLines([1, 2])), 'complete 1 2 3 4 5')
  t.equal(shown(LineSet.ofLines([48])), 'complete 45 46 47 48 49 50… 51')
  t.equal(shown(LineSet.ofLines([50])), 'cut 47 48 49 50… 51 52 53')
  t.equal(shown(LineSet.ofLines([5, 20]), 5), 'complete 3 4 5 6 20', 'context as room allows')
  t.equal(shown(LineSet.ofLines([500])), 'complete 97 98 99 100', 'a number past the end is clamped')
  t.match(shown(LineSet.all(41)), /^cut 1 2 .* 40$/)
  t.equal(
    shownBy(reveal(live, LineSet.ofLines([48]), bounds.reveal)).toString(),
    '45-49,51',
    'a clipped row is not seen',
  )
  t.equal(shownBy(reveal(live, LineSet.all(41), bounds.reveal)).toString(), '')
})

t.test('the reads that an incomplete reveal names show every anchor, each in one answer', async (t) => {
  const width = fc.constantFrom(0, 1, 5, 20, 30, 60)
  const read = { lines: 4, lineChars: 20, contentBytes: 64, steps: 3, probedLines: 1_000 }
  const met = { plain: 0, raw: 0, until: 0, tooWide: 0 }
  fc.assert(
    fc.property(
      fc.array(fc.tuple(width, fc.constantFrom('x', 'é', '😀')), { minLength: 1, maxLength: 30 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 20 }),
      fc.constantFrom(0, 3),
      fc.constantFrom('\n', '\r\n'),
      (widths, lines, rows, terminator) => {
        const live = Document.fromText(widths.map(([n, unit]) => unit.repeat(n) + terminator).join(''))
        const wanted = LineSet.ofLines(lines.map((line) => Math.min(line, live.lineCount)))
        const { revealComplete, reading } = reveal(live, wanted, { rows, rowChars: 10, contextLines: 1, read })
        if (revealComplete) return
        if (!reading) throw new Error('no reading')
        if ('tooWide' in reading) {
          met.tooWide++
          const raw = windowOf(live, { offset: reading.tooWide, limit: 1, raw: true }, read)
          if (!wanted.has(reading.tooWide) || raw.lineCount > 0) throw new Error(`line ${reading.tooWide} can be read`)
          return
        }
        const { raw, steps, until } = reading
        met[raw ? 'raw' : 'plain']++
        let left = wanted
        const show = (offset: number, limit: number): number => {
          const window = windowOf(live, { offset, limit, raw }, read)
          left = left.minus(window.shown)
          return window.lineCount
        }
        for (const { offset, limit } of steps) {
          if (limit > read.lines || show(offset, limit) !== limit) throw new Error(`one Read does not show ${limit}`)
        }
        if (until !== undefined) {
          met.until++
          // On from the notice: a line that no Read shows stands between the anchors here, not among them.
          for (let offset = left.ranges[0]?.start ?? 0; offset <= until && !left.isEmpty;)
            offset += Math.max(1, show(offset, Math.min(read.lines, until - offset + 1)))
        }
        if (!left.isEmpty) throw new Error(`${left.toString()} is not shown`)
      },
    ),
    { numRuns: 4_000, endOnFailure: true },
  )
  for (const [what, count] of Object.entries(met)) t.ok(count > 0, what)
})

t.test('what a refusal suggests keeps everything else of the op', async (t) => {
  const suggestion = (ops: string, text: string, block: NonNullable<Answers['blocks']>): unknown => {
    try {
      prepared(Document.fromText(text), ops.replaceAll('⏎', '\n'), { answers: { blocks: block } })
      return 'no refusal'
    } catch (error) {
      return refused(error).fields['suggestion']
    }
  }
  const none: NonNullable<Answers['blocks']> = ({ lines }) =>
    lines.map(() => ({ found: false, reason: { kind: 'blank-line' } }))
  const single: NonNullable<Answers['blocks']> = ({ lines }) =>
    lines.map((line) => ({ found: false, reason: { kind: 'single-line' }, singleLine: { start: line, end: line + 1 } }))
  const cases: [ops: string, suggestion: string][] = [
    ['CUT 2*', 'CUT 2.=2'],
    ['CUT 2* @keep', 'CUT 2.=2 @keep'],
    ['PUT 2*:⏎+x', 'PUT 2.=2:'],
    ['PUT 2* @q', 'PUT 2.=2 @q'],
    ['PUT >2*:⏎+x', 'PUT >2:'],
    ['CUT 1.=1⏎PUT >2*', 'PUT >2'],
    ['PUT >2* @q', 'PUT >2 @q'],
    ['PUT >9 @q', 'to append use PUT >$ @q'],
    ['CUT 1.=1⏎PUT >9', 'to append use PUT >$'],
    ['PUT <9 @q', 'to append use PUT >$ @q'],
    ['PUT 9.=9 @q', 'to append use PUT >$ @q'],
    ['PUT 9*:⏎+x', 'to append use PUT >$:'],
    ['PUT 2.=9 @q', 'the last line is 8, so at most PUT 2.=8 @q'],
    ['PUT 2.=9:⏎+x', 'the last line is 8, so at most PUT 2.=8:'],
    ['CUT 2.=9 @q', 'the last line is 8, so at most CUT 2.=8 @q'],
    ['CUT 9.=9 @q', 'use lines from 1 to 8'],
  ]
  for (const [ops, expected] of cases) t.equal(suggestion(ops, eight, none), expected, ops)
  t.equal(suggestion('CUT 2* @keep', eight, single), 'CUT 2.=3 @keep')
  t.equal(suggestion('PUT >2* @q', eight, single), 'PUT >3 @q')
  t.equal(suggestion('PUT >1 @q', '', none), 'to fill it use PUT >$ @q')
  t.equal(suggestion('CUT 1.=1', '', none), 'there is nothing to cut; to fill the file use PUT >$:')
})

t.test('pasted Read output is recognised by its shape alone', async (t) => {
  const text = Document.fromText('a\nb\n')
  const shown = { text, seen: LineSet.all(2) }
  const cases: [content: string, expected: string | undefined][] = [
    ['[a.txt#A1B2]\n1:x\n2:y', 'x\ny'],
    ['[a.txt#A1B2]\n7:x\n8:y\n', 'x\ny\n'],
    ['[a.txt#A1B2]\n1:x\n3:y', undefined],
    ['[a.txt#A1B2]\n1:x\nplain', undefined],
    ['[a.txt#A1B2]', undefined],
    ['[a.txt#XYZW]\n1:x', undefined],
    ['1:a\n2:b\n', 'a\nb\n'],
    ['2:b\n', 'b\n'],
    ['1:a\n2:c\n', undefined],
    ['3:a\n', undefined],
    ['80: web\n', undefined],
    ['', undefined],
  ]
  for (const [content, expected] of cases) t.equal(stripMarkup(content, shown)?.text, expected, JSON.stringify(content))
  t.equal(stripMarkup('1:a\n', { text, seen: LineSet.empty }), undefined, 'what was never shown is content')
})

/** An op for a text of `n` lines as a naive change: take `del` lines away before index `at`, put rows there. */
interface Change {
  readonly header: string
  readonly at: number
  readonly del: number
  readonly rows: readonly string[]
}

const row = fc.constantFrom('', 'x', ' y', '+', '-z', 'é😀', '\t')

/** Two lines and rows, made to fit a text of any length. */
const draft = fc.record({
  kind: fc.constantFrom('put', 'cut', 'after', 'before', 'end'),
  a: fc.nat(100),
  b: fc.nat(100),
  rows: fc.array(row, { minLength: 1, maxLength: 3 }),
})

function changeOf(
  { kind, a, b, rows }: { kind: string; a: number; b: number; rows: readonly string[] },
  n: number,
): Change {
  const [x, y] = [(a % n) + 1, (b % n) + 1]
  const [first, last] = [Math.min(x, y), Math.max(x, y)]
  switch (kind) {
    case 'put':
      return { header: `PUT ${first}.=${last}:`, at: first - 1, del: last - first + 1, rows }
    case 'cut':
      return { header: `CUT ${first}.=${last}`, at: first - 1, del: last - first + 1, rows: [] }
    case 'after':
      return { header: `PUT >${x}:`, at: x, del: 0, rows }
    case 'before':
      return { header: `PUT <${x}:`, at: x - 1, del: 0, rows }
    default:
      return { header: 'PUT >$:', at: n, del: 0, rows }
  }
}

t.test('a direct edit equals a naive splice, and untouched lines keep their bytes', async () => {
  // A U+FEFF at the head of a text has rules of its own; test/text has them.
  const texts = fileText.map((text) => Document.fromText(text.slice(0, 1) + text.slice(1).replaceAll('\uFEFF', '')))
  fc.assert(
    fc.property(
      // A CR that ends an unterminated last line becomes part of its terminator once it gets one.
      texts.filter((text) => text.lineCount > 0 && !text.rawText().endsWith('\r')),
      fc.array(draft, { minLength: 1, maxLength: 3 }),
      (live, drafts) => {
        const changes = drafts.map((d) => changeOf(d, live.lineCount))
        const ops = changes.map((c) => [c.header, ...c.rows.map((r) => `+${r}`)].join('\n')).join('\n')
        const result = applied(live, ops)
        if (!result) return
        const expected = Array.from({ length: live.lineCount }, (_, i) => live.text(i + 1))
        // From the last place to the first; a gap before a range comes after it here, so that its rows stand before it.
        for (const c of [...changes].sort((a, b) => b.at - a.at || b.del - a.del))
          expected.splice(c.at, c.del, ...c.rows)
        const after = Array.from({ length: result.result.lineCount }, (_, i) => result.result.text(i + 1))
        // An unterminated empty last line is no line.
        if (!live.endsWithNewline && after.length === expected.length - 1 && expected.at(-1) === '') expected.pop()
        if (!isDeepStrictEqual(after, expected))
          throw new Error(`${ops} gave ${JSON.stringify(after)}, not ${JSON.stringify(expected)}`)
        for (const line of result.edit.kept.lines()) {
          const now = result.edit.carry(LineSet.ofLines([line])).ranges[0]?.start ?? 0
          if (!live.content(line).equals(result.result.content(now))) throw new Error(`${ops} changed line ${line}`)
        }
      },
    ),
    { numRuns: 1_000, endOnFailure: true },
  )
})

/** Undefined for what is refused (conflicts, ties, no change) and for echoes, which are no plain splice. */
function applied(live: Document, ops: string): Prepared | undefined {
  try {
    const result = prepared(live, ops)
    return result.warnings.some((warning) => warning.code === 'BOUNDARY_ECHO_REMOVED') ? undefined : result
  } catch (error) {
    refused(error)
    return undefined
  }
}
