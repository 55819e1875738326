/**
 * Rust. Attributes stand beside the item they belong to, except on match arms and field values, where the grammar puts them inside.
 *
 * The newer grammar reads `from_str(&raw)` as a raw borrow and fails; the older one reads it, and no file is known on which both fail.
 */
import type { Language, SyntaxNode } from '../src/syntax/language.js'

const items = [
  'function_item',
  'function_signature_item',
  'struct_item',
  'enum_item',
  'union_item',
  'trait_item',
  'impl_item',
  'mod_item',
  'foreign_mod_item',
  'const_item',
  'static_item',
  'type_item',
  'associated_type',
  'use_declaration',
  'extern_crate_declaration',
  'macro_definition',
  'field_declaration',
  'enum_variant',
]

/** Expressions open where they are the first thing on a line; the last one of a block has no statement around it. */
const expressions = [
  'array_expression',
  'assignment_expression',
  'async_block',
  'await_expression',
  'binary_expression',
  'break_expression',
  'call_expression',
  'closure_expression',
  'compound_assignment_expr',
  'const_block',
  'field_expression',
  'for_expression',
  'gen_block',
  'if_expression',
  'index_expression',
  'loop_expression',
  'macro_invocation',
  'match_expression',
  'parenthesized_expression',
  'range_expression',
  'raw_string_literal',
  'reference_expression',
  'return_expression',
  'string_literal',
  'struct_expression',
  'try_block',
  'try_expression',
  'tuple_expression',
  'type_cast_expression',
  'unary_expression',
  'unsafe_block',
  'while_expression',
  'yield_expression',
]

/** One of several in a list. */
const parts = [
  'match_arm',
  'macro_rule',
  'field_initializer',
  'base_field_initializer',
  'parameter',
  'scoped_use_list',
  'where_predicate',
]

export const language: Language = {
  name: 'rust',
  extensions: ['.rs'],
  sources: [
    {
      package: 'tree-sitter-rust',
      file: 'tree-sitter-rust.wasm',
      sha256: 'f65f354215611fd94ad34134b3427eb3d58cbb745df7b6509ba722184db73d57',
    },
    {
      package: 'tree-sitter-wasms',
      file: 'out/tree-sitter-rust.wasm',
      sha256: '4409921a70d0aa5bec7d1d7ce809a557a8ee1cf6ace901e3ac6a76e62cfea903',
    },
  ],
  sample: '/// d\n#[a]\npub fn f<T>(x: &T) -> Option<T> where T: Copy {\n    x.map(|y| y)?\n}\n',
  opens: [...items, ...expressions, ...parts, 'let_declaration', 'expression_statement', 'inner_attribute_item'],
  opensAmongSiblings: ['block'],
  containers: [
    'source_file',
    'block',
    'declaration_list',
    'field_declaration_list',
    'enum_variant_list',
    'match_block',
    'field_initializer_list',
    'arguments',
    'parameters',
    'use_list',
  ],
  clauses: ['else_clause', 'where_clause', 'trait_bounds', 'else'],
  comments: ['line_comment', 'block_comment'],
  // Three slashes or two stars document what is below; a fourth slash or third star makes a banner, and `//!` documents what is around it.
  isDocComment: (comment: SyntaxNode) => /^(?:\/\/\/(?!\/)|\/\*\*(?![*/]))/.test(comment.text),
  attached: ['attribute_item'],
  declarations: items,
}
