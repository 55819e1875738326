/**
 * What a language file in `grammars/` says, and the thin view of a syntax node that its rules may use.
 *
 * A language is data: names, wasm sources and lists of node types, with a small function only where a list cannot tell. It holds no
 * state and does no I/O. How the lists are read stands in `blocks.ts`; how to write one, in `docs/grammars.md`.
 */

/** A place in the parsed text. Rows count LF from 0; columns count UTF-16 units from 0. */
export interface Place {
  readonly row: number
  readonly column: number
}

/** The part of a tree-sitter node that rules may look at. Nodes are only valid while their tree is. */
export interface SyntaxNode {
  /** Unique within its tree. */
  readonly id: number
  readonly type: string
  readonly isNamed: boolean
  readonly text: string
  readonly startPosition: Place
  readonly endPosition: Place
  /** UTF-16 units from the start of the text. */
  readonly startIndex: number
  readonly endIndex: number
  readonly parent: SyntaxNode | null
  readonly nextSibling: SyntaxNode | null
  readonly previousSibling: SyntaxNode | null
  readonly firstChild: SyntaxNode | null
  readonly lastChild: SyntaxNode | null
  readonly firstNamedChild: SyntaxNode | null
  readonly hasError: boolean
  readonly isError: boolean
  readonly isMissing: boolean
  readonly childCount: number
  child(index: number): SyntaxNode | null
  childForFieldName(name: string): SyntaxNode | null
  /** The first child that ends behind an index. */
  firstChildForIndex(index: number): SyntaxNode | null
  descendantsOfType(type: string): readonly SyntaxNode[]
}

export interface WasmSource {
  /** The npm package that ships the file; needed to build, not to run. */
  readonly package: string
  /** The file inside that package. */
  readonly file: string
  /** SHA-256 of the file as the package ships it, in hex. */
  readonly sha256: string
  /** Holds a function that the optimizing compiler works on for many seconds: the code of the baseline compiler is the faster way then. */
  readonly baseline?: true
  /**
   * Writes a text that the grammar refuses in words that it knows: of the same length, with the same lines and the same structure. Answers are about the text as
   * it is; only what opens and ends where is read from the rewritten one.
   */
  readonly rewrite?: (text: string) => string
}

export interface Language {
  readonly name: string
  /** With the dot, lower case. A longer one wins over a shorter one. */
  readonly extensions: readonly string[]
  /** Whole file names, compared as they are written. */
  readonly fileNames?: readonly string[]
  /** Interpreters in a `#!` line that name the language of a file without extension; a version may follow (`python3.12`). */
  readonly interpreters?: readonly string[]
  /** Parsers in order of preference: the first that parses a file without error is the one whose tree is used. */
  readonly sources: readonly [WasmSource, ...WasmSource[]]
  /** What the scanner of the grammar can hold. A text beyond it is not parsed: the result would be wrong, or memory damaged. */
  readonly bounds?: {
    /** Levels that the lines of a text may nest by indentation and markers. */
    readonly nesting?: number
    readonly lines?: number
  }
  /** A text that each source must parse without error before the language counts as loaded. */
  readonly sample: string

  /** Nodes that are one construct wherever they stand. */
  readonly opens: readonly string[]
  /** Nodes that are one construct as a direct child of a container, and a mere part elsewhere: a block among statements, not a body. */
  readonly opensAmongSiblings?: readonly string[]
  /** Has the last word on a node of the two lists above: false when it opens nothing where it stands. */
  readonly isConstruct?: (node: SyntaxNode) => boolean
  /** Nodes whose children are siblings of one another. A container is never a construct, and nothing around it opens with its first child. */
  readonly containers: readonly string[]
  /** Parts that cannot stand without what comes before them: `else`, `catch`, a `where` clause. They open nothing. */
  readonly clauses: readonly string[]
  /** Words and nodes that close a construct, beside brackets: `end`, `fi`, a closing tag. */
  readonly closers?: readonly string[]

  /** True for a node that may follow a construct on its last line because it only separates it from the next. Punctuation needs no mention. */
  readonly isSeparator?: (node: SyntaxNode) => boolean

  /** Comments of every kind, doc comments included. */
  readonly comments: readonly string[]
  /** True for a comment that documents what stands below it. Absent: the language has none. */
  readonly isDocComment?: (comment: SyntaxNode) => boolean
  /** Decorators, attributes, annotations: nodes that belong to the construct below or around them. */
  readonly attached?: readonly string[]
  /** Nodes that count as attached when all their children are: the modifiers of a declaration that hold nothing but annotations. */
  readonly attachedWhenAllInside?: readonly string[]
  /** True for a node that attaches though its type alone does not say so. */
  readonly isAttached?: (node: SyntaxNode) => boolean
  /** What a doc comment documents. */
  readonly declarations?: readonly string[]
  /** Has the last word on a node of `declarations`. */
  readonly isDeclaration?: (node: SyntaxNode) => boolean

  /**
   * The construct that a node completes, where the grammar puts the node behind it and not into it: the property of an accessor. It may be the last thing inside of what stands before.
   */
  readonly headOf?: (node: SyntaxNode) => SyntaxNode | undefined
  /** The last part of a construct whose node takes in what stands behind the construct. Absent: all of it is the construct. */
  readonly lastPart?: (node: SyntaxNode) => SyntaxNode | undefined
  /**
   * The last row of a construct whose node does not end where the construct does. Such an end is taken as it is; every other end loses the
   * blank lines and comments that merely follow.
   */
  readonly lastRow?: (node: SyntaxNode, lastRowOfFile: number) => number | undefined
  /** True where lines are compiled on a condition, between `#if` and `#endif`, wherever they stand in a construct. Lines that hold a part of such a range are no construct. */
  readonly hasConditions?: true
  /** The row of the first fault that the grammar forgives and we do not. */
  readonly faultRow?: (root: SyntaxNode) => number | undefined
}

/** The children of a node, in order, without building an array of all of them. */
export function* childrenOf(node: SyntaxNode): Generator<SyntaxNode> {
  for (let at = node.firstChild; at !== null; at = at.nextSibling) yield at
}
