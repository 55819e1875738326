/**
 * The notation of the repair tests: a text and its ops on one line each, `⏎` for a line feed; the outcome as the new text and what was said of it.
 *
 * Ops go through the real parser, spans and registers; verdicts come from the real grammars, parsed in this thread.
 */
import t from 'tap'
import { LanguageIndex } from '../../src/syntax/language-index.js'
import { languages } from '../../src/syntax/languages.js'
import { ParserHost } from '../../src/syntax/parser-host.js'
import type { Answers } from '../../src/engine/facts.js'
import { run } from '../../src/engine/facts.js'
import { fill, sequence } from '../../src/engine/registers.js'
import type { Repaired } from '../../src/engine/repair.js'
import { repair } from '../../src/engine/repair.js'
import type { ResolvedOp } from '../../src/engine/resolved.js'
import type { LineOp } from '../../src/engine/resolve.js'
import { resolveSpans } from '../../src/engine/resolve.js'
import { assertDisjoint } from '../../src/engine/gates/overlap.js'
import type { Warning } from '../../src/errors/warnings.js'
import { ToolError } from '../../src/errors/tool-error.js'
import { limits } from '../../src/limits.js'
import { parseOps } from '../../src/patch/parser.js'
import { Document } from '../../src/text/document.js'
import type { ParseVerdict } from '../../src/text/facts.js'
import { LineEdit } from '../../src/text/line-edit.js'
import type { LineRange } from '../../src/text/line-range.js'

const host = await ParserHost.create({
  keptTrees: 4,
  keptFiles: 4,
  keptFileUnits: 1_000_000,
  keptUnits: 1_000_000,
  memoryBytes: 512 * 1024 * 1024,
})
const index = new LanguageIndex(languages)

export const unfold = (text: string): string => text.replaceAll('⏎', '\n')
export const fold = (text: string): string => text.replaceAll('\n', '⏎')

export function verdictOn(path: string, text: string): ParseVerdict {
  const language = index.of(path, text.slice(0, 256).split('\n')[0] ?? '')
  if (language === undefined) return { verdict: 'unknown-language' }
  const parsed = host.parse(language, text, () => false)
  if (parsed === undefined) return { verdict: 'no-verdict', why: 'timed-out' }
  if (parsed.clean) return { verdict: 'clean' }
  if (!('errorRow' in parsed)) return { verdict: 'no-verdict', why: 'too-large' }
  return { verdict: 'broken', errorLine: parsed.errorRow + 1 }
}

/** What the plan asked, so that a test can say that nothing was asked. */
export interface Asked {
  questions: string[]
  texts: number
}

export interface Driving {
  readonly verdict?: (path: string, text: string) => ParseVerdict
  readonly registers?: Readonly<Record<string, readonly string[]>>
  readonly repairCandidates?: number
}

export function answersOf(driving: Driving, asked: Asked = { questions: [], texts: 0 }): Answers {
  const verdict = driving.verdict ?? verdictOn
  return {
    language: ({ path, text }) => {
      asked.questions.push('language')
      return index.of(path, text.lineCount === 0 ? '' : text.text(1)) !== undefined
    },
    verdicts: ({ path, texts }) => {
      asked.questions.push('verdicts')
      asked.texts += texts.length
      return texts.map((text) => verdict(path, text.rawText()))
    },
    register: ({ name }) => driving.registers?.[name],
    registers: () => Object.keys(driving.registers ?? {}),
    blocks: ({ path, text, lines }) => {
      const language = index.of(path, '')
      const parsed = language && host.parse(language, text.rawText(), () => false)
      return lines.map((line) =>
        parsed?.clean ? parsed.blocks.at(line) : { found: false, reason: { kind: 'parser-lost' } },
      )
    },
  }
}

/** Ops as the pipeline hands them to repair. */
export function resolvedOps(path: string, base: Document, ops: string, answers: Answers): readonly ResolvedOp[] {
  const written = parseOps(ops).ops.filter((op): op is LineOp => op.kind !== 'remove' && op.kind !== 'move')
  const linesOf = (range: LineRange): string[] =>
    Array.from({ length: range.length }, (_, i) => base.text(range.start + i))
  const { placed } = run(resolveSpans(written, base, path), answers)
  assertDisjoint(placed)
  return fill(placed, run(sequence(placed, linesOf, limits), answers), linesOf).ops
}

export function applied(base: Document, ops: readonly ResolvedOp[]): Document {
  return new LineEdit(
    base.lineCount,
    ops.flatMap((op) => op.replacements),
  ).apply(base)
}

export interface Outcome extends Repaired {
  readonly base: Document
  readonly authored: readonly ResolvedOp[]
  readonly asked: Asked
}

/** Repairs `ops` on `text`; both in full, not folded. */
export function repaired(path: string, text: string, ops: string, driving: Driving = {}): Outcome {
  const base = Document.fromText(text)
  const asked: Asked = { questions: [], texts: 0 }
  const answers = answersOf(driving, asked)
  const authored = resolvedOps(path, base, ops, answers)
  asked.questions = []
  const bounds = { repairCandidates: driving.repairCandidates ?? limits.repairCandidates }
  return { ...run(repair({ path, base, ops: authored }, bounds), answers), base, authored, asked }
}

/** `new text ## what was said`, folded; a refusal is its code and its readings. */
export function outcome(path: string, text: string, ops: string, driving: Driving = {}): string {
  try {
    const result = repaired(path, unfold(text), unfold(ops), driving)
    const said = result.warnings.map(warningText)
    const after = fold(applied(result.base, result.ops).rawText().replace(/\n$/, ''))
    return said.length === 0 ? after : `${after} ## ${said.join(', ')}`
  } catch (error) {
    if (error instanceof ToolError && error.is('EDIT_REPAIR_AMBIGUOUS')) {
      return `AMBIGUOUS ${error.params.candidates.map(({ label }) => label).join(' | ')}`
    }
    throw error
  }
}

/** Path, text, ops and the outcome. */
type Case = readonly [path: string, text: string, ops: string, outcome: string]

/** One test of many cases, each on a line. */
export function golden(name: string, cases: readonly Case[], driving: Driving = {}): void {
  t.test(name, async (t) => {
    for (const [path, text, ops, expected] of cases)
      t.equal(outcome(path, text, ops, driving), expected, `${text} · ${ops}`)
  })
}

export function warningText(warning: Warning): string {
  const lines = Array.isArray(warning['lines']) ? ` ${warning['lines'].join('-')}` : ''
  if (warning.code === 'BOUNDARY_ECHO_REMOVED') return `dropped${lines}`
  if (warning.code === 'BOUNDARY_ROW_KEPT') return `kept${lines}`
  return warning.code
}
