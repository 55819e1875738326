/**
 * TSX: TypeScript with elements, and without the angle-bracket assertion that they displace.
 */
import type { Language } from '../src/syntax/language.js'
import { shared } from './javascript.js'
import { language as typescript, withPlainImports } from './typescript.js'

const grammar = {
  package: 'tree-sitter-typescript',
  file: 'tree-sitter-tsx.wasm',
  sha256: '79e5da75ea62855a0cd67177685f0164eac87d5f630b3cbe1e0a099751ad30f8',
}

export const language: Language = {
  ...typescript,
  name: 'tsx',
  extensions: ['.tsx'],
  interpreters: [],
  sources: [grammar, { ...grammar, rewrite: withPlainImports }],
  sample: 'const a = <T,>(b: T) => (\n  <ul c={() => b as T}>\n    <li />\n  </ul>\n)\n',
  opens: [...typescript.opens.filter((type) => type !== 'type_assertion'), ...shared.jsx],
  closers: ['jsx_closing_element'],
  isSeparator: shared.isSeparator,
}
