/**
 * Kotlin. Annotations stand among the modifiers inside the declaration, KDoc beside it.
 *
 * A getter or setter is a member of its own that completes the property before it: the grammar puts it beside the property when it stands on a line of its own. So it does with
 * other parts that begin a line: `by` below its property, `finally` below its `try`, the only statement of a `for`.
 *
 * At the top of a file the grammar may read annotations as the prefix of an expression, whatever comes next. What Kotlin says about such text leaves no doubt: parentheses that touch
 * an annotation are its arguments, `class` is no name, and what begins with `get` or `set` behind a property is its accessor.
 */
import type { Language, SyntaxNode } from '../src/syntax/language.js'
import { childrenOf } from '../src/syntax/language.js'

const declarations = [
  'class_declaration',
  'object_declaration',
  'companion_object',
  'function_declaration',
  'property_declaration',
  'secondary_constructor',
  'anonymous_initializer',
  'getter',
  'setter',
  'type_alias',
  'enum_entry',
]

const comments = ['line_comment', 'multiline_comment']

/** An annotated expression, or what the grammar takes for one. */
function isAnnotated(node: SyntaxNode | null): boolean {
  return node?.type === 'prefix_expression' && node.firstChild?.type === 'annotation'
}

/** What the annotations of an expression stand before. */
function annotated(node: SyntaxNode): SyntaxNode {
  let inner = node
  while (isAnnotated(inner) && inner.lastChild !== null) inner = inner.lastChild
  return inner
}

/** True for an annotation whose arguments the grammar reads as the expression that it annotates. */
function isAnnotation(node: SyntaxNode): boolean {
  if (!isAnnotated(node)) return false
  const inner = annotated(node)
  return inner.type === 'parenthesized_expression' && inner.previousSibling?.endIndex === inner.startIndex
}

function isAccessor(node: SyntaxNode): boolean {
  if (node.type === 'getter' || node.type === 'setter') return true
  return isAnnotated(node) && node.parent?.type === 'source_file' && /^[gs]et\b/.test(annotated(node).text)
}

function firstName({ firstChild }: SyntaxNode): string | undefined {
  return firstChild?.type === 'simple_identifier' ? firstChild.text : undefined
}

/** `by lazy {` on a line of its own looks like `a to b`. */
function isDelegate(node: SyntaxNode): boolean {
  return node.type === 'infix_expression' && firstName(node) === 'by'
}

/** `finally {` on a line of its own looks like a call. */
function isFinally(node: SyntaxNode): boolean {
  return node.type === 'call_expression' && firstName(node) === 'finally'
}

/** The sibling before a node, but for comments and others that are skipped. */
function before(node: SyntaxNode, isSkipped: (node: SyntaxNode) => boolean = () => false): SyntaxNode | null {
  let at = node.previousSibling
  while (at !== null && (comments.includes(at.type) || isSkipped(at))) at = at.previousSibling
  return at
}

/** What a node ends with, or the node itself, that is of a kind. */
function lastOf(node: SyntaxNode | null, is: (node: SyntaxNode) => boolean): SyntaxNode | undefined {
  for (let at = node; at !== null; at = at.lastChild) if (is(at)) return at
  return undefined
}

function isProperty(node: SyntaxNode): boolean {
  return node.type === 'property_declaration'
}

function isOpenTry(node: SyntaxNode): boolean {
  return node.type === 'try_expression' && node.lastChild?.type !== 'finally_block'
}

/** The grammar takes only a block for the body of a `for`. */
function isOpenFor(node: SyntaxNode): boolean {
  return node.type === 'for_statement' && node.lastChild?.type === ')'
}

/** True when a `;` parts two siblings; the tree does not hold it. */
function isParted(left: SyntaxNode, right: SyntaxNode): boolean {
  const { parent } = right
  if (parent === null) return false
  const between = parent.text.slice(left.endIndex - parent.startIndex, right.startIndex - parent.startIndex)
  return between.replaceAll(/\/\*.*?\*\/|\/\/.*?$/gms, '').includes(';')
}

/** What a node completes that the grammar puts beside it. */
function headOf(node: SyntaxNode): SyntaxNode | undefined {
  if (!node.isNamed || comments.includes(node.type)) return undefined
  if (isAccessor(node)) {
    const property = before(node, (at) => isAnnotation(at) || isAccessor(at) || isDelegate(at))
    if (property !== null && isProperty(property)) return property
  }
  const sibling = before(node)
  if (isDelegate(node) && sibling?.lastChild?.type === 'variable_declaration') return sibling
  if (isFinally(node)) return lastOf(sibling, isOpenTry)
  const loop = lastOf(sibling, isOpenFor)
  return loop === undefined || isParted(loop, node) ? undefined : loop
}

