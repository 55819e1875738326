/**
 * Which construct opens at a line (contract §8.2, reading §7), read from a clean syntax tree with the rules of its language.
 *
 * A construct opens where its first token is the first thing on the line, blanks, comments and a leading separator aside. What begins further right opens nothing: its span would
 * begin with a piece of something else (`} else {`, `}, () => {`, `.then(() => {` belong to constructs that opened above, `a(); b({` has an `a()` in it).
 * For the same reason a construct is refused when its last line goes on with something of its own (`}, {`): spans are whole lines, and these lines are not one
 * construct. Of the nodes that open at one place the outermost wins, up to the container whose child it is; a container never does.
 *
 * Nothing is guessed by brackets or indent. The text is one that parsed cleanly; whoever calls has seen to that. Called by the parser host.
 */
import type { BlockReason } from '../errors/blocks.js'
import type { BlockAnswer } from '../text/facts.js'
import { attachedRun, beginsWith } from './attached.js'
import { splitsCondition } from './conditions.js'
import type { Place, SyntaxNode } from './language.js'
import type { Rules } from './rules.js'
import { lastPartOf, withHeads } from './tails.js'
import type { TextLines } from './text-lines.js'

/** Rows counted from 0, both inclusive. */
interface Rows {
  readonly first: number
  readonly last: number
}

/** The nodes over a place, from the root to the smallest. Walking down once costs less than asking for parents, which starts at the root every time. */
type Path = readonly SyntaxNode[]

interface Nothing {
  readonly reason: BlockReason
  /** Where the search for what encloses the line begins. */
  readonly from: Path
}

/** Lines below the anchor in which the next construct is looked for. */
const nextWithin = 100

/** Tokens that may follow a construct on its last line: they close or separate, they begin nothing. */
const punctuation = /^[\])}>;,.:=|&?!+*/%^~'"`\\-]+$/
const closing = /^(?:[\])}>]|<\/|\/>)/

export class Blocks {
  readonly #known = new Map<number, Rows | Nothing>()

  constructor(
    private readonly root: SyntaxNode,
    private readonly lines: TextLines,
    private readonly rules: Rules,
  ) {}

  /** The answer for a line counted from 1. */
  at(line: number): BlockAnswer {
    const row = line - 1
    const found = this.#resolve(row)
    if ('first' in found) return { found: true, span: { start: found.first + 1, end: found.last + 1 } }
    const enclosing = this.#enclosing(row, found.from)
    const next = enclosing === undefined ? this.#next(row) : undefined
    return {
      found: false,
      reason: found.reason,
      ...(found.reason.kind === 'single-line' ? { singleLine: { start: line, end: line } } : {}),
      ...(enclosing === undefined ? {} : { enclosing: { start: enclosing.first + 1, end: enclosing.last + 1 } }),
      ...(next === undefined ? {} : { next: { start: next.first + 1, end: next.last + 1 } }),
    }
  }

