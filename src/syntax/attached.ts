/**
 * Decorators, attributes and doc comments: what they belong to (reading §7.2).
 *
 * Grammars put them beside a declaration (Rust attributes, doc comments) or inside it (Python decorators, Java annotations). Either way a line on which
 * one of them starts opens the declaration from there, and the declaration's own line opens the declaration alone. Called by the block rules.
 */
import type { SyntaxNode } from './language.js'
import type { Rules } from './rules.js'

/**
 * True when everything in `parent` before `child` is attached to it, so that a line which begins with `child` may stand for `parent`. Comments
 * between attached nodes are inside the declaration and no obstacle.
 */
export function beginsWith(parent: SyntaxNode, child: SyntaxNode, rules: Rules): boolean {
  const first = parent.firstChild
  if (first === null || first.startIndex !== parent.startIndex) return false
  for (let before: SyntaxNode | null = first; before !== null; before = before.nextSibling) {
    if (before.id === child.id) return true
    if (!rules.isAttached(before) && !rules.isComment(before) && !isEmpty(before)) return false
  }
  return false
}

/**
 * The declaration below a run of attached siblings, from `node` on; undefined when the run is broken: by a blank line, by a plain comment on a line of its own,
 * or by its end. A doc comment documents declarations only; an attribute belongs to any construct.
 */
export function attachedRun(node: SyntaxNode, rules: Rules): SyntaxNode | undefined {
  const isDoc = rules.isComment(node)
  let lastRow = contentRow(node)
  for (let next = following(node); next !== null; next = following(next)) {
    if (isEmpty(next)) continue
    const row = next.startPosition.row
    if (row > lastRow + 1) return undefined
    if (rules.isComment(next)) {
      if (row > lastRow && !rules.isDocComment(next)) return undefined
    } else if (!rules.isAttached(next)) {
      return rules.isDeclaration(next) || (!isDoc && rules.isConstruct(next)) ? next : undefined
    }
    lastRow = contentRow(next)
  }
  return undefined
}

/** The next sibling; for the last node of a parent, which may have taken in what only comes after it, that of the parent. */
function following(node: SyntaxNode): SyntaxNode | null {
  for (let at: SyntaxNode | null = node; at !== null; at = at.parent) if (at.nextSibling !== null) return at.nextSibling
  return null
}

/** The last row with something of the node on it; some line comments hold the line break as well. */
function contentRow(node: SyntaxNode): number {
  const end = node.endPosition
  return end.column === 0 && end.row > node.startPosition.row ? end.row - 1 : end.row
}

function isEmpty(node: SyntaxNode): boolean {
  return node.startIndex === node.endIndex
}
