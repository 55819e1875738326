/**
 * Says what is wrong with a row that is neither a header nor a body row, and what to write in its place.
 *
 * Never makes an op: corrections are text for the author, who decides. Runs once per call, on the row that ended it. Called by the
 * parser.
 */
import type { ForeignSyntax, ParseProblem } from '../errors/parse-problems.js'
import { clipText } from '../errors/clip.js'
import type { ToolError } from '../errors/tool-error.js'
import { bodyFollows, lexNamed, skipEmpty, withoutTrailingBlanks } from './lexer.js'
import type { Correction, Site } from './refusal.js'
import { EXAMPLES, EXAMPLE_TEXT, refuse, refuseLongNumber } from './refusal.js'
import { diagnoseHeader } from './diagnose-header.js'
import { ATTEMPT_CHARS, locate, readAttempt } from './lenient.js'
import { headerText } from './print.js'

export function diagnoseRow(site: Site): ToolError {
  const { rows, at, under } = site
  const row = rows[at] ?? ''
  if (row.trim() === '')
    return refuse(rows, at, { kind: 'row of blanks' }, bodyFollows(rows, at) ? { write: '+' } : blockOf(site))
  if (row.startsWith('+')) return refuse(rows, at, { kind: 'body before op' }, { like: `PUT >$:\n${row}` })
  const attempt = readAttempt(row, under !== undefined)
  if (attempt !== undefined) return diagnoseHeader(site, attempt)
  const fileHeader = diagnoseFileHeader(site, row)
  if (fileHeader !== undefined) return fileHeader
  const syntax = foreignSyntax(row, under !== undefined)
  if (syntax !== undefined) return refuse(rows, at, { kind: 'foreign syntax', syntax }, blockOf(site))
  return under === undefined ? diagnoseLooseRow(site, row) : diagnoseBodyRow(site, row, under)
}

/** The op over the row as it would stand without it, or a worked example. */
function blockOf({ under, above }: Site): Correction {
  const first = under?.body[0]
  if (under !== undefined && first !== undefined) return { like: `${under.header}\n+${first}` }
  return { like: under === undefined && above !== undefined ? above.header : EXAMPLES.PUT }
}

