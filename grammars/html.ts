/**
 * HTML: elements, and attributes that begin a line. Text between elements opens nothing.
 *
 * The grammar closes a forgotten element silently where its parent ends, at the end of the file at the latest. HTML allows that for some elements; for the others it is a
 * fault, and a span up to there would be a guess. Where HTML ends such an element earlier, before one of its children, its span ends there too; where the end lies deeper, inside of
 * something else or before the next item of a list, the tree is not the one that HTML sees, and the file is not read.
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

/** Elements that end what stays open before them though the grammar puts them into it. */
const endedBy: Readonly<Record<string, ReadonlySet<string>>> = {
  p: words(
    'address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr listing main menu nav ol p ' +
      'plaintext pre search section summary table ul xmp',
  ),
  option: words('hr'),
  optgroup: words('hr'),
  rb: words('rb rt rtc rp'),
  rt: words('rb rt rtc rp'),
  rp: words('rb rt rtc rp'),
  rtc: words('rb rtc'),
}

/** What a head may hold; everything else ends it, text as well. */
const headContent = words('base basefont bgsound link meta noframes noscript script style template title')

/** Elements around a paragraph at whose end tag it ends; within others HTML ignores that tag and keeps the paragraph open. */
const endsParagraph = words(
  'address applet article aside blockquote body button caption center dd details dialog dir div dl dt fieldset figcaption figure footer form header hgroup html li listing main ' +
    'marquee menu nav object ol pre search section summary td template th ul',
)

/** The frame of a document, which nothing inside of its elements ends. */
const frame = words('html head body')

/** Elements whose inside ends nothing that is open around them. */
const scopes = words(
  'applet button caption datalist dir dl marquee math menu object ol optgroup ruby select svg table tbody td template tfoot th thead tr ul',
)

function isElement(node: SyntaxNode): boolean {
  return node.type === 'element' || node.type === 'script_element' || node.type === 'style_element'
}

function nameOf(element: SyntaxNode): string {
  return element.firstChild?.firstNamedChild?.text.toLowerCase() ?? ''
}

function hasOwnEnd(element: SyntaxNode): boolean {
  return element.lastChild?.type === 'end_tag' || element.firstChild?.type === 'self_closing_tag'
}

/** True when an element without an end tag of its own ends before this child. */
function ends(name: string, child: SyntaxNode): boolean {
  if (name !== 'head') return isElement(child) && endedBy[name]?.has(nameOf(child)) === true
  return isElement(child) ? !headContent.has(nameOf(child)) : child.type === 'text' || child.type === 'entity'
}

/** What an element without an end tag ends with, where HTML ends it before the grammar does. */
function lastPart(element: SyntaxNode): SyntaxNode | undefined {
  if (!isElement(element) || hasOwnEnd(element)) return undefined
  const name = nameOf(element)
  let last: SyntaxNode | undefined
  for (const child of childrenOf(element)) {
    if (ends(name, child)) return last
    if (child.type !== 'comment') last = child
  }
  return undefined
}

function isFaulty(element: SyntaxNode): boolean {
  if (hasOwnEnd(element)) return false
  const name = nameOf(element)
  if (neverClosed.has(name)) return false
  if (!mayStayOpen.has(name)) return true
  const { parent } = element
  if (name === 'p' && parent?.type === 'element' && !endsParagraph.has(nameOf(parent))) return true
  for (const child of childrenOf(element)) {
    if (ends(name, child)) return false
    if (child.type !== 'element') continue
    const inner = nameOf(child)
    if (mayHold[name]?.has(inner) === true) continue
    if (items.has(inner) || (!frame.has(name) && endsWithin(name, child))) return true
  }
  return false
}

/** True when an element without an end tag ends somewhere inside of one of its children. */
function endsWithin(name: string, child: SyntaxNode): boolean {
  const open = [child]
  for (let element = open.pop(); element !== undefined; element = open.pop()) {
    if (scopes.has(nameOf(element))) continue
    for (const inner of childrenOf(element)) {
      if (ends(name, inner)) return true
      if (inner.type !== 'element') continue
      if (items.has(nameOf(inner))) return true
      open.push(inner)
    }
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
  lastPart,
  faultRow,
}