/** True for a class that the grammar takes for a row of names before a lambda, and for an accessor. */
function isMisreadDeclaration(node: SyntaxNode): boolean {
  if (!isAnnotated(node)) return false
  return (
    (isAccessor(node) && headOf(node) !== undefined) || /^(?:\w+\s+)*(?:class|interface)\b/.test(annotated(node).text)
  )
}

function isConstruct(node: SyntaxNode): boolean {
  if (node.type === 'prefix_expression') return !isAnnotation(node)
  if (isContext(node)) return false
  if (isDelegate(node) || isFinally(node)) return headOf(node) === undefined
  return node.type !== 'parenthesized_expression' || node.parent?.type !== 'prefix_expression'
}

/** True for `context(A)` above a declaration, which looks like a call. */
function isContext(node: SyntaxNode): boolean {
  return node.type === 'call_expression' && firstName(node) === 'context' && isAboveDeclaration(node)
}

/** True for what stands among the declarations of a file and not among statements. */
function isAboveDeclaration({ parent, nextSibling }: SyntaxNode): boolean {
  return parent?.type === 'source_file' && nextSibling !== null && declarations.includes(nextSibling.type)
}

/** Modifiers that are names elsewhere, and are read as names on a line of their own. */
const modifiers = new Set(
  'data value inner companion expect actual annotation enum sealed open infix operator'.split(' '),
)

/** True for a modifier above its declaration that the grammar reads as a statement. */
function isLostModifier(node: SyntaxNode | null): boolean {
  return node?.type === 'simple_identifier' && modifiers.has(node.text)
}

/** The first place where the grammar reads something else than what is written and leaves a part of a declaration outside: a cast on a line of its own, a modifier. */
function faultRow(root: SyntaxNode): number | undefined {
  const faults = [
    ...[...childrenOf(root)].filter((node) => isLostModifier(node) && isAboveDeclaration(node)),
    ...root.descendantsOfType('class_declaration').filter((node) => isLostModifier(node.previousSibling)),
    ...root.descendantsOfType('infix_expression').filter((node) => firstName(node) === 'as'),
  ]
  return faults.length === 0 ? undefined : Math.min(...faults.map((node) => node.startPosition.row))
}

export const language: Language = {
  name: 'kotlin',
  extensions: ['.kt', '.kts'],
  sources: [
    {
      package: 'tree-sitter-wasms',
      file: 'out/tree-sitter-kotlin.wasm',
      sha256: 'b5cb00c8d06ed0f10f1dbe497205b437809d7e87db1f638721a8cfb30e044449',
    },
  ],
  sample: 'class A(val b: Int) {\n  @C fun d(): Int = when (b) {\n    1 -> e { it }\n    else -> 2\n  }\n}\n',
  opens: [
    ...declarations,
    'package_header',
    'import_header',
    'if_expression',
    'when_expression',
    'when_entry',
    'try_expression',
    'for_statement',
    'while_statement',
    'do_while_statement',
    'assignment',
    'jump_expression',
    'call_expression',
    'navigation_expression',
    'lambda_literal',
    'anonymous_function',
    'object_literal',
    'value_argument',
    'class_parameter',
    'parameter',
    'additive_expression',
    'multiplicative_expression',
    'comparison_expression',
    'equality_expression',
    'conjunction_expression',
    'disjunction_expression',
    'elvis_expression',
    'infix_expression',
    'prefix_expression',
    'indexing_expression',
    'as_expression',
    'parenthesized_expression',
    'string_literal',
    'collection_literal',
  ],
  isConstruct,
  containers: [
    'source_file',
    'class_body',
    'enum_class_body',
    'statements',
    'import_list',
    'value_arguments',
    'function_value_parameters',
    'primary_constructor',
  ],
  clauses: ['catch_block', 'finally_block', 'delegation_specifier', 'type_constraints', 'else', 'while'],
  comments,
  isDocComment: (comment) => /^\/\*\*(?![*/])/.test(comment.text),
  attached: ['annotation', 'label'],
  attachedWhenAllInside: ['modifiers'],
  isAttached: (node) => isAnnotation(node) || isContext(node),
  declarations: [...declarations, 'prefix_expression'],
  isDeclaration: (node) => node.type !== 'prefix_expression' || isMisreadDeclaration(node),
  headOf,
  faultRow,
}
