/**
 * TOML: a table is its header and the pairs up to the next header; `[a.b]` is a table of its own, beside `[a]`.
 */
import type { Language } from '../src/syntax/language.js'

export const language: Language = {
  name: 'toml',
  extensions: ['.toml'],
  fileNames: ['Cargo.lock', 'poetry.lock', 'uv.lock', 'pdm.lock', 'Pipfile', 'Gopkg.lock'],
  sources: [
    {
      package: '@tree-sitter-grammars/tree-sitter-toml',
      file: 'tree-sitter-toml.wasm',
      sha256: '1ac6a83826c35a68857f8325e00c78f6bcbef4eb6db3931a6cf3041f76e5e09f',
    },
  ],
  sample: 'a = 1\n\n[[b.c]]\nd = { e = """f""" }\n',
  opens: ['table', 'table_array_element', 'pair', 'array', 'inline_table', 'string'],
  // A text opens as an element of a list; below its key it is not TOML.
  isConstruct: (node) => node.type !== 'string' || node.parent?.type === 'array',
  containers: ['document', 'array', 'inline_table'],
  clauses: [],
  comments: ['comment'],
}
