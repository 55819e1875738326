/**
 * A language file made ready for asking: its lists as sets, its small functions with their defaults.
 *
 * Answers what a single node is; knows nothing of lines and spans. Called by the block rules.
 */
import type { Language, SyntaxNode } from './language.js'
import { childrenOf } from './language.js'

export class Rules {
  readonly #opens: ReadonlySet<string>
  readonly #opensAmongSiblings: ReadonlySet<string>
  readonly #containers: ReadonlySet<string>
  readonly #closers: ReadonlySet<string>
  readonly #clauses: ReadonlySet<string>
  readonly #comments: ReadonlySet<string>
  readonly #attached: ReadonlySet<string>
  readonly #attachedWhenAllInside: ReadonlySet<string>
  readonly #declarations: ReadonlySet<string>

  constructor(readonly language: Language) {
    this.#opens = new Set(language.opens)
    this.#opensAmongSiblings = new Set(language.opensAmongSiblings)
    this.#containers = new Set(language.containers)
    this.#closers = new Set(language.closers)
    this.#clauses = new Set(language.clauses)
    this.#comments = new Set(language.comments)
    this.#attached = new Set(language.attached)
    this.#attachedWhenAllInside = new Set(language.attachedWhenAllInside)
    this.#declarations = new Set(language.declarations)
  }

  isConstruct(node: SyntaxNode): boolean {
    return this.#mayOpen(node) && (this.language.isConstruct?.(node) ?? true)
  }

  /** A construct by its type that opens nothing where it stands. */
  isVetoed(node: SyntaxNode): boolean {
    return this.#mayOpen(node) && !(this.language.isConstruct?.(node) ?? true)
  }

  #mayOpen(node: SyntaxNode): boolean {
    if (!node.isNamed) return false
    if (this.#opens.has(node.type)) return true
    return this.#opensAmongSiblings.has(node.type) && node.parent !== null && this.isContainer(node.parent)
  }

  isContainer(node: SyntaxNode): boolean {
    return node.isNamed && this.#containers.has(node.type)
  }

  isClause(node: SyntaxNode): boolean {
    return this.#clauses.has(node.type)
  }

  isCloser(node: SyntaxNode): boolean {
    return this.#closers.has(node.type)
  }

  isSeparator(node: SyntaxNode): boolean {
    return node.isNamed && (this.language.isSeparator?.(node) ?? false)
  }

  headOf(node: SyntaxNode): SyntaxNode | undefined {
    return this.language.headOf?.(node)
  }

  isComment(node: SyntaxNode): boolean {
    return this.#comments.has(node.type)
  }

  isDocComment(node: SyntaxNode): boolean {
    return this.isComment(node) && (this.language.isDocComment?.(node) ?? false)
  }

  isAttached(node: SyntaxNode): boolean {
    if (!node.isNamed) return false
    if (this.#attached.has(node.type) || this.language.isAttached?.(node) === true) return true
    return (
      this.#attachedWhenAllInside.has(node.type) &&
      everyChild(node, (child) => this.isAttached(child) || this.isComment(child))
    )
  }

  isDeclaration(node: SyntaxNode): boolean {
    return node.isNamed && this.#declarations.has(node.type) && (this.language.isDeclaration?.(node) ?? true)
  }
}

function everyChild(node: SyntaxNode, holds: (child: SyntaxNode) => boolean): boolean {
  if (node.firstChild === null) return false
  for (const child of childrenOf(node)) if (!holds(child)) return false
  return true
}
