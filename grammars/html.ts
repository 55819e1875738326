/**
 * HTML: elements, and attributes that begin a line. Text between elements opens nothing.
 *
 * The grammar closes a forgotten element silently where its parent ends, at the end of the file at the latest. HTML allows that for some elements; for the others it is a
 * fault, and a span up to there would be a guess.
 */
import type { Language, SyntaxNode } from '../src/syntax/language.js'

/** Elements that HTML lets go without an end tag, and those that have none. */
const mayStayOpen = new Set(
  (
    'html head body p li dt dd option optgroup tr td th thead tbody tfoot caption colgroup rt rp rb rtc ' +
    'area base basefont bgsound br col command embed frame hr image img input keygen link meta nextid param source track wbr'
  ).split(' '),
)

function faultRow(root: SyntaxNode): number | undefined {
  for (const element of root.descendantsOfType('element')) {
    if (element.lastChild?.type === 'end_tag' || element.firstChild?.type === 'self_closing_tag') continue
    const name = element.firstChild?.firstNamedChild?.text.toLowerCase() ?? ''
    if (!mayStayOpen.has(name)) return element.startPosition.row
  }
  return undefined
}

export const language: Language = {
  name: 'html',
  extensions: ['.html', '.htm', '.xhtml'],
  sources: [
    {
      package: 'tree-sitter-html',
      file: 'tree-sitter-html.wasm',
      sha256: 'c48fcd82c7ea8bf943180088ba7f28c48b2bb5287874179168bf9d31e394cf85',
    },
  ],
  sample: '<!doctype html>\n<ul a="b">\n  <li>c\n  <li>d<br>\n</ul>\n<script>\n  1 < 2\n</script>\n',
  opens: ['element', 'script_element', 'style_element', 'attribute', 'doctype'],
  containers: ['document'],
  clauses: [],
  closers: ['end_tag'],
  comments: ['comment'],
  faultRow,
}
