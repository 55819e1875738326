/**
 * Reads `ops` into a Patch, strictly (contract §7, reading §4).
 *
 *     ops          := [named_row] header_block+          empty rows may stand before a header and at the end
 *     named_row    := "[" path "#" HEX HEX HEX HEX "]"    the first row that is not empty, or nowhere
 *     header_block := put_header body_row+ | op_row
 *     put_header   := "PUT" SP locator ":"
 *     op_row       := "PUT" SP gap [SP register]          an anonymous paste where there is no register
 *                   | "PUT" SP span SP register
 *                   | "CUT" SP span [SP register]
 *                   | "REM"                               alone in its ops
 *                   | "MV" SP dest                        once
 *     locator      := gap | span
 *     span         := line ".=" line | line "*"           the first line is not behind the last
 *     gap          := "<" line | ">" line | ">" "$" | ">" line "*"
 *     line         := [1-9][0-9]{0,6}
 *     register     := "@" [A-Za-z0-9_-]{1,32}
 *     body_row     := "+" TEXT                            TEXT is literal, whatever it looks like
 *     dest         := TEXT | quoted                       quoted: "…" with \" and \\
 *
 * Blanks behind a header are ignored; a CR before LF is transport. Refuses everything else: nothing is repaired, every refusal
 * names its row, what was found and what to write. Knows nothing of files: bounds, overlaps and registers are the engine's. Called by
 * the Edit tool.
 */
import { limits } from '../limits.js'
import { opsHoldLoneSurrogate, opsHoldNul, opsTooLarge, tooManyOps } from '../errors/invalid.js'
import type { PlainProblem } from '../errors/parse-problems.js'
import type { Gap, Op, Patch, Span } from './ops.js'
import type { HeaderToken, LocatedToken, PatchBounds } from './lexer.js'
import { bodyFollows, isSpan, lexHeader, lexNamed, rowsOf, skipEmpty, withoutTrailingBlanks } from './lexer.js'
import type { Correction } from './refusal.js'
import { diagnoseRow } from './diagnose.js'
import { EXAMPLES, EXAMPLE_TEXT, cutNear, cutOverRows, refuse, refuseLongNumber, refuseReversed } from './refusal.js'
import { headerText, locatorText, printOps } from './print.js'

/**
 * The limit on bytes, and the characters that no text file can hold (contract §12, reading §1.6). The caller runs this before anything
 * else about `ops`. Throws INVALID_ARGUMENT.
 */
export function checkOpsBytes(ops: string, bounds: Pick<PatchBounds, 'opsBytes'> = limits): void {
  const bytes = Buffer.byteLength(ops, 'utf8')
  if (bytes > bounds.opsBytes) throw opsTooLarge(bytes, bounds.opsBytes)
  const nul = ops.indexOf('\0')
  if (nul >= 0) throw opsHoldNul(rowAt(ops, nul))
  const surrogate = ops.search(/\p{Surrogate}/u)
  if (surrogate >= 0) throw opsHoldLoneSurrogate(rowAt(ops, surrogate))
}

const rowAt = (ops: string, index: number): number => ops.slice(0, index).split('\n').length

/**
 * Parses `ops`, which `checkOpsBytes` accepted. Line numbers are those of the tagged text and may lie outside of it.
 * Throws EDIT_PARSE_FAILED; EDIT_RANGE_INVALID for a reversed range or a number of too many digits; INVALID_ARGUMENT past
 * `opsPerCall`. The first fault in row order wins. Law: parse(print(x)) = x.
 */
export function parseOps(ops: string, bounds: PatchBounds = limits): Patch {
  const rows = rowsOf(ops)
  const start = skipEmpty(rows, 0)
  const named = lexNamed(withoutTrailingBlanks(rows[start] ?? ''))
  const read: Op[] = []
  let at = named === undefined ? start : skipEmpty(rows, start + 1)
  while (at < rows.length) {
    const block = readBlock(rows, at, read, bounds)
    read.push(block.op)
    at = skipEmpty(rows, block.end)
  }
  if (read.length === 0) throw refuse(rows, start < rows.length ? start : 0, { kind: 'no op' }, { like: EXAMPLES.PUT })
  return named === undefined ? { ops: read } : { named: { ...named, opsLine: start + 1 }, ops: read }
}

/** One op and the index of the row behind it. */
interface Block {
  readonly op: Op
  readonly end: number
}

function readBlock(rows: readonly string[], at: number, before: readonly Op[], bounds: PatchBounds): Block {
  const header = withoutTrailingBlanks(rows[at] ?? '')
  const token = lexHeader(header, bounds)
  if (token === undefined) throw diagnoseRow({ rows, at, bounds, ...aboveOf(before) })
  if (token === 'long number') throw refuseLongNumber(at)
  if (before.length >= bounds.opsPerCall) throw tooManyOps(bounds.opsPerCall)
  checkCompany(rows, at, token, before, bounds)
  switch (token.verb) {
    case 'REM':
      checkBodiless(rows, at, 'REM')
      return { op: { kind: 'remove', opsLine: at + 1, header }, end: at + 1 }
    case 'MV':
      checkBodiless(rows, at, 'MV')
      return { op: { kind: 'move', opsLine: at + 1, header, dest: token.dest }, end: at + 1 }
    case 'PUT':
    case 'CUT':
      return readLocated(rows, at, token, header, bounds)
  }
}

