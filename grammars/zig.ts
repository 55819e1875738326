/**
 * Zig. Three slashes document the declaration below; `//!` documents the file.
 */
import type { Language } from '../src/syntax/language.js'

const declarations = ['variable_declaration', 'function_declaration', 'container_field', 'test_declaration']

export const language: Language = {
  name: 'zig',
  extensions: ['.zig', '.zon'],
  sources: [
    {
      package: 'tree-sitter-wasms',
      file: 'out/tree-sitter-zig.wasm',
      sha256: '59cc4531aa661e2de4c5bc04e4045b6bdd5d2bfa75045cbda5f673102d140eef',
    },
  ],
  sample: 'const a = struct {\n    b: u8,\n    fn c() !void { d(.{1}); }\n};\n',
  opens: [
    ...declarations,
    'comptime_declaration',
    'using_namespace_declaration',
    'expression_statement',
    'if_statement',
    'labeled_statement',
    'for_statement',
    'while_statement',
    'switch_expression',
    'switch_case',
    'defer_statement',
    'errdefer_statement',
    'comptime_statement',
    'nosuspend_statement',
    'suspend_statement',
    'return_expression',
    'assignment_expression',
    'call_expression',
    'struct_initializer',
    'anonymous_struct_initializer',
    'struct_declaration',
    'enum_declaration',
    'union_declaration',
    'error_set_declaration',
    'field_expression',
    'builtin_function',
    'if_expression',
    'for_expression',
    'while_expression',
    'binary_expression',
    'catch_expression',
    'try_expression',
    'parenthesized_expression',
    'multiline_string',
    'parameter',
  ],
  containers: ['source_file', 'block', 'initializer_list', 'arguments', 'parameters'],
  clauses: ['else_clause', 'else', 'payload'],
  comments: ['comment'],
  isDocComment: (comment) => /^\/\/\/(?!\/)/.test(comment.text),
  declarations,
}
