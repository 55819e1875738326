/**
 * How deep the lines of a text nest, from above: never less than a grammar that nests by indentation would count.
 *
 * The scanners of such grammars keep a stack in a buffer of fixed size, and some write past its end, which damages memory without any sign of it. So a text is measured
 * before it is parsed. Counts markers at the start of a line (`- `, `> `, `1. `, `? `) and the staircase of indents above it. Called by the parser host.
 */
const prefix = /^([ \t]*)((?:(?:>|[-+*?:](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$))[ \t]*)*)/
const marker = />|[-+*?:]|\d+[.)]/g

/** Levels that one step of indentation may open by itself: a mapping and, at the same column, a sequence in it. */
const levelsPerStep = 2

interface Step {
  readonly indent: number
  readonly levels: number
}

/** True when some line of the text stands deeper than `limit` levels. Linear in the text. */
export function nestsDeeperThan(text: string, limit: number): boolean {
  const steps: Step[] = []
  let depth = 0
  for (const line of linesOf(text)) {
    const [, blanks = '', markers = ''] = prefix.exec(line) ?? []
    if (blanks.length + markers.length === line.length && markers === '') continue
    while ((steps.at(-1)?.indent ?? -1) >= blanks.length) depth -= steps.pop()?.levels ?? 0
    const levels = levelsPerStep + (markers.match(marker)?.length ?? 0)
    steps.push({ indent: blanks.length, levels })
    depth += levels
    if (depth > limit) return true
  }
  return false
}

function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = text.indexOf('\n', start)
    yield end === -1 ? text.slice(start) : text.slice(start, end)
    start = end === -1 ? text.length : end + 1
  }
}
