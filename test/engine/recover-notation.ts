/**
 * A small notation for drift: texts are words, one per line (`_` is the empty line, `·` a blank), ops stand between ` | ` with their rows behind the header.
 *
 *     recovers(t, 'a b c d', 'a b X c d', 'PUT 4.=4: D', 'a b X c D')
 *     recovers(t, 'a b c d', 'a b X c d', 'PUT 2.=3: B', declined('between lines 2 and 3'))
 */
import type { Test } from 'tap'
import { declineText } from '../../src/errors/declines.js'
import { run } from '../../src/engine/facts.js'
import type { AnchorProof } from '../../src/engine/recover.js'
import { place, proveAnchors } from '../../src/engine/recover.js'
import { fill, sequence } from '../../src/engine/registers.js'
import type { ResolvedOp } from '../../src/engine/resolved.js'
import type { LineOp } from '../../src/engine/resolve.js'
import { resolveSpans } from '../../src/engine/resolve.js'
import { limits } from '../../src/limits.js'
import { parseOps } from '../../src/patch/parser.js'
import { Document } from '../../src/text/document.js'
import type { LineEdit } from '../../src/text/line-edit.js'
import { documentMap } from '../../src/text/line-map.js'
import type { LineRange } from '../../src/text/line-range.js'
import type { LineSet, Seen } from '../../src/text/line-set.js'

export const bounds = { maxEdits: limits.diffMaxEdits, timeMs: 60_000 }

export interface Declined {
  readonly declined: string
}

export const declined = (words: string): Declined => ({ declined: words })

/** Rows of a text in the notation. */
export const rows = (text: string): string[] =>
  text === '' ? [] : text.split(' ').map((word) => (word === '_' ? '' : word.replaceAll('·', ' ')))

export const document = (text: string): Document => documentOf(rows(text))

export const documentOf = (lines: readonly string[], terminator = '\n'): Document =>
  Document.fromText(lines.map((line) => line + terminator).join(''))

export const shown = (text: Document): string =>
  Array.from({ length: text.lineCount }, (_, i) => text.text(i + 1).replaceAll(' ', '·') || '_').join(' ')

/** `PUT 2.=3: B C` → a header and its body rows. */
const opText = (op: string): string => {
  const [, header = op, body = ''] = /^(.*?:)(?: (.*))?$/.exec(op) ?? []
  return [header, ...rows(body).map((row) => `+${row}`)].join('\n')
}

export type Spans = Readonly<Record<number, readonly [number, number]>>

/** Ops on a tagged text; `blocks` says where the block of a line ends, `linesOf` reads captures. */
export function resolve(
  ops: string,
  tagged: Document,
  blocks: Spans = {},
  linesOf = (range: LineRange): string[] => lines(tagged, range),
): readonly ResolvedOp[] {
  const parsed = parseOps(ops.split(' | ').map(opText).join('\n')).ops
  const lineOps = parsed.filter((op): op is LineOp => op.kind !== 'remove' && op.kind !== 'move')
  const spans = run(resolveSpans(lineOps, tagged, 'a.ts'), {
    blocks: (asked) =>
      asked.lines.map((line) => {
        const span = blocks[line]
        return span
          ? { found: true, span: { start: span[0], end: span[1] } }
          : { found: false, reason: { kind: 'parser-lost' } }
      }),
  })
  const sequenced = run(sequence(spans.placed, linesOf, limits), { registers: () => [], register: () => ['kept'] })
  return fill(spans.placed, sequenced, linesOf).ops
}

export const lines = (text: Document, range: LineRange): string[] =>
  Array.from({ length: range.length }, (_, i) => text.text(range.start + i))

export interface Recovered {
  readonly proof: Extract<AnchorProof, { proven: true }>
  readonly edit: LineEdit
  readonly result: Document
  readonly seen: LineSet
}

/** The whole way of branch C without repair; a string says why it declined. */
export function recover(
  tagged: Document,
  live: Document,
  ops: readonly ResolvedOp[],
  seen: Seen = 'unknown',
): Recovered | string {
  const map = documentMap(tagged, live, bounds)
  const proof = proveAnchors({ tagged, live, ops, seen, map })
  if (!proof.proven) return declineText(proof.reason)
  const placed = place(proof, ops)
  if ('reason' in placed) return declineText(placed.reason)
  return { proof, ...placed, result: placed.edit.apply(live) }
}

export function recovers(
  t: Test,
  taggedText: string,
  liveText: string,
  ops: string,
  expected: string | Declined,
  { seen = 'unknown', blocks = {} }: { seen?: Seen; blocks?: Spans } = {},
): void {
  const tagged = document(taggedText)
  const live = document(liveText)
  const outcome = recover(tagged, live, resolve(ops, tagged, blocks), seen)
  const got = typeof outcome === 'string' ? `declined: ${outcome}` : shown(outcome.result)
  const name = `${ops}: ${taggedText} → ${liveText}`
  if (typeof expected === 'string') t.equal(got, expected, name)
  else if (got.startsWith('declined: ')) t.ok(got.includes(expected.declined), `${name}: ${got}`)
  else t.equal(got, `declined: ${expected.declined}`, name)
}
