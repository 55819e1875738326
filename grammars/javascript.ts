/**
 * JavaScript. TypeScript, TSX and JSX build on the lists below.
 */
import type { Language, SyntaxNode } from '../src/syntax/language.js'
import { childrenOf } from '../src/syntax/language.js'

const statements = [
  'export_statement',
  'import_statement',
  'expression_statement',
  'function_declaration',
  'generator_function_declaration',
  'class_declaration',
  'lexical_declaration',
  'variable_declaration',
  'if_statement',
  'switch_statement',
  'for_statement',
  'for_in_statement',
  'while_statement',
  'do_statement',
  'try_statement',
  'with_statement',
  'labeled_statement',
  'return_statement',
  'throw_statement',
  // A case is a branch that can be cut or replaced on its own; `else` and `catch` are not.
  'switch_case',
  'switch_default',
]

/** Expressions open where they are the first thing on a line: an argument, an element, a value below its `=`. */
const expressions = [
  'object',
  'array',
  'function_expression',
  'generator_function',
  'arrow_function',
  'class',
  'call_expression',
  'new_expression',
  'member_expression',
  'subscript_expression',
  'parenthesized_expression',
  'await_expression',
  'yield_expression',
  'unary_expression',
  'binary_expression',
  'ternary_expression',
  'assignment_expression',
  'augmented_assignment_expression',
  'sequence_expression',
  'template_string',
  'spread_element',
]

/** One of several in a list: members, declarators, parameters, parts of a destructuring pattern. */
const parts = [
  'variable_declarator',
  'method_definition',
  'class_static_block',
  'pair',
  'pair_pattern',
  'object_pattern',
  'array_pattern',
  'object_assignment_pattern',
  'assignment_pattern',
  'rest_pattern',
  'import_attribute',
]

const jsx = ['jsx_element', 'jsx_self_closing_element', 'jsx_expression', 'jsx_attribute']

/** Statements whose parenthesized head is a part of them. */
const heads = new Set(['if_statement', 'while_statement', 'do_statement', 'switch_statement', 'with_statement'])

/** What JavaScript and TypeScript share. */
export const shared = {
  opens: [...statements, ...expressions, ...parts],
  jsx,
  isSeparator: isBlankText,
  opensAmongSiblings: ['statement_block'],
  containers: [
    'program',
    'statement_block',
    'class_body',
    'switch_body',
    'switch_case',
    'switch_default',
    'object',
    'array',
    'arguments',
    'formal_parameters',
    'object_pattern',
    'array_pattern',
    'named_imports',
    'export_clause',
  ],
  clauses: [
    'else_clause',
    'catch_clause',
    'finally_clause',
    'class_heritage',
    'else',
    'catch',
    'finally',
    'while',
    'from',
  ],
  comments: ['comment', 'html_comment', 'hash_bang_line'],
  attached: ['decorator'],
  declarations: [
    'export_statement',
    'function_declaration',
    'generator_function_declaration',
    'class_declaration',
    'lexical_declaration',
    'variable_declaration',
    'method_definition',
    'pair',
    'shorthand_property_identifier',
    'expression_statement',
  ],
  // JSDoc opens with two stars; three are a banner.
  isDocComment: (comment: SyntaxNode): boolean => /^\/\*\*(?![*/])/.test(comment.text),
  isConstruct: (node: SyntaxNode): boolean => {
    if (node.type === 'jsx_expression') return !holdsOnlyComments(node)
    if (node.type === 'parenthesized_expression') return node.parent === null || !heads.has(node.parent.type)
    return true
  },
  /** A statement declares when it assigns: `exports.f = function () {`. */
  isDeclaration: (node: SyntaxNode): boolean =>
    node.type !== 'expression_statement' || node.firstNamedChild?.type === 'assignment_expression',
}

/** `{' '}` is how a blank between two elements is written. */
function isBlankText(node: SyntaxNode): boolean {
  return node.type === 'jsx_expression' && /^\{\s*(['"])\s*\1\s*\}$/.test(node.text)
}

function holdsOnlyComments(expression: SyntaxNode): boolean {
  for (const child of childrenOf(expression)) if (child.isNamed && child.type !== 'comment') return false
  return expression.childCount > 2
}

export const language: Language = {
  name: 'javascript',
  extensions: ['.js', '.mjs', '.cjs', '.es6'],
  fileNames: ['Jakefile'],
  interpreters: ['node', 'nodejs'],
  sources: [
    {
      package: 'tree-sitter-javascript',
      file: 'tree-sitter-javascript.wasm',
      sha256: '5fb488d0cabb4775a594bab85682de5ad6ce83c0d6ac997a9f82dd084d571240',
    },
  ],
  sample: 'class A {\n  @d\n  m() {\n    return `${<b>x</b>}`\n  }\n}\n',
  opens: [...shared.opens, ...jsx, 'field_definition', 'using_declaration'],
  opensAmongSiblings: shared.opensAmongSiblings,
  isConstruct: shared.isConstruct,
  containers: shared.containers,
  clauses: shared.clauses,
  closers: ['jsx_closing_element'],
  isSeparator: shared.isSeparator,
  comments: shared.comments,
  isDocComment: shared.isDocComment,
  attached: shared.attached,
  declarations: [...shared.declarations, 'field_definition', 'using_declaration'],
  isDeclaration: shared.isDeclaration,
}
