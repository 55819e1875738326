/**
 * HTML: elements, and attributes that begin a line. Text between elements opens nothing.
 *
 * The grammar closes a forgotten element silently where its parent ends, at the end of the file at the latest. HTML allows that for some elements; for the others it is a
 * fault, and a span up to there would be a guess. So it is where the grammar forgets that a new item ends the paragraph in the item before it.
 */
import type { Language, SyntaxNode } from '../src/syntax/language.js'
import { childrenOf } from '../src/syntax/language.js'

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '))

/** Elements that HTML lets go without an end tag. */
const mayStayOpen = words(
  'html head body p li dt dd option optgroup tr td th thead tbody tfoot caption colgroup rt rp rb rtc',
)

/** Elements that have no end tag. */
const neverClosed = words(
  'area base basefont bgsound br col command embed frame hr image img input keygen link meta nextid param source track wbr',
)

/** Elements that end what stays open before them, up to the parent that they need. */
const items = words('li dt dd option optgroup tr td th thead tbody tfoot caption colgroup')

/** What an element that stays open may hold of those. */
const mayHold: Readonly<Record<string, ReadonlySet<string>>> = {
  tr: words('td th'),
  thead: words('tr'),
  tbody: words('tr'),
  tfoot: words('tr'),
  optgroup: words('option'),
}

function nameOf(element: SyntaxNode): string {
  return element.firstChild?.firstNamedChild?.text.toLowerCase() ?? ''
}

function isFaulty(element: SyntaxNode): boolean {
  if (element.lastChild?.type === 'end_tag' || element.firstChild?.type === 'self_closing_tag') return false
  const name = nameOf(element)
  if (neverClosed.has(name)) return false
  if (!mayStayOpen.has(name)) return true
  for (const child of childrenOf(element)) {
    if (child.type !== 'element') continue
    const inner = nameOf(child)
    if (items.has(inner) && mayHold[name]?.has(inner) !== true) return true
  }
  return false
}

function faultRow(root: SyntaxNode): number | undefined {
  return root.descendantsOfType('element').find(isFaulty)?.startPosition.row
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
