/**
 * Lua. Three dashes make a doc comment, as its documentation tools and language servers read it.
 */
import type { Language } from '../src/syntax/language.js'

export const language: Language = {
  name: 'lua',
  extensions: ['.lua', '.rockspec'],
  interpreters: ['lua', 'luajit'],
  sources: [
    {
      package: '@cursorless/tree-sitter-wasms',
      file: 'out/tree-sitter-lua.wasm',
      sha256: '0623b094bb7809610feb864c502997f720e7bb928b3874eba68df09fbf47ab37',
    },
  ],
  sample: 'local a = 1\nfunction b:c(d)\n  return { e = [[f]], function() end }\nend\n',
  opens: [
    'function_declaration',
    'function_definition',
    'variable_declaration',
    'assignment_statement',
    'if_statement',
    'for_statement',
    'while_statement',
    'repeat_statement',
    'do_statement',
    'return_statement',
    'function_call',
    'field',
    'table_constructor',
    'binary_expression',
    'parenthesized_expression',
    'string',
  ],
  containers: ['chunk', 'block', 'table_constructor', 'arguments', 'parameters'],
  clauses: ['elseif_statement', 'else_statement', 'then', 'do', 'until'],
  closers: ['end', 'until'],
  comments: ['comment', 'hash_bang_line'],
  isDocComment: (comment) => /^---(?!-)/.test(comment.text),
  declarations: ['function_declaration', 'variable_declaration', 'assignment_statement', 'field'],
}
