/**
 * JSON, with the comments that configuration files put into it. Trailing commas are not JSON: such a file does not parse, and has no blocks.
 */
import type { Language } from '../src/syntax/language.js'

export const language: Language = {
  name: 'json',
  extensions: ['.json', '.jsonc', '.geojson', '.webmanifest', '.ipynb', '.har', '.avsc', '.code-workspace', '.sarif'],
  fileNames: [
    '.babelrc',
    '.eslintrc',
    '.jshintrc',
    '.swcrc',
    'composer.lock',
    'Pipfile.lock',
    'flake.lock',
    'deno.lock',
  ],
  sources: [
    {
      package: 'tree-sitter-json',
      file: 'tree-sitter-json.wasm',
      sha256: 'd2119fb98d5912719b13f9458574f8608d2d29dfbe45f6be1f860ea1fe2a2405',
    },
  ],
  sample: '{\n  "a": [1, { "b": null }]\n}\n',
  // A member is a pair, an element is a value; a value below its key opens as well.
  opens: ['pair', 'object', 'array'],
  // The value at the root is the whole file.
  isConstruct: (node) => node.parent?.type !== 'document',
  containers: ['document', 'object', 'array'],
  clauses: [],
  comments: ['comment'],
}