/** REM and MV take no rows, and name no place where the rows could go. */
function checkBodiless(rows: readonly string[], at: number, verb: 'REM' | 'MV'): void {
  if (!bodyFollows(rows, at)) return
  const body = skipEmpty(rows, at + 1)
  throw refuse(rows, body, { kind: 'rows under', verb }, { like: `PUT >$:\n${rows[body] ?? ''}` })
}

function aboveOf(before: readonly Op[]): { above?: Op } {
  const above = before.at(-1)
  return above === undefined ? {} : { above }
}

/** REM stands alone and MV comes once (reading §4.6). */
function checkCompany(
  rows: readonly string[],
  at: number,
  token: HeaderToken,
  before: readonly Op[],
  bounds: PatchBounds,
): void {
  if (before.length > 0 && (token.verb === 'REM' || before.some((op) => op.kind === 'remove'))) {
    // Whoever follows an example of REM deletes the file, so the example is what stands beside it.
    const others = token.verb === 'REM' ? before : [readBlock(rows, at, [], bounds).op]
    throw refuse(rows, at, { kind: 'remove beside others' }, { like: exampleOf(others) })
  }
  const moved = token.verb === 'MV' ? before.find((op) => op.kind === 'move') : undefined
  if (moved !== undefined)
    throw refuse(
      rows,
      at,
      { kind: 'second move', firstRow: moved.opsLine },
      { like: withoutTrailingBlanks(rows[at] ?? '') },
    )
}

/** The ops without a REM and without the empty rows between them. */
function exampleOf(ops: readonly Op[]): string {
  const others = ops.filter((op) => op.kind !== 'remove')
  return others.length === 0
    ? EXAMPLES.REM
    : others.map((op) => printOps({ ops: [{ ...op, opsLine: 1 }] }).replace(/\n$/, '')).join('\n')
}

function readLocated(
  rows: readonly string[],
  at: number,
  token: LocatedToken,
  header: string,
  bounds: PatchBounds,
): Block {
  const { at: place, register } = token
  if (place.kind === 'range' && place.last < place.first)
    throw refuseReversed(at, token, place, bounds.lineNumberDigits)
  if (token.verb === 'PUT' && token.colon && register === undefined) return readPut(rows, at, place, header, bounds)

  checkColonless(rows, at, token)
  const end = at + 1
  const opsLine = at + 1
  // A CUT at a gap was refused above; the type says so only here.
  if (token.verb === 'CUT' && isSpan(place))
    return {
      op:
        register === undefined
          ? { kind: 'cut', opsLine, header, at: place }
          : { kind: 'cut', opsLine, header, at: place, register },
      end,
    }
  return {
    op:
      register === undefined
        ? { kind: 'paste', opsLine, header, at: place }
        : { kind: 'paste', opsLine, header, at: place, register },
    end,
  }
}

function readPut(rows: readonly string[], at: number, place: Gap | Span, header: string, bounds: PatchBounds): Block {
  const body: string[] = []
  let end = at + 1
  for (let row = rows[end]; row?.startsWith('+'); row = rows[++end]) body.push(row.slice(1))
  const next = skipEmpty(rows, end)
  if (next > end && rows[next]?.startsWith('+')) throw refuse(rows, end, { kind: 'empty row in body' }, { write: '+' })
  const following = next < rows.length ? lexHeader(withoutTrailingBlanks(rows[next] ?? ''), bounds) : 'end'
  if (following === undefined) throw diagnoseRow({ rows, at: next, bounds, under: { header, body } })
  if (body.length === 0) throw refuse(rows, at, { kind: 'missing body' }, bodiless(place))
  return { op: { kind: 'put', opsLine: at + 1, header, at: place, rows: body }, end }
}

const bodiless = (at: Gap | Span): Correction =>
  isSpan(at)
    ? { write: headerText({ kind: 'cut', at }) }
    : { like: `${headerText({ kind: 'put', at, rows: [] })}\n+${EXAMPLE_TEXT}` }

/** What a header that takes no rows can have wrong once its form is right (reading §4.3, §4.4). */
function checkColonless(rows: readonly string[], at: number, token: LocatedToken): void {
  const follows = bodyFollows(rows, at)
  const kind = token.verb === 'CUT' ? cutProblem(token, follows) : pasteProblem(token, follows)
  if (kind === undefined) return
  const put = `PUT ${locatorText(token.at)}:`
  const register = token.register === undefined ? '' : ` @${token.register}`
  if (kind === 'rows under cut') throw refuse(rows, at, { kind }, { write: cutOverRows(token.at, token.register) })
  const plain = { write: follows ? put : `${token.verb} ${locatorText(token.at)}${register}` }
  if (kind === 'cut at gap') throw refuse(rows, at, { kind }, { like: cutNear(token.at, token.register) })
  if (kind === 'missing register') throw refuse(rows, at, { kind }, { like: `${put}\n+${EXAMPLE_TEXT}` })
  throw refuse(rows, at, { kind }, plain)
}

function cutProblem({ at, colon }: LocatedToken, follows: boolean): PlainProblem | undefined {
  if (follows) return 'rows under cut'
  if (!isSpan(at)) return 'cut at gap'
  return colon ? 'colon after cut' : undefined
}

function pasteProblem({ at, colon, register }: LocatedToken, follows: boolean): PlainProblem | undefined {
  if (colon) return 'register with colon'
  if (follows) return register === undefined ? 'missing colon' : 'rows under paste'
  return isSpan(at) && register === undefined ? 'missing register' : undefined
}
