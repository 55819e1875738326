/**
 * HCL: Terraform, Packer, Nomad and their kin.
 */
import type { Language } from '../src/syntax/language.js'

export const language: Language = {
  name: 'hcl',
  extensions: ['.hcl', '.tf', '.tfvars', '.nomad'],
  sources: [
    {
      package: '@cursorless/tree-sitter-wasms',
      file: 'out/tree-sitter-hcl.wasm',
      sha256: 'c1c772204555f3fef0431c12b51f1f9d137c5e87a86f035f44fa5060a7f1089a',
    },
  ],
  sample: 'a "b" {\n  c = [for d in e : "${d}"]\n}\n',
  opens: ['block', 'attribute', 'object_elem', 'expression', 'for_cond'],
  // An expression opens as an element of a list or an argument; elsewhere it is the value of something.
  isConstruct: (node) =>
    node.type !== 'expression' || ['tuple', 'function_arguments'].includes(node.parent?.type ?? ''),
  // Objects and lists are no containers here: the grammar gives their brackets names, and a container would end with the first.
  containers: ['config_file', 'body', 'function_arguments'],
  clauses: [],
  closers: ['block_end', 'object_end', 'tuple_end', 'heredoc_identifier'],
  comments: ['comment'],
}
