/**
 * Lines that are compiled on a condition, from `#if` to `#endif`.
 *
 * Some grammars read such directives as if they were comments, so that a node may hold one end of a range and not the other. Called by the block rules.
 */
import type { TextLines } from './text-lines.js'

const directive = /^\s*#\s*(if|ifdef|ifndef|elif|elseif|else|endif)\b/

/** True when rows hold a part of a conditional range and not all of it. */
export function splitsCondition(lines: TextLines, first: number, last: number): boolean {
  let open = 0
  for (let row = first; row <= last; row++) {
    const word = directive.exec(lines.at(row))?.[1]
    if (word === undefined) continue
    if (word.startsWith('if')) open++
    else if (open === 0) return true
    else if (word === 'endif') open--
  }
  return open > 0
}
