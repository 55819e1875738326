/**
 * What a row looks like from outside a parser, and the text of a reading walked row by row (contract §8.4: structure and indentation).
 *
 * A row is judged by how it begins and ends and by its leading blanks, never by scanning for quotes or counting brackets: a lifetime, an apostrophe or a
 * bracket in a comment would blind such a scan. Says nothing about languages. Called by repair-evidence.
 */
import type { Document } from '../text/document.js'
import type { LineRange } from '../text/line-range.js'

/** `}`, `)`, `]` and whatever follows; `</tag>`, `/>`; a `>` that ends an opening tag on a row of its own. */
const CLOSING_BRACKET = /^(?:[)\]}]|<\/|\/>|>[^\p{L}\p{N}]*$)/u
/** Words that end a construct in the languages that close with words. */
const CLOSING_WORD = /^(?:end|fi|done|esac|endif|endfor|endforeach|endwhile|endswitch|endcase)(?![\p{L}\p{N}_])/u
/** Words that end one clause of a construct and begin the next. */
const CLAUSE_WORD = /^(?:else|elif|elsif|elseif|except|catch|finally|rescue|ensure)(?![\p{L}\p{N}_])/u
const OPENING_BRACKET = /[([{]$/
const OPENING: Readonly<Record<string, string>> = { '}': '{', ')': '(', ']': '[', '>': '<', '/': '<' }
const COLON = /:\s*(?:#.*)?$/

/** The leading blanks of a row. */
export function indentOf(row: string): string {
  return /^[ \t]*/.exec(row)?.[0] ?? ''
}

/** True when `indent` lies inside `outer`. Tabs against spaces prove nothing and count as not deeper. */
export function isDeeper(indent: string, outer: string): boolean {
  return indent.length > outer.length && indent.startsWith(outer)
}

/** The row ends something that began above it. */
export function isCloser(row: string): boolean {
  const code = row.trim()
  return CLOSING_BRACKET.test(code) || CLOSING_WORD.test(code) || CLAUSE_WORD.test(code)
}

/** A closer that begins the next part of its construct: `} else {`, `except E:`, the `>` of an opening tag. */
export function reopens(row: string): boolean {
  const code = row.trim()
  return OPENING_BRACKET.test(code) || CLAUSE_WORD.test(code) || code.startsWith('>')
}

/** The row ends in an opening bracket, so that its closer may follow directly. */
export function endsOpen(row: string): boolean {
  return OPENING_BRACKET.test(row.trimEnd())
}

/** True unless the row begins with a closing bracket or tag whose opening one `opener` does not hold at all. Brackets are looked for, never counted. */
export function fits(opener: string, closer: string): boolean {
  const code = closer.trim()
  const tag = /^<\/([^\s>]*)/.exec(code)
  if (tag) return opener.includes(`<${tag[1] ?? ''}`) || opener.trim().startsWith('>')
  const bracket = OPENING[code[0] ?? '']
  return bracket === undefined || opener.includes(bracket)
}

/** A row inside a block comment that marks its rows with an asterisk. */
export function isCommentRow(row: string): boolean {
  return /^\s*\*(?!\/)/.test(row)
}

/** A row that begins a block comment and does not end it. */
export function opensComment(row: string): boolean {
  return /^\s*\/\*/.test(row) && !row.includes('*/')
}

/** A row that is nothing but the end of a block comment. */
export function closesComment(row: string): boolean {
  return /^\s*\*+\/$/.test(row.trimEnd())
}

/** The row ends in a colon: a header whose construct ends without a closer. */
export function endsInColon(row: string): boolean {
  return COLON.test(row)
}

/** A row that is half of a construct whose other half lies elsewhere. */
export interface Half {
  readonly kind: 'closes' | 'opens'
  readonly row: string
}

/**
 * The halves of constructs in some rows whose other halves lie outside of them: first closers of what began above, then openers of what goes on below, both
 * from the inside out. Rows are not blank; `below` is the row that follows them. Linear in the rows.
 */
export function halvesIn(rows: readonly string[], below: string | undefined): readonly Half[] {
  const halves: Half[] = []
  let outermost: string | undefined
  for (const row of rows) {
    const indent = indentOf(row)
    if (isCloser(row) && (outermost === undefined || isDeeper(outermost, indent))) halves.push({ kind: 'closes', row })
    if (outermost === undefined || !isDeeper(indent, outermost)) outermost = indent
  }
  outermost = undefined
  for (const row of [...rows].reverse()) {
    const indent = indentOf(row)
    const isOutside = outermost === undefined || isDeeper(outermost, indent)
    if (isOutside && goesOn(row, indent, below, outermost === undefined)) halves.push({ kind: 'opens', row })
    if (outermost === undefined || !isDeeper(indent, outermost)) outermost = indent
  }
  return halves
}

/** One half stands for the other: at the same indent, closers with the same bracket or word, openers that share a word or are equal. */
export function isSameHalf(a: Half, b: Half | undefined): boolean {
  if (b === undefined || a.kind !== b.kind || indentOf(a.row) !== indentOf(b.row)) return false
  if (a.kind === 'closes') return closing(a.row) === closing(b.row)
  const words = wordsOf(a.row)
  return words.size === 0 ? a.row.trim() === b.row.trim() : [...wordsOf(b.row)].some((word) => words.has(word))
}

function closing(row: string): string {
  return /^(?:[)\]}>]|<\/[^\s>]*|\S+)/.exec(row.trim())?.[0] ?? ''
}

function wordsOf(row: string): Set<string> {
  return new Set(row.match(/[\p{L}\p{N}_$]+/gu))
}

/**
 * An opener with nothing but nested rows after it goes on when more of them follow, or its closer does. A last row that ends in an opening bracket goes on
 * whatever follows: what it holds may not be indented.
 */
function goesOn(text: string, indent: string, below: string | undefined, isLast: boolean): boolean {
  if (isLast && endsOpen(text)) return true
  if (below === undefined) return false
  return isDeeper(indentOf(below), indent) || (!isLast && indentOf(below) === indent && isCloser(below))
}

/** A row of a text in the making: a line that stays, or a row that the op at that index of the call writes. */
export interface WalkedRow {
  readonly text: string
  readonly line?: number
  readonly op?: number
}

export interface Piece {
  readonly range: LineRange
  readonly rows: readonly string[]
  readonly op: number
}

/** The rows of an edited text below or above a line that stays, nearest first. `pieces` are sorted and disjoint; without any it is the text itself. */
export class Walk {
  constructor(
    private readonly base: Document,
    private readonly pieces: readonly Piece[],
  ) {}

  *down(from: number): Generator<WalkedRow> {
    let next = this.pieces.findIndex((piece) => piece.range.start > from)
    if (next < 0) next = this.pieces.length
    for (let line = from + 1; ;) {
      const piece = this.pieces[next]
      if (piece?.range.start === line) {
        for (const text of piece.rows) yield { text, op: piece.op }
        line = piece.range.end
        next++
      } else if (line <= this.base.lineCount) yield { text: this.base.text(line), line: line++ }
      else return
    }
  }

  *up(from: number): Generator<WalkedRow> {
    let next = this.pieces.findLastIndex((piece) => piece.range.end <= from)
    for (let line = from - 1; ;) {
      const piece = this.pieces[next]
      if (piece?.range.end === line + 1) {
        for (let i = piece.rows.length - 1; i >= 0; i--) yield { text: piece.rows[i] ?? '', op: piece.op }
        line = piece.range.start - 1
        next--
      } else if (line >= 1) yield { text: this.base.text(line), line: line-- }
      else return
    }
  }
}
