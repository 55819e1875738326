/**
 * CSS: rules, at-rules, and the declarations in them.
 */
import type { Language } from '../src/syntax/language.js'
import { skeleton } from './css/skeleton.js'

const grammar = {
  package: 'tree-sitter-css',
  file: 'tree-sitter-css.wasm',
  sha256: '8a23977fe271357cce6f254ef88c9bebf3854602d8046605aef6a45c02135c59',
}

export const language: Language = {
  name: 'css',
  extensions: ['.css'],
  // What the grammar refuses is read as the syntax module of CSS reads it: `url(./a.svg)`, `.a & {`, `@container a (b) {`.
  sources: [grammar, { ...grammar, rewrite: skeleton }],
  sample: '@media (min-width: 1px) {\n  .a > b {\n    color: red;\n  }\n}\n',
  // The first selector of a list opens its rule; the second is in the middle of it.
  opens: [
    'rule_set',
    'at_rule',
    'media_statement',
    'supports_statement',
    'keyframes_statement',
    'keyframe_block',
    'scope_statement',
    'import_statement',
    'namespace_statement',
    'postcss_statement',
    'declaration',
    // A long value that stands below its property, such as a gradient.
    'call_expression',
  ],
  containers: ['stylesheet', 'block', 'keyframe_block_list'],
  clauses: [],
  comments: ['comment', 'js_comment'],
}
