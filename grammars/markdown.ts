/**
 * Markdown: a heading opens its section, which runs up to the next heading of the same or a higher level, blank lines included (contract §8.2, reading §7.1).
 *
 * The grammar nests sections under `#` headings only and lets an underlined heading stand anywhere, so that sections are counted here, by levels. A heading in a quote
 * or a list item ends with it.
 */
import type { Language, SyntaxNode } from '../src/syntax/language.js'

const levels: Readonly<Record<string, number>> = {
  atx_h1_marker: 1,
  atx_h2_marker: 2,
  atx_h3_marker: 3,
  atx_h4_marker: 4,
  atx_h5_marker: 5,
  atx_h6_marker: 6,
  setext_h1_underline: 1,
  setext_h2_underline: 2,
}

/** The level of a heading; undefined for every other node. */
function levelOf(node: SyntaxNode): number | undefined {
  if (node.type === 'atx_heading') return levels[node.firstChild?.type ?? '']
  if (node.type === 'setext_heading') return levels[node.lastChild?.type ?? '']
  return undefined
}

/** The next block in the order of the file, sections being transparent; or the container that ends here. */
function blockAfter(node: SyntaxNode): { block: SyntaxNode } | { end: SyntaxNode } {
  let at = node
  while (at.nextSibling === null) {
    if (at.parent === null) return { end: at }
    at = at.parent
    if (at.type !== 'section') return { end: at }
  }
  let block = at.nextSibling
  while (block.type === 'section' && block.firstChild !== null) block = block.firstChild
  return { block }
}

function lastRow(heading: SyntaxNode, lastRowOfFile: number): number | undefined {
  const level = levelOf(heading)
  if (level === undefined) return undefined
  for (let at = heading; ;) {
    const after = blockAfter(at)
    if ('end' in after) {
      if (after.end.type === 'document') return lastRowOfFile
      const end = at.endPosition
      return end.column === 0 ? end.row - 1 : end.row
    }
    at = after.block
    if ((levelOf(at) ?? Infinity) <= level) return at.startPosition.row - 1
  }
}

export const language: Language = {
  name: 'markdown',
  extensions: ['.md', '.markdown', '.mdown', '.mkd'],
  sources: [
    {
      package: '@cursorless/tree-sitter-wasms',
      file: 'out/tree-sitter-markdown.wasm',
      sha256: '6c3dd2e84ffb3bf0e14f03374147726c075a62fa91370c15eeb1381c1aa55ae8',
    },
  ],
  // The scanner copies its open blocks into a buffer for 255 of them, unchecked.
  bounds: { nesting: 240 },
  sample: '---\na: b\n---\n\n# c\n\n- d\n\n```e\nf\n```\n',
  opens: [
    'atx_heading',
    'setext_heading',
    'list_item',
    'fenced_code_block',
    'indented_code_block',
    'block_quote',
    'paragraph',
    'pipe_table',
    'html_block',
    'link_reference_definition',
    'minus_metadata',
    'plus_metadata',
  ],
  // An HTML comment is a comment here too.
  isConstruct: (node) => node.type !== 'html_block' || !/^\s*<!--/.test(node.text),
  containers: ['document', 'section', 'list'],
  clauses: [],
  closers: ['setext_h1_underline', 'setext_h2_underline', 'fenced_code_block_delimiter'],
  comments: [],
  lastRow,
}
