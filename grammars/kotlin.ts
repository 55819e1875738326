/**
 * Kotlin. Annotations stand among the modifiers inside the declaration, KDoc beside it. A getter or setter is a member of its own.
 *
 * The grammar misreads an annotation with arguments at the top of a file as an expression; such a line opens nothing, and the declaration's own line still does.
 */
import type { Language } from '../src/syntax/language.js'

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
    'indexing_expression',
    'as_expression',
    'parenthesized_expression',
    'string_literal',
    'collection_literal',
  ],
  isConstruct: (node) => node.type !== 'parenthesized_expression' || node.parent?.type !== 'prefix_expression',
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
  comments: ['line_comment', 'multiline_comment'],
  isDocComment: (comment) => /^\/\*\*(?![*/])/.test(comment.text),
  attached: ['annotation'],
  attachedWhenAllInside: ['modifiers'],
  declarations,
}
