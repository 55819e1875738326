/**
 * The text model said in the plainest way, with strings, for the tests to hold the real one against.
 */
export interface NaiveLine {
  readonly content: string
  readonly terminator: '\n' | '\r\n' | ''
}

export const withoutMark = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text)

/** Lines end at LF; a CR directly before it belongs to the terminator. */
export function linesOf(text: string): NaiveLine[] {
  const parts = withoutMark(text).split('\n')
  const last = parts.pop() ?? ''
  const lines = parts.map((part): NaiveLine =>
    part.endsWith('\r') ? { content: part.slice(0, -1), terminator: '\r\n' } : { content: part, terminator: '\n' },
  )
  return last === '' ? lines : [...lines, { content: last, terminator: '' }]
}

/** Old lines [start, end), 1-based, go away and `rows` stand in their place. */
export interface NaiveReplacement {
  readonly start: number
  readonly end: number
  readonly rows: readonly string[]
}

/** The file after the replacements, which are sorted (reading §1.3–1.5). */
export function spliced(text: string, replacements: readonly NaiveReplacement[]): string {
  const lines = linesOf(text)
  const crlf = lines.filter((line) => line.terminator === '\r\n').length
  const dominant = crlf > lines.filter((line) => line.terminator === '\n').length ? '\r\n' : '\n'
  const unterminated = lines.at(-1)?.terminator === ''
  const result: NaiveLine[] = []
  let from = 1
  for (const { start, end, rows } of replacements) {
    result.push(...lines.slice(from - 1, start - 1))
    for (const row of rows)
      result.push({
        content: result.length === 0 ? row.replace(/^\ufeff+/, '') : row,
        terminator: dominant,
      })
    from = end
  }
  result.push(...lines.slice(from - 1))
  const ends = result.map((line, i): NaiveLine => {
    const last = i === result.length - 1
    if (!last) return { ...line, terminator: line.terminator === '' ? dominant : line.terminator }
    return unterminated && line.content !== '' ? { ...line, terminator: '' } : line
  })
  return (text.startsWith('\ufeff') ? '\ufeff' : '') + ends.map((line) => line.content + line.terminator).join('')
}
