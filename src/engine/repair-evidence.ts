/**
 * Which row of a replaced range may be kept, from structure and indentation alone (contract §8.4). The table of docs/repair.md in code.
 *
 * A candidate is the first row of the range above the body, or its last row that is not blank below the body. It must be half of a construct whose other
 * half (its partner) stands at the same indentation, in the tagged text and in the candidate alike, with everything in between deeper; and
 * that partner is what the author left standing or wrote anew, never what another op of the call took away. Parse success is judged elsewhere and is
 * never enough: `"b": 2` can make a file parse again and is no boundary. Called by repair-search.
 */
import type { LineRange } from '../text/line-range.js'
import { isBlank, replacedBody } from './repair-echo.js'
import type { Kept, Reading, Take } from './repair-reading.js'
import { resolved, rowsLeft } from './repair-reading.js'
import type { Piece, WalkedRow } from './repair-rows.js'
import {
  closesComment,
  endsInColon,
  endsOpen,
  fits,
  halvesIn,
  indentOf,
  isCloser,
  isCommentRow,
  isDeeper,
  isSameHalf,
  opensComment,
  reopens,
  Walk,
} from './repair-rows.js'
import type { ResolvedOp } from './resolved.js'

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u

/** A row that may be kept by the op at `index` of the call. */
export interface KeepOption {
  readonly index: number
  readonly kept: Kept
}

/**
 * The rows that structure and indentation allow to keep when the call is read as `reading`, at most two per op, from the top of the text to its
 * end. `partnerRows` bounds every search for a partner.
 */
export function keepOptions(reading: Reading, partnerRows: number): readonly KeepOption[] {
  const pieces = piecesOf(reading)
  const gaps = new Set(pieces.filter((piece) => piece.range.isGap).map((piece) => piece.range.start))
  const options = reading.takes.flatMap((take, index) =>
    boundaryRows(reading, take)
      .filter((kept) => isFree(gaps, kept) && new Boundary(reading, pieces, take, index, kept, partnerRows).holds())
      .map((kept) => ({ index, kept })),
  )
  return options.sort((a, b) => a.kept.line - b.kept.line)
}

function boundaryRows(reading: Reading, take: Take): readonly Kept[] {
  if (replacedBody(take.op) === undefined) return []
  const { base } = reading
  const { range } = take.op
  const rows: Kept[] = isBlank(base.text(range.start)) ? [] : [{ line: range.start, place: 'above' }]
  for (let line = range.last; line >= range.start; line--) {
    if (isBlank(base.text(line))) continue
    rows.push({ line, place: 'below' })
    break
  }
  return rows
}

/** A kept row can turn a replacement into an insert; two inserts at one gap have no order. */
function isFree(gaps: ReadonlySet<number>, kept: Kept): boolean {
  return !gaps.has(kept.place === 'above' ? kept.line + 1 : kept.line)
}

interface Partner {
  readonly row: WalkedRow
  /** The shallowest indent of the rows in between, all of them deeper; undefined when there are none. */
  readonly nested: string | undefined
  /** The same without rows that end in a colon. */
  readonly unlabelled: string | undefined
  /** The same of those rows in between that the op itself writes. */
  readonly written: string | undefined
}

class Boundary {
  private readonly row: string
  private readonly indent: string
  private readonly tagged: Walk
  private readonly range: LineRange
  private readonly body: readonly string[]
  private walk: Walk | undefined

  constructor(
    private readonly reading: Reading,
    /** Of the reading without the kept row. */
    private readonly pieces: readonly Piece[],
    private readonly take: Take,
    private readonly index: number,
    private readonly kept: Kept,
    private readonly partnerRows: number,
  ) {
    const { base } = reading
    this.row = base.text(kept.line)
    this.indent = indentOf(this.row)
    this.tagged = new Walk(base, [])
    this.range = take.op.range
    this.body = rowsLeft(take).filter((row) => !isBlank(row))
  }

  /** Built only for rows that are structural in the tagged text: most are not. */
  private get candidate(): Walk {
    const { index, kept, pieces } = this
    const own = partsOf(resolved({ ...this.take, kept }), index)
    return (this.walk ??= new Walk(
      this.reading.base,
      sorted([...pieces.filter((piece) => piece.op !== index), ...own]),
    ))
  }