  #resolve(row: number): Rows | Nothing {
    const known = this.#known.get(row)
    if (known !== undefined) return known
    const found = this.#look(row)
    this.#known.set(row, found)
    return found
  }

  #look(row: number): Rows | Nothing {
    let column = this.lines.firstColumn(row)
    if (column === undefined) return { reason: { kind: 'blank-line' }, from: this.#path({ row, column: 0 }) }
    for (;;) {
      const path = this.#path({ row, column })
      const comment = path.findLast((node) => this.rules.isComment(node))
      const after = comment === undefined ? this.#afterSeparator(path, row) : this.#afterComment(comment, row)
      if (after !== undefined) column = after
      else if (comment !== undefined) return this.#documented(row, comment, path)
      else return this.#construct(row, column, path)
    }
  }

  /** Where the line goes on behind a `;` or `,` that parts what it begins with from what came before. */
  #afterSeparator(path: Path, row: number): number | undefined {
    const leaf = path.at(-1)
    if (leaf === undefined || leaf.startPosition.row !== row || !isSeparator(leaf)) return undefined
    return this.lines.firstColumn(row, leaf.endPosition.column)
  }

  /** Where the line goes on behind a comment that begins and ends on it; undefined when the comment is all there is. */
  #afterComment(comment: SyntaxNode, row: number): number | undefined {
    if (comment.startPosition.row !== row || comment.endPosition.row !== row) return undefined
    return this.lines.firstColumn(row, comment.endPosition.column)
  }

  /** A line that a comment fills: it opens the construct that the comment documents, or nothing. */
  #documented(row: number, comment: SyntaxNode, path: Path): Rows | Nothing {
    const nothing: Nothing = { reason: { kind: 'comment-only' }, from: path }
    if (comment.startPosition.row !== row || !this.rules.isDocComment(comment)) return nothing
    const chain = this.#chain(path.slice(0, path.indexOf(comment) + 1))
    const target = chain.findLast((node) => this.rules.isDeclaration(node)) ?? attachedRun(comment, this.rules)
    return target === undefined ? nothing : this.#span(row, target, path)
  }

  #construct(row: number, column: number, path: Path): Rows | Nothing {
    const leaf = path.at(-1) ?? this.root
    if (!this.#startsAt(leaf, row, column)) return { reason: { kind: 'continuation' }, from: path }
    const chain = this.#chain(path)
    const construct = chain.findLast((node) => this.rules.isConstruct(node))
    if (construct !== undefined) return this.#span(row, construct, path)
    const attached = chain.findLast((node) => this.rules.isAttached(node))
    if (attached === undefined) return { reason: this.#whyNothing(leaf, chain), from: path }
    const target = attachedRun(attached, this.rules)
    return target === undefined ? { reason: { kind: 'detached' }, from: path } : this.#span(row, target, path)
  }

  /** The nodes that begin with the last of a path, innermost first, up to an element of a container: around it are its siblings. */
  #chain(path: Path): readonly SyntaxNode[] {
    const chain: SyntaxNode[] = []
    for (let at = path.length - 1; ; at--) {
      const node = path[at]
      if (node === undefined) return chain
      chain.push(node)
      const parent = path[at - 1]
      if (parent === undefined || !beginsWith(parent, node, this.rules)) return chain
      // What begins a container that is a construct itself is its head: the label of a case.
      if (node.isNamed && this.rules.isContainer(parent) && !this.rules.isConstruct(parent)) return chain
    }
  }

  #span(row: number, construct: SyntaxNode, path: Path): Rows | Nothing {
    const whole = this.rules.language.lastRow?.(construct, this.lines.count - 1)
    const end =
      whole === undefined
        ? this.#contentEnd(lastPartOf(construct, this.rules))
        : { row: whole, column: this.lines.at(whole).length }
    if (end.row <= row) return { reason: { kind: 'single-line' }, from: path }
    if (this.#goesOn(end)) return { reason: { kind: 'shares-line', line: end.row + 1 }, from: path }
    if (this.rules.language.hasConditions === true && splitsCondition(this.lines, row, end.row))
      return { reason: { kind: 'continuation' }, from: path }
    return { first: row, last: end.row }
  }

  /** The end of a node without the blanks and comments that merely follow what is in it. */
  #contentEnd(node: SyntaxNode): Place {
    let end = node.endPosition
    for (;;) {
      const last = this.#lastCharacter(end)
      const path = this.#path(last)
      const comment = path.findLast((at) => this.rules.isComment(at))
      if (comment !== undefined && comment.startIndex > node.startIndex) end = comment.startPosition
      else if (this.#opensNextLine(path, last)) end = last
      else return { row: last.row, column: last.column + 1 }
    }
  }

  /** A `;` that begins a line ends what came before only for the grammar: it keeps `;[a].map(` from being read as an index. */
  #opensNextLine(path: Path, last: Place): boolean {
    const leaf = path.at(-1)
    const parent = path.at(-2)
    if (leaf === undefined || parent === undefined || !isSeparator(leaf)) return false
    const isFirst = this.lines.firstColumn(last.row) === last.column
    return (
      isFirst && parent.startIndex < leaf.startIndex && this.lines.firstColumn(last.row, last.column + 1) !== undefined
    )
  }

  /** The place of the last character before `end` that is not blank. */
  #lastCharacter(end: Place): Place {
    let { row, column } = end
    for (;;) {
      const length = this.lines.at(row).slice(0, column).trimEnd().length
      if (length > 0 || row === 0) return { row, column: Math.max(0, length - 1) }
      row--
      column = this.lines.at(row).length
    }
  }

  /** True when the line goes on behind `end` with something that is neither a comment, a separator nor a closer. */
  #goesOn(end: Place): boolean {
    let column = this.lines.firstColumn(end.row, end.column)
    while (column !== undefined) {
      const path = this.#path({ row: end.row, column })
      const skipped = path.findLast(
        (node) => this.rules.isComment(node) || this.rules.isCloser(node) || this.rules.isSeparator(node),
      )
      if (skipped !== undefined && skipped.startPosition.row === end.row) {
        if (skipped.endPosition.row !== end.row) return false
        column = this.lines.firstColumn(end.row, Math.max(skipped.endPosition.column, column + 1))
        continue
      }
      const leaf = path.at(-1) ?? this.root
      const isToken = this.#startsAt(leaf, end.row, column) && leaf.endPosition.row === end.row
      const width = isToken ? leaf.endPosition.column - column : 1
      if (!punctuation.test(this.lines.at(end.row).slice(column, column + width))) return true
      column = this.lines.firstColumn(end.row, column + width)
    }
    return false
  }

  #whyNothing(leaf: SyntaxNode, chain: readonly SyntaxNode[]): BlockReason {
    if (chain.some((node) => this.rules.headOf(node) !== undefined)) return { kind: 'closer' }
    if (chain.some((node) => this.rules.isVetoed(node) && node.parent?.parent === null)) return { kind: 'whole-file' }
    if (closing.test(leaf.isNamed ? '' : leaf.type)) return { kind: 'closer' }
    if (chain.some((node) => this.rules.isCloser(node) || this.rules.isClause(node))) return { kind: 'closer' }
    // A whole element that is no construct: a bare name in a list, `break`.
    const outermost = chain.at(-1) ?? leaf
    const { parent, startPosition, endPosition } = outermost
    const isElement = outermost.isNamed && parent !== null && this.rules.isContainer(parent)
    return { kind: isElement && startPosition.row === endPosition.row ? 'single-line' : 'continuation' }
  }

  /** The nearest construct that opens above the row and holds it, as its own opening line would answer. */
  #enclosing(row: number, from: Path): Rows | undefined {
    for (const node of from.toReversed().flatMap((part) => [...withHeads(part, this.rules)])) {
      const opener = node.startPosition.row
      if (opener >= row || !(this.rules.isConstruct(node) || this.rules.isComment(node))) continue
      const found = this.#resolve(opener)
      if ('first' in found && found.last >= row) return found
    }
    return undefined
  }

  #next(row: number): Rows | undefined {
    const end = Math.min(this.lines.count, row + 1 + nextWithin)
    for (let below = row + 1; below < end; below++) {
      const found = this.#resolve(below)
      if ('first' in found) return found
    }
    return undefined
  }

  /** True when a node begins at a place, but for blanks. */
  #startsAt(node: SyntaxNode, row: number, column: number): boolean {
    const start = node.startPosition
    return start.row === row && start.column <= column && this.lines.at(row).slice(start.column, column).trim() === ''
  }

  /** The nodes over the character at a place, from the root down. */
  #path(place: Place): Path {
    const index = this.lines.indexOf(place)
    const path = [this.root]
    for (let at = this.root.firstChildForIndex(index); at !== null && at.startIndex <= index && index < at.endIndex;) {
      path.push(at)
      at = at.firstChildForIndex(index)
    }
    return path
  }
}

function isSeparator(leaf: SyntaxNode): boolean {
  return !leaf.isNamed && (leaf.type === ';' || leaf.type === ',')
}