function diagnoseFileHeader(site: Site, row: string): ToolError | undefined {
  const { rows, at } = site
  const trimmed = withoutTrailingBlanks(row).trimStart()
  const first = skipEmpty(rows, 0) === at
  if (lexNamed(trimmed) !== undefined)
    return first
      ? refuse(rows, at, { kind: 'leading blank' }, { write: trimmed })
      : refuse(rows, at, { kind: 'file header not first' }, blockOf(site))
  if (!first || !/^\[[^\]{"[]/.test(trimmed)) return undefined
  return refuse(rows, at, { kind: 'file header form' }, { like: `[src/main.rs#A1B2]\n${EXAMPLES.PUT}` })
}

const foreignRows: readonly (readonly [RegExp, ForeignSyntax, 'anywhere' | 'outside a body'])[] = [
  [/^\s*\*\*\* ?(?:Begin Patch|End Patch|Update File|Add File|Delete File|Move to)/i, 'apply_patch', 'anywhere'],
  [/^(?:@@|diff --git |index [0-9a-f]{6,}\.\.|\\ No newline)/, 'unified diff', 'anywhere'],
  [/^(?:--- |-{3}$)/, 'unified diff', 'outside a body'],
  [/^(?:<{7}|>{7}|\|{7}|={7})(?: |$)/, 'conflict markers', 'anywhere'],
  [/^\s*(?:```|~~~)/, 'code fence', 'anywhere'],
  [/^\s*(?:\{|\[)/, 'JSON', 'outside a body'],
  [/^\s*<[/!?]?[A-Za-z]/, 'markup', 'outside a body'],
]

function foreignSyntax(row: string, inBody: boolean): ForeignSyntax | undefined {
  const start = clipText(row, ATTEMPT_CHARS)
  return foreignRows.find(([pattern, , where]) => (where === 'anywhere' || !inBody) && pattern.test(start))?.[1]
}

/** A row of a body that lacks its plus. */
function diagnoseBodyRow(site: Site, row: string, under: NonNullable<Site['under']>): ToolError {
  const { rows, at } = site
  if (row.startsWith('-')) {
    const added = [...under.body, ...bodyBelow(site)]
    if (added.length === 0 || (row.startsWith('- ') && added.every((text) => /^\s*[-*] /.test(text))))
      return refuse(rows, at, { kind: 'minus row' }, { write: `+${row}` })
    return refuse(rows, at, { kind: 'old row' }, { like: `${under.header}\n+${added[0] ?? ''}` })
  }
  if (/^\s+\+/.test(row)) return refuse(rows, at, { kind: 'indented plus' }, { write: row.trimStart() })
  const numbered = numberedRow(row)
  return numbered === undefined
    ? refuse(rows, at, { kind: 'missing plus' }, { write: `+${row}` })
    : refuse(rows, at, { kind: 'numbered body row' }, { write: `+${numbered.text}` })
}

/** The texts of the + rows below the refused row, up to the next header. */
function bodyBelow({ rows, at }: Site): string[] {
  const texts: string[] = []
  for (let i = at + 1; i < rows.length; i++) {
    const row = rows[i] ?? ''
    if (/^(?:PUT |CUT |MV |REM$)/.test(row)) break
    if (row.startsWith('+')) texts.push(row.slice(1))
  }
  return texts
}

/** `12:text` as Read shows it; also with the bar or arrow of other tools. */
function numberedRow(row: string): { readonly line: number; readonly text: string } | undefined {
  const match = /^\s{0,8}(\d{1,7})(?:[:|→]|\t)(.*)$/s.exec(row)
  return match === null ? undefined : { line: Number(match[1]), text: match[2] ?? '' }
}

/** A row over which no body is open. */
function diagnoseLooseRow(site: Site, row: string): ToolError {
  const { rows, at, bounds } = site
  const start = clipText(row, ATTEMPT_CHARS)
  const numbered = numberedRow(row)
  if (numbered !== undefined && !(numbered.text.trim() === '' && bodyFollows(rows, at)))
    return diagnoseNumberedRows(site)
  const place = /^\s*(?:\d|[<>]\s*[\d$])/.test(start) ? locate(start, bounds.lineNumberDigits) : undefined
  if (place === 'long number') return refuseLongNumber(at)
  if (place?.at !== undefined && /^\s*:?\s*$/.test(place.rest)) {
    const header = headerText({ kind: 'put', at: place.at, rows: [] })
    return refuse(
      rows,
      at,
      { kind: 'no verb' },
      bodyFollows(rows, at) ? { write: header } : { like: `${header}\n+${EXAMPLE_TEXT}` },
    )
  }
  const over = site.above?.kind === 'cut' || site.above?.kind === 'paste' ? site.above : undefined
  if (over !== undefined && /^[^A-Za-z]|^[a-z]/.test(start))
    return refuse(
      rows,
      at,
      { kind: 'not an op' },
      { like: `${headerText({ kind: 'put', at: over.at, rows: [] })}\n+${row}` },
    )
  const [, verb] = /^([A-Z][A-Z._]{1,15})(?:[ :]|$)/.exec(start) ?? []
  const problem: ParseProblem = verb === undefined ? { kind: 'not an op' } : { kind: 'unknown verb', verb }
  return refuse(rows, at, problem, { like: EXAMPLES.PUT })
}

/** Rows of a paste that its correction shows. */
const NUMBERED_ROWS = 8

/** Rows pasted from Read in place of an op. Shows the op that would put the first of them where they stood. */
function diagnoseNumberedRows({ rows, at }: Site): ToolError {
  const pasted: { readonly line: number; readonly text: string }[] = []
  for (let numbered = numberedRow(rows[at] ?? ''); numbered !== undefined && pasted.length < NUMBERED_ROWS;) {
    pasted.push(numbered)
    numbered = numberedRow(rows[at + pasted.length] ?? '')
  }
  const repeated = pasted.find(({ line }, i) => pasted.findIndex((other) => other.line === line) < i)?.line
  const first = Math.max(pasted[0]?.line ?? 1, 1)
  const last = Math.max(pasted.at(-1)?.line ?? first, first)
  const header = headerText({ kind: 'put', at: { kind: 'range', first, last }, rows: [] })
  const problem = { kind: 'numbered rows' as const, ...(repeated === undefined ? {} : { repeated }) }
  return refuse(rows, at, problem, { like: [header, ...pasted.map(({ text }) => `+${text}`)].join('\n') })
}