  holds(): boolean {
    if (opensComment(this.row) || closesComment(this.row)) return this.endsComment()
    const closes = isCloser(this.row)
    const opens = closes ? reopens(this.row) : this.opensInTagged()
    if ((!closes && !opens) || this.isRestated()) return false
    // A sibling over a header alone may be what its author wants in its place, with the rest of the change to come; over a closer alone it never is.
    const isNested = this.kept.place === 'below' ? closes : opens
    if (opens && !isNested && this.rest().length === 0) return false
    return (
      this.bodyMatchesRest() &&
      (closes ? this.sidesAgree('up', isOpeningPartner) : this.bodyStaysOutside('up')) &&
      (opens ? this.sidesAgree('down', isClosingPartner) || this.isColonHeader() : this.bodyStaysOutside('down'))
    )
  }

  /** The body ends (or begins) in this very row, or holds it with its name anywhere: it was written again, not swallowed. */
  private isRestated(): boolean {
    if ((this.kept.place === 'above' ? this.body[0] : this.body.at(-1)) === this.row) return true
    const bare = (row: string): string => row.replaceAll(/\s/g, '')
    return LETTER_OR_DIGIT.test(this.row) && this.body.some((row) => bare(row) === bare(this.row))
  }

  /**
   * One end of a block comment whose other end stands, in the tagged text and in the candidate, with nothing but rows of the comment in between. A body on
   * the inside is rows of that comment; one on the outside is none, and stands for other rows of the range.
   */
  private endsComment(): boolean {
    const { line, place } = this.kept
    const side = opensComment(this.row) ? 'down' : 'up'
    const isInside = (side === 'up') === (place === 'below')
    const stands = isInside ? this.body.every(isCommentRow) : !this.body.some(isCommentRow) && this.rest().length > 0
    if (!stands || this.body.length === 0) return false
    return [this.tagged, this.candidate].every((walk) => {
      for (const { text } of walk[side](line)) {
        if (!isCommentRow(text)) return side === 'up' ? opensComment(text) : closesComment(text)
      }
      return false
    })
  }

  private opensInTagged(): boolean {
    const partner = this.partner(this.tagged.down(this.kept.line))
    if (partner && isClosingPartner(this.row, partner)) return indentOf(partner.row.text) === this.indent
    return this.isColonHeader()
  }

  /**
   * The body stands for the rest of the range: it leaves the same halves of constructs open as the rows that it replaces beside this one. A row
   * is off by one only then; otherwise the body is another text, broken for reasons of its own.
   */
  private bodyMatchesRest(): boolean {
    const rest = this.rest()
    const below = this.kept.place === 'below' ? this.row : firstRow(this.tagged.down(this.range.last))
    const halves = halvesIn(rest, below)
    const written = halvesIn(this.body, below)
    return halves.length === written.length && halves.every((half, i) => isSameHalf(half, written[i]))
  }

  /** The rows of the range beside this one that are not blank. */
  private rest(): readonly string[] {
    const lines = Array.from({ length: this.range.length }, (_, i) => this.range.start + i)
    return lines
      .filter((line) => line !== this.kept.line)
      .map((line) => this.reading.base.text(line))
      .filter((row) => !isBlank(row))
  }

  /**
   * Both texts hold a partner on this side, and what the op writes in between is nested as what was there. A former partner that was taken away proves nothing:
   * ops that remove a wrapper leave no half behind. Where it was replaced, the op that took it must have put the same half in its place.
   */
  private sidesAgree(side: 'up' | 'down', isPartner: (row: string, partner: Partner) => boolean): boolean {
    const { line } = this.kept
    const was = this.partner(this.tagged[side](line))
    const is = this.partner(this.candidate[side](line))
    if (!was || !is || !isPartner(this.row, was) || !isPartner(this.row, is)) return false
    if (indentOf(was.row.text) !== this.indent || indentOf(is.row.text) !== this.indent) return false
    if (!this.isNestedAlike(was, is)) return false
    if (is.row.line !== undefined) return is.row.line === was.row.line
    if (is.row.op === this.index && this.survives(was.row)) return true
    // The former partner is replaced, by this op or by another: what stands in its place must be the same half.
    const kind = side === 'up' ? 'opens' : 'closes'
    if (!isSameHalf({ kind, row: was.row.text }, { kind, row: is.row.text })) return false
    return this.isOwn(was.row)
      ? is.row.op === this.index && is.written !== undefined
      : is.row.op !== this.index && !this.survives(was.row)
  }

