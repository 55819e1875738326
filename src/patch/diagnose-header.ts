/**
 * Says what is wrong with a row that begins like a header, and how it is spelled.
 *
 * A header may have several faults; the first in reading order is named and the correction mends all of them. Called by diagnose.ts.
 */
import type { ParseProblem } from '../errors/parse-problems.js'
import type { ToolError } from '../errors/tool-error.js'
import type { PatchBounds } from './lexer.js'
import { bodyFollows, isSpan, lexDestination, withoutTrailingBlanks } from './lexer.js'
import type { Attempt, Located, Tail } from './lenient.js'
import { locate, readTail } from './lenient.js'
import { destinationText, locatorText } from './print.js'
import type { Correction, Site } from './refusal.js'
import { EXAMPLES, EXAMPLE_TEXT, cutNear, cutOverRows, refuse, refuseLongNumber } from './refusal.js'

export function diagnoseHeader(site: Site, attempt: Attempt): ToolError {
  switch (attempt.verb) {
    case 'REM':
      return diagnoseRemove(site, attempt)
    case 'MV':
      return diagnoseMove(site, attempt)
    case 'PUT':
    case 'CUT':
      return diagnoseLocated(site, attempt, attempt.verb)
  }
}

/** What is wrong with the verb itself. */
function verbProblem(attempt: Attempt): ParseProblem | undefined {
  if (attempt.retired) return { kind: 'retired verb', verb: attempt.written, now: attempt.verb }
  if (attempt.written !== attempt.verb) return { kind: 'verb case' }
  return attempt.indented ? { kind: 'leading blank' } : undefined
}

function diagnoseRemove({ rows, at, bounds, under }: Site, attempt: Attempt): ToolError {
  if (attempt.rest.trim() === '') return refuse(rows, at, verbProblem(attempt) ?? { kind: 'spacing' }, { write: 'REM' })
  // In a body this is far more likely a row of text, and REM deletes a file.
  if (under !== undefined) return refuse(rows, at, { kind: 'missing plus' }, { write: `+${rows[at] ?? ''}` })
  const lines = linesBehindRemove(attempt.rest, bounds)
  if (lines !== undefined) return refuse(rows, at, { kind: 'text behind REM' }, { like: lines })
  return refuse(rows, at, verbProblem(attempt) ?? { kind: 'text behind REM' }, { like: EXAMPLES.REM })
}

/** Who names lines wants these deleted, and whoever follows an example of REM deletes the file. */
function linesBehindRemove(rest: string, bounds: PatchBounds): string | undefined {
  const place = locate(rest, bounds.lineNumberDigits)
  if (place === undefined || place === 'long number' || place.at === undefined) return undefined
  const tail = readTail(place.rest, bounds.registerNameChars)
  return tail.fault === undefined ? cutNear(place.at, tail.register) : undefined
}

function diagnoseMove({ rows, at }: Site, attempt: Attempt): ToolError {
  // `rest` is clipped; a destination is read from the whole row.
  const row = withoutTrailingBlanks(rows[at] ?? '').trimStart()
  const behind = row.slice(attempt.written.length)
  const text = behind.trimStart()
  const destination = lexDestination(text)
  if ('dest' in destination)
    return refuse(rows, at, verbProblem(attempt) ?? { kind: 'spacing' }, { write: `MV ${text}` })
  const { fault } = destination
  const like =
    fault === 'open quote' || fault === 'unknown escape' ? `MV ${destinationText(unquoted(text))}` : EXAMPLES.MV
  return refuse(rows, at, { kind: fault }, { like })
}

