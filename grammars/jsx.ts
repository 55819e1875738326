/**
 * JSX: JavaScript's grammar reads it as it is.
 */
import type { Language } from '../src/syntax/language.js'
import { language as javascript } from './javascript.js'

export const language: Language = {
  ...javascript,
  name: 'jsx',
  extensions: ['.jsx'],
  fileNames: [],
  interpreters: [],
  sample: 'const a = (\n  <ul b={() => 1}>\n    <li />\n  </ul>\n)\n',
}