  /** What the body nests begins at the indent of what was nested, or of the rows that it replaces; labels (`private:`, `case 1:`) have one of their own. */
  private isNestedAlike(was: Partner, is: Partner): boolean {
    if (was.nested === undefined || is.written === undefined) return true
    const rest = this.rest().map(indentOf).reduce<string | undefined>(shallower, undefined)
    return [was.nested, was.unlabelled, rest].includes(is.written)
  }

  /** Where this row has no partner, the body next to it is a sibling, or the other half of what encloses it. */
  private bodyStaysOutside(side: 'up' | 'down'): boolean {
    const isBody = side === 'up' ? this.kept.place === 'below' : this.kept.place === 'above'
    const beside = !isBody ? undefined : side === 'up' ? this.body.at(-1) : this.body[0]
    if (beside === undefined || indentOf(beside) === this.indent) return true
    return (
      isDeeper(this.indent, indentOf(beside)) &&
      (side === 'up' ? !isCloser(beside) || reopens(beside) : isCloser(beside))
    )
  }

  /** `def f():` and the like: rows nested in it follow directly, at the same indent in both texts, and no closer will come. */
  private isColonHeader(): boolean {
    if (!endsInColon(this.row)) return false
    const was = firstRow(this.tagged.down(this.kept.line))
    const is = firstRow(this.candidate.down(this.kept.line))
    if (was === undefined || is === undefined) return false
    return isDeeper(indentOf(was), this.indent) && indentOf(was) === indentOf(is)
  }

  /** The nearest row that is not deeper than this one. */
  private partner(rows: Iterable<WalkedRow>): Partner | undefined {
    let nested: string | undefined
    let unlabelled: string | undefined
    let written: string | undefined
    let seen = 0
    for (const row of rows) {
      if (++seen > this.partnerRows) return undefined
      if (isBlank(row.text)) continue
      const indent = indentOf(row.text)
      if (!isDeeper(indent, this.indent)) return { row, nested, unlabelled, written }
      nested = shallower(nested, indent)
      if (!endsInColon(row.text)) unlabelled = shallower(unlabelled, indent)
      if (row.op === this.index) written = shallower(written, indent)
    }
    return undefined
  }

  private isOwn({ line }: WalkedRow): boolean {
    return line !== undefined && this.range.contains(line)
  }

  private survives({ line }: WalkedRow): boolean {
    return line !== undefined && !this.pieces.some((piece) => piece.range.contains(line))
  }
}

/** A row above a closer that can be what it closes. */
function isOpeningPartner(closer: string, { row, nested }: Partner): boolean {
  if (isCloser(row.text) && !reopens(row.text)) return false
  return fits(row.text, closer) && (nested !== undefined || endsOpen(row.text))
}

/** A row below an opener that can close it. */
function isClosingPartner(opener: string, { row, nested }: Partner): boolean {
  return isCloser(row.text) && fits(opener, row.text) && (nested !== undefined || endsOpen(opener))
}

function shallower(a: string | undefined, b: string): string {
  return a === undefined || b.length < a.length ? b : a
}

function firstRow(rows: Iterable<WalkedRow>): string | undefined {
  for (const { text } of rows) if (!isBlank(text)) return text
  return undefined
}

function piecesOf(reading: Reading): readonly Piece[] {
  return sorted(reading.ops.flatMap(partsOf))
}

function partsOf(op: ResolvedOp, index: number): readonly Piece[] {
  return op.replacements.map(({ range, rows }) => ({ range, rows, op: index }))
}

function sorted(pieces: readonly Piece[]): readonly Piece[] {
  return [...pieces].sort((a, b) => a.range.start - b.range.start || a.range.end - b.range.end)
}
