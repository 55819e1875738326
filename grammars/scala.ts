/**
 * Scala. Annotations stand inside the definition, Scaladoc beside it, and so do the two words of the marker that ends it: `end f`.
 */
import type { Language, SyntaxNode } from '../src/syntax/language.js'

const declarations = [
  'class_definition',
  'object_definition',
  'trait_definition',
  'enum_definition',
  'enum_case_definitions',
  'function_definition',
  'function_declaration',
  'val_definition',
  'val_declaration',
  'var_definition',
  'var_declaration',
  'type_definition',
  'given_definition',
  'extension_definition',
  'package_object',
]

/** The words of an end marker are tokens of their own: `end`, and the name or keyword behind it. */
function isOfEndMarker(node: SyntaxNode): boolean {
  if (node.type === 'end') return true
  const before = node.previousSibling
  return before?.type === 'end' && before.startPosition.row === node.startPosition.row
}

/** Expressions that a marker ends by their keyword. They may be the last thing inside of what the grammar puts the marker behind. */
const endedByKeyword: Readonly<Record<string, string>> = {
  if: 'if_expression',
  while: 'while_expression',
  for: 'for_expression',
  match: 'match_expression',
  try: 'try_expression',
  new: 'instance_expression',
}

/** The sibling before a node, but for comments and others that are skipped. */
function before(node: SyntaxNode, isSkipped: (node: SyntaxNode) => boolean = () => false): SyntaxNode | null {
  let at = node.previousSibling
  while (at !== null && (comments.includes(at.type) || isSkipped(at))) at = at.previousSibling
  return at
}

/** What stands in front of a block on the next line and does not take it for an argument or a body. */
const takesNoBlock = new Set(['import_declaration', 'export_declaration', 'package_clause', 'block'])

/** A block on the line below an expression or a head is the argument or the body of that; one below a blank line stands for itself. */
function headOfBlock(block: SyntaxNode): SyntaxNode | undefined {
  const head = before(block)
  if (head?.isNamed !== true || takesNoBlock.has(head.type)) return undefined
  return block.startPosition.row - head.endPosition.row <= 1 ? head : undefined
}

/** What an end marker ends. */
function headOfEndMarker(node: SyntaxNode): SyntaxNode | undefined {
  const keyword = node.type === 'end' ? node.nextSibling?.type : node.type
  const head = before(node, isOfEndMarker)
  for (let inner = head; inner !== null; inner = inner.lastChild)
    if (inner.type === endedByKeyword[keyword ?? '']) return inner
  return head ?? undefined
}

/** What a node completes that the grammar puts beside it. */
function headOf(node: SyntaxNode): SyntaxNode | undefined {
  if (node.type === 'block') return headOfBlock(node)
  return isOfEndMarker(node) ? headOfEndMarker(node) : undefined
}

const comments = ['comment', 'block_comment']

/** Modifiers that are names elsewhere, and are read as names on a line of their own. */
const modifiers = new Set(['inline', 'opaque', 'open', 'transparent', 'infix'])

function isLostModifier(node: SyntaxNode | null): boolean {
  return node?.type === 'identifier' && modifiers.has(node.text)
}

/** True for a block that is indented no deeper than the line that it should be in: the grammar takes what only follows into it. */
function isNotIndented({ parent, startPosition }: SyntaxNode, indents: readonly number[]): boolean {
  const line = parent?.startPosition.row ?? startPosition.row
  return line < startPosition.row && startPosition.column <= (indents[line] ?? 0)
}

/** The column of the first character of every row that is not blank. */
function indentsOf(root: SyntaxNode): readonly number[] {
  const above = Array.from({ length: root.startPosition.row }, () => 0)
  return [...above, ...root.text.split('\n').map((line) => line.search(/\S/))]
}

/** The first place where the grammar reads something else than what is written and ends a definition elsewhere. */
function faultRow(root: SyntaxNode): number | undefined {
  const indents = indentsOf(root)
  const faults = [
    ...root.descendantsOfType('indented_block').filter((block) => isNotIndented(block, indents)),
    ...['function_definition', 'class_definition', 'trait_definition', 'type_definition', 'val_definition']
      .flatMap((type) => root.descendantsOfType(type))
      .filter((node) => isLostModifier(node.previousSibling)),
  ]
  return faults.length === 0 ? undefined : Math.min(...faults.map((node) => node.startPosition.row))
}

export const language: Language = {
  name: 'scala',
  extensions: ['.scala', '.sc', '.sbt'],
  interpreters: ['scala'],
  sources: [
    {
      package: '@cursorless/tree-sitter-wasms',
      file: 'out/tree-sitter-scala.wasm',
      sha256: '39c05ccbb11f3dd32144c7e7fca40bd8b4681cce766b1006f831e78fa299d9b7',
    },
  ],
  sample:
    '@a\nclass B(c: Int) extends D {\n  def e: Int = f match {\n    case 1 => g { x => x }\n    case _ => 2\n  }\n}\n',
  opens: [
    ...declarations,
    'import_declaration',
    'export_declaration',
    'if_expression',
    'match_expression',
    'case_clause',
    'try_expression',
    'for_expression',
    'while_expression',
    'do_while_expression',
    'throw_expression',
    'return_expression',
    'assignment_expression',
    'call_expression',
    'generic_function',
    'field_expression',
    'infix_expression',
    'instance_expression',
    'lambda_expression',
    'tuple_expression',
    'parenthesized_expression',
    'postfix_expression',
    'prefix_expression',
    'interpolated_string_expression',
    'string',
    'class_parameter',
    'parameter',
    'enumerator',
    'full_enum_case',
  ],
  opensAmongSiblings: ['block'],
  isConstruct: (node) => node.type !== 'block' || headOf(node) === undefined,
  containers: [
    'compilation_unit',
    'template_body',
    'enum_body',
    'block',
    'indented_block',
    'case_block',
    'indented_cases',
    'enumerators',
    'arguments',
    'parameters',
    'class_parameters',
    'namespace_selectors',
  ],
  clauses: ['catch_clause', 'finally_clause', 'extends_clause', 'derives_clause', 'else', 'yield', 'while', 'do'],
  closers: ['end'],
  comments,
  isDocComment: (comment) => /^\/\*\*(?![*/])/.test(comment.text),
  attached: ['annotation'],
  declarations,
  headOf,
  faultRow,
}
