/**
 * YAML: pairs and items. The mapping around a pair begins with it and is never meant; nor is a document, which `---` only separates from the next.
 */
import type { Language, SyntaxNode } from '../src/syntax/language.js'

export const language: Language = {
  name: 'yaml',
  extensions: ['.yaml', '.yml'],
  fileNames: ['.clang-format', '.clang-tidy', '.clangd', '.yamllint', 'CITATION.cff'],
  sources: [
    {
      package: '@tree-sitter-grammars/tree-sitter-yaml',
      file: 'tree-sitter-yaml.wasm',
      sha256: 'e752dc21c3591df9b45692fe417d101f45d1828c28c44d79005f4066dc7e4e91',
    },
  ],
  // The scanner counts rows in 16 bits and loses a line break where they wrap; its stack of indents holds 253 levels, unchecked.
  bounds: { lines: 32_767, nesting: 240 },
  sample: 'a: &b\n  - c: |\n      d\n  - *b\n---\n{e: [f, "g"]}\n',
  opens: ['block_mapping_pair', 'block_sequence_item', 'flow_pair', 'flow_mapping', 'flow_sequence', 'flow_node'],
  isConstruct: (node: SyntaxNode) => {
    // An element of a flow sequence; every other flow node is the value of something.
    if (node.type === 'flow_node') return node.parent?.type === 'flow_sequence'
    // A flow collection at the root is the whole document.
    if (node.type === 'flow_mapping' || node.type === 'flow_sequence') return node.parent?.parent?.type !== 'document'
    return true
  },
  containers: ['stream', 'document', 'block_mapping', 'block_sequence', 'flow_mapping', 'flow_sequence'],
  clauses: [],
  comments: ['comment'],
}
