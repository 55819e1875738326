/**
 * Python. Decorators stand inside `decorated_definition`, around the definition; a docstring is a statement of the body, no doc comment.
 */
import type { Language, SyntaxNode } from '../src/syntax/language.js'

const statements = [
  'import_statement',
  'import_from_statement',
  'future_import_statement',
  'expression_statement',
  'assert_statement',
  'delete_statement',
  'raise_statement',
  'return_statement',
  'global_statement',
  'nonlocal_statement',
  'type_alias_statement',
  'print_statement',
  'exec_statement',
  'if_statement',
  'for_statement',
  'while_statement',
  'try_statement',
  'with_statement',
  'match_statement',
  'function_definition',
  'class_definition',
  'decorated_definition',
  // A case is a branch that can be cut or replaced on its own; `elif` and `except` are not.
  'case_clause',
]

/** Expressions open where they are the first thing on a line: an argument, an element, a value in parentheses. */
const expressions = [
  'call',
  'attribute',
  'subscript',
  'lambda',
  'await',
  'list',
  'tuple',
  'set',
  'dictionary',
  'list_comprehension',
  'set_comprehension',
  'dictionary_comprehension',
  'generator_expression',
  'parenthesized_expression',
  'binary_operator',
  'boolean_operator',
  'comparison_operator',
  'not_operator',
  'unary_operator',
  'conditional_expression',
  'named_expression',
  'concatenated_string',
  'string',
]

/** One of several in a list. */
const parts = [
  'pair',
  'keyword_argument',
  'dictionary_splat',
  'list_splat',
  'typed_parameter',
  'default_parameter',
  'typed_default_parameter',
  'with_item',
]

export const language: Language = {
  name: 'python',
  extensions: ['.py', '.pyi', '.pyw'],
  fileNames: ['SConstruct', 'SConscript', 'wscript'],
  interpreters: ['python', 'pypy'],
  sources: [
    {
      package: 'tree-sitter-python',
      file: 'tree-sitter-python.wasm',
      sha256: '16108b50df4ee9a30168794252ab55e7c93bfc5765d7fa0aa3e335752c515f47',
    },
  ],
  // The scanner's buffer holds 384 indents beside 255 open strings, and its check lets one byte past the end.
  bounds: { nesting: 700 },
  sample: '@a\ndef f(x: int) -> str:\n    """d"""\n    return f"{x!r:>{4}}"\n',
  opens: [...statements, ...expressions, ...parts],
  // A string in the middle of adjacent strings is a piece of one value.
  isConstruct: (node: SyntaxNode) => node.type !== 'string' || node.parent?.type !== 'concatenated_string',
  containers: ['module', 'block', 'argument_list', 'parameters', 'list', 'tuple', 'set', 'dictionary'],
  clauses: [
    'elif_clause',
    'else_clause',
    'except_clause',
    'finally_clause',
    'for_in_clause',
    'if_clause',
    'elif',
    'else',
    'except',
    'finally',
  ],
  comments: ['comment'],
  attached: ['decorator'],
}