/** The path inside a quoted destination that did not end or holds a backslash: without its quotes, backslashes as they are. */
function unquoted(text: string): string {
  const inner = text.slice(1).replace(/"$/, '').trim()
  return inner === '' ? 'docs/new-name.md' : inner
}

/** A line feed that arrived as two characters in front of what begins a row. */
const ESCAPED_LINE_FEED = /\\(?:r\\)?n(?=\+|PUT |CUT |MV |REM\b|$)/g

function diagnoseLocated(site: Site, attempt: Attempt, verb: 'PUT' | 'CUT'): ToolError {
  const { rows, at, bounds } = site
  const unescaped = (rows[at] ?? '').trimStart().replace(ESCAPED_LINE_FEED, '\n')
  if (unescaped.includes('\n')) return refuse(rows, at, { kind: 'escaped line feed' }, { write: unescaped })
  const place = locate(attempt.rest, bounds.lineNumberDigits)
  if (place === 'long number') return refuseLongNumber(at)
  const early = verbProblem(attempt)
  if (place === undefined) return refuse(rows, at, early ?? noPlace(attempt.rest), { like: EXAMPLES[verb] })
  const several = verb === 'CUT' ? severalRanges(place, bounds.lineNumberDigits) : undefined
  if (several !== undefined) return refuse(rows, at, early ?? { kind: 'several ranges' }, { like: several })
  const tail = readTail(place.rest, bounds.registerNameChars)
  const problem = early ??
    placeProblem(place, verb) ??
    tailProblem(tail, verb, bounds.registerNameChars) ?? { kind: 'spacing' }
  return refuse(rows, at, problem, correct(site, attempt, verb, place, tail))
}

function noPlace(rest: string): ParseProblem {
  return { kind: /^\s*[<>[({]*\s*[A-Za-z]/.test(rest) ? 'placeholder' : 'locator' }
}

function placeProblem(place: Located, verb: 'PUT' | 'CUT'): ParseProblem | undefined {
  if (place.fault !== undefined) return { kind: place.fault }
  return verb === 'CUT' && place.at !== undefined && !isSpan(place.at) ? { kind: 'cut at gap' } : undefined
}

function tailProblem(tail: Tail, verb: 'PUT' | 'CUT', maxChars: number): ParseProblem | undefined {
  if (tail.fault === 'register name') return { kind: 'register name', maxChars }
  if (verb === 'CUT' && tail.colon) return { kind: 'colon after cut' }
  return tail.fault === undefined ? undefined : { kind: tail.fault }
}

/** `CUT 5.=7, 9.=9` as one op per range. */
function severalRanges(first: Located, digits: number): string | undefined {
  const headers: string[] = []
  let place: Located | 'long number' | undefined = first
  while (place !== undefined && place !== 'long number' && place.at !== undefined && isSpan(place.at)) {
    headers.push(`CUT ${locatorText(place.at)}`)
    const more: RegExpExecArray | null = /^\s*(?:[,;&]|and\b|\s)\s*(?=\d)/.exec(place.rest)
    if (more === null) return headers.length > 1 && place.rest.trim() === '' ? headers.join('\n') : undefined
    place = locate(place.rest.slice(more[0].length), digits)
  }
  return undefined
}

/** The header with every fault mended, and with the row of text that stood behind its colon. */
function correct(site: Site, attempt: Attempt, verb: 'PUT' | 'CUT', place: Located, tail: Tail): Correction {
  const follows = bodyFollows(site.rows, site.at)
  const spelled = spell(verb, place, tail, follows)
  // An old insert without its text is no paste: only PASTE was one.
  const insert = attempt.retired && verb === 'PUT' && spelled !== undefined && !/[:@]/.test(spelled)
  const header = insert && attempt.written.toUpperCase() !== 'PASTE' ? `${spelled}:` : spelled
  if (header === undefined)
    return { like: verb === 'CUT' && place.at ? cutNear(place.at, tail.register) : EXAMPLES[verb] }
  // Without what stood behind it, a PUT at a gap would be an anonymous paste, which nobody asked for.
  const dropped = tail.fault === 'text behind header' && verb === 'PUT' && !follows
  const sure = attempt.sure && place.sure && tail.sure && !dropped
  const text = !header.endsWith(':') || follows ? undefined : tail.text
  if (text !== undefined) return sure ? { write: `${header}\n+${text}` } : { like: `${header}\n+${text}` }
  if ((attempt.retired || !sure) && header.endsWith(':')) {
    const next = site.rows[site.at + 1] ?? ''
    const body = next.startsWith('+') ? next : `+${EXAMPLE_TEXT}`
    return sure && next.startsWith('+') ? { write: `${header}\n${body}` } : { like: `${header}\n${body}` }
  }
  return sure ? { write: header } : { like: header }
}

function spell(verb: 'PUT' | 'CUT', place: Located, tail: Tail, follows: boolean): string | undefined {
  const { at } = place
  if (at === undefined) return undefined
  const put = `PUT ${locatorText(at)}`
  if (verb === 'CUT' && !isSpan(at)) return undefined
  if (follows) return verb === 'CUT' ? cutOverRows(at, tail.register) : `${put}:`
  if (tail.register !== undefined) return `${verb} ${locatorText(at)} @${tail.register}`
  if (verb === 'CUT') return `CUT ${locatorText(at)}`
  return tail.colon || isSpan(at) ? `${put}:` : put
}
