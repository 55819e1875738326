/**
 * Where a construct ends whose node ends elsewhere: before a tail that the grammar puts beside it, or behind what only follows it.
 *
 * A construct has its whole tail (contract §8.2), also where that is a node of its own: the accessors of a Kotlin property, the end marker of a Scala definition. Called by the
 * block rules.
 */
import type { SyntaxNode } from './language.js'
import type { Rules } from './rules.js'

/** The node with which a construct ends. */
export function lastPartOf(construct: SyntaxNode, rules: Rules): SyntaxNode {
  let last = rules.language.lastPart?.(construct) ?? construct
  if (rules.language.headOf === undefined) return last
  for (let next = around(construct, rules).nextSibling; next !== null; next = next.nextSibling) {
    const head = rules.headOf(next)
    if (head === undefined && !standsBetween(next, rules)) break
    // What completes something above the construct is no part of it: the setter behind a getter.
    if (head !== undefined && head.startIndex < construct.startIndex) break
    if (head !== undefined) last = next
  }
  return last
}

/** A node, and the constructs that it completes. */
export function* withHeads(node: SyntaxNode, rules: Rules): Generator<SyntaxNode> {
  for (let at: SyntaxNode | undefined = node; at !== undefined; at = rules.headOf(at)) yield at
}

/** The sibling of what may complete a construct that is the last thing inside of it. */
function around(construct: SyntaxNode, rules: Rules): SyntaxNode {
  let outer = construct
  while (outer.nextSibling === null && outer.parent !== null && !rules.isContainer(outer.parent)) outer = outer.parent
  return outer
}

/** True for what may stand between a construct and its tail and is neither. */
function standsBetween(node: SyntaxNode, rules: Rules): boolean {
  return node.type === ';' || rules.isComment(node) || rules.isAttached(node)
}
