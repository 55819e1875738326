/**
 * A pattern as arguments of ripgrep, and what ripgrep says of one that it does not take.
 *
 * Lines are matched one by one, `$` stands before LF and CRLF alike, and bytes that look binary end nothing. Runs nothing. Called by the search.
 */
import { patternEndsInReturn, patternInvalid } from '../errors/invalid.js'
import type { ToolError } from '../errors/tool-error.js'
import type { SearchQuery } from './search-port.js'

/**
 * Arguments for every call that matches. Bounds on what a pattern compiles to keep one that repeats repetitions from taking the machine; the default engine knows
 * no backtracking.
 */
const common = [
  '--no-config',
  '--color=never',
  '--no-messages',
  '--no-ignore-messages',
  '--no-mmap',
  '--text',
  '--engine=default',
  '--regex-size-limit=10M',
  '--dfa-size-limit=32M',
]

const caseArg = (query: SearchQuery): string => (query.caseInsensitive ? '--ignore-case' : '--case-sensitive')

/** For the search of files and of lines. Throws INVALID_ARGUMENT for a group that is closed before it is opened: ripgrep would close its own with it. */
export function patternArgs(query: SearchQuery): string[] {
  const unopened = query.literal ? undefined : unopenedGroup(query.pattern)
  if (unopened !== undefined) throw patternInvalid('unopened group', unopened)
  if (query.literal && query.pattern.endsWith('\r')) throw patternEndsInReturn()
  return [
    ...common,
    // Plain text knows no ends of lines, and may hold a carriage return.
    query.literal ? '--fixed-strings' : '--crlf',
    caseArg(query),
    `--regexp=${query.literal ? query.pattern : closed(query.pattern)}`,
  ]
}

/** For the part of a line up to the end of its first match. The beginning of the line is taken along, so that there is no second match to look for. */
export function firstMatchArgs(query: SearchQuery): string[] {
  const pattern = query.literal ? query.pattern.replace(/[\\^$.*+?()[\]{}|#&~-]/g, '\\$&') : closed(query.pattern)
  return [...common, caseArg(query), '--only-matching', `--regexp=^.*?(?:${pattern})`]
}

/**
 * Reads a complaint such as
 *
 *     rg: regex parse error:
 *         (?:foo(bar[)
 *                   ^
 *     error: unclosed character class
 *
 * where newer versions put a group around the pattern, which the caller never wrote.
 */
export function patternError(complaint: string, pattern: string): ToolError<'INVALID_ARGUMENT'> {
  const lines = complaint.split('\n')
  const marks = lines.findIndex((line) => /^ *\^[ ^]*$/.test(line))
  const shown = lines[marks - 1] ?? ''
  const from = shown.lastIndexOf(pattern)
  const words = reasonOf(lines.slice(marks + 1))
  if (marks < 1 || from < 0) return patternInvalid(words)
  const column = (lines[marks] ?? '').indexOf('^')
  const characters = Array.from(shown.slice(0, from)).length
  return patternInvalid(words, column >= characters ? column - characters + 1 : (openGroup(pattern) ?? 1))
}

function reasonOf(lines: readonly string[]): string {
  const told = lines.find((line) => line.trim() !== '') ?? 'it is not understood'
  return told.replace(/^(?:rg: )?(?:error: )?/, '')
}

/** ripgrep puts patterns into a group, whose end a comment on their last line would hold; where there are comments, a line break is a blank. */
function closed(pattern: string): string {
  return /^\(\?[a-wyzA-Z]*x[a-zA-Z]*\)/.test(pattern) ? `${pattern}\n` : pattern
}

/** 1-based character of a `)` that closes nothing; none is looked for where comments may hold one. */
function unopenedGroup(pattern: string): number | undefined {
  if (/\(\?[a-wyzA-Z-]*x/.test(pattern)) return undefined
  const letters = Array.from(pattern)
  let groups = 0
  let sets = 0
  for (let i = 0; i < letters.length; i++) {
    const letter = letters[i]
    if (letter === '\\') i++
    else if (letter === '[') {
      sets++
      if (letters[i + 1] === '^') i++
      if (letters[i + 1] === ']') i++
    } else if (sets > 0) sets -= letter === ']' ? 1 : 0
    else if (letter === '(') groups++
    else if (letter === ')' && groups-- === 0) return i + 1
  }
  return undefined
}

/** 1-based character of the innermost group that is never closed: the complaint may lay it at the group around the pattern. */
function openGroup(pattern: string): number | undefined {
  const open: number[] = []
  let inSet = false
  Array.from(pattern.replace(/\\./gsu, '__')).forEach((letter, i) => {
    if (letter === '[') inSet = true
    else if (letter === ']') inSet = false
    else if (!inSet && letter === '(') open.push(i + 1)
    else if (!inSet && letter === ')') open.pop()
  })
  return open.at(-1)
}
