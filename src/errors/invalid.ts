/**
 * The words of INVALID_ARGUMENT: one constructor per kind of issue, each naming the argument and the next step.
 *
 * Throw sites call these and write no text of their own.
 */
import { linesText } from './entry.js'
import type { Issue } from './table.js'
import { ToolError } from './tool-error.js'

const invalid = (
  issue: Issue,
  extra: { totalLines?: number; limitBytes?: number } = {},
): ToolError<'INVALID_ARGUMENT'> => new ToolError('INVALID_ARGUMENT', { issues: [issue], ...extra })

// — ops (contract §12, reading §1.6) —

export const opsTooLarge = (bytes: number, limitBytes: number): ToolError<'INVALID_ARGUMENT'> =>
  invalid(
    { path: 'ops', message: `has ${bytes} bytes, the limit is ${limitBytes}; split the change into several calls` },
    { limitBytes },
  )

export const opsHoldNul = (row: number): ToolError<'INVALID_ARGUMENT'> =>
  invalid({ path: 'ops', message: `row ${row} holds a NUL character, which no text file has; leave it out` })

export const opsHoldLoneSurrogate = (row: number): ToolError<'INVALID_ARGUMENT'> =>
  invalid({
    path: 'ops',
    message: `row ${row} holds half of a surrogate pair, which no UTF-8 file can hold; send the whole character`,
  })

export const tooManyOps = (limit: number): ToolError<'INVALID_ARGUMENT'> =>
  invalid({ path: 'ops', message: `holds more than ${limit} ops; split the change into several calls` })

// — paths (reading §8.4, §8.13, §8.15); `field` is the argument that holds the path —

export type PathProblem =
  | { readonly kind: 'empty' }
  | { readonly kind: 'nul' }
  | { readonly kind: 'lone surrogate' }
  | { readonly kind: 'path too long'; readonly limitBytes: number }
  | { readonly kind: 'name too long'; readonly limitBytes: number }
  | { readonly kind: 'parent is a file' }
  | { readonly kind: 'link loop' }
  | { readonly kind: 'link leads nowhere' }
  | { readonly kind: 'dot-dot behind a link' }
  | { readonly kind: 'names a directory' }
  | { readonly kind: 'not a directory' }
  | { readonly kind: 'not a regular file'; readonly found: 'directory' | 'link' | 'special file' }
  | { readonly kind: 'name refused by the file system' }
  | { readonly kind: 'across file systems' }
  | { readonly kind: 'reserved name' }
  | { readonly kind: 'not absolute' }

function pathProblemText(problem: PathProblem): string {
  switch (problem.kind) {
    case 'empty':
      return 'is empty; name a file relative to the workspace root'
    case 'nul':
      return 'holds a NUL character, which no file name has; leave it out'
    case 'lone surrogate':
      return 'holds half of a surrogate pair, which no file name here can hold; send the whole character'
    case 'path too long':
      return `is longer than ${problem.limitBytes} bytes; use a shorter path`
    case 'name too long':
      return `holds a name longer than ${problem.limitBytes} bytes; use a shorter name`
    case 'parent is a file':
      return 'leads through something that is not a directory; correct the folder part of the path'
    case 'link loop':
      return 'leads through a loop of symbolic links; name the file itself'
    case 'link leads nowhere':
      return 'leads through a symbolic link whose target cannot exist; name the file itself'
    case 'dot-dot behind a link':
      return 'has ".." behind a symbolic link and so could mean two files; write the path without ".."'
    case 'names a directory':
      return 'ends like a directory; name a file, without "/" or "." at the end'
    case 'not a directory':
      return 'is not a directory; leave the "/" at the end out, or name a directory'
    case 'not a regular file':
      return problem.found === 'directory'
        ? 'is a directory; name a file in it'
        : `is a ${problem.found}, not a regular file; name a regular file`
    case 'name refused by the file system':
      return 'holds a name that this file system does not take; use another name'
    case 'across file systems':
      return 'lies on another file system, and a move never crosses one; write the new file and remove the old one'
    case 'reserved name':
      return 'has the form of a temporary file of this service; use another name'
    case 'not absolute':
      return 'is not an absolute path; write it from the root of the file system'
  }
}

export const invalidPath = (problem: PathProblem, field = 'path'): ToolError<'INVALID_ARGUMENT'> =>
  invalid({ path: field, message: pathProblemText(problem) })

// — registers (contract §12) —

export const captureTooLarge = (
  capture: { row: number; header: string; size: string },
  bounds: { lines: number; bytes: number },
): ToolError<'INVALID_ARGUMENT'> =>
  invalid(
    {
      path: 'ops',
      message: `row ${capture.row}: "${capture.header}" captures ${capture.size}, a register holds at most ${bounds.lines} lines and ${bounds.bytes} bytes; capture it in several parts`,
    },
    { limitBytes: bounds.bytes },
  )

// — Read —

export const offsetPastEnd = (offset: number, totalLines: number): ToolError<'INVALID_ARGUMENT'> =>
  invalid(
    {
      path: 'offset',
      message:
        totalLines === 0
          ? `is ${offset}, but the file is empty (0 lines); read it without offset`
          : `is ${offset}, but the file has ${linesText(totalLines)}; use an offset from 1 to ${totalLines}`,
    },
    { totalLines },
  )

// — Grep —

const literalHint = 'to search for it as plain text, send literal: true'

/** `reason` in the words of the regex engine; `at` is the 1-based character of the pattern where it stopped, when it told. */
export const patternInvalid = (reason: string, at?: number): ToolError<'INVALID_ARGUMENT'> =>
  invalid({
    path: 'pattern',
    message: `is no valid regular expression${at === undefined ? '' : ` at character ${at}`}: ${reason}; correct it, or, ${literalHint}`,
  })

export const patternNotOneLine = (): ToolError<'INVALID_ARGUMENT'> =>
  invalid({
    path: 'pattern',
    message: 'holds a line break, but lines are searched one by one; search for a part that stands on one line',
  })

export const patternEndsInReturn = (): ToolError<'INVALID_ARGUMENT'> =>
  invalid({
    path: 'pattern',
    message: 'ends in a carriage return, which in a file with CRLF belongs to the end of a line; leave it out',
  })

export const patternUnwritable = (): ToolError<'INVALID_ARGUMENT'> =>
  invalid({
    path: 'pattern',
    message: 'holds a NUL character or half of a surrogate pair, which no text file here can hold; leave it out',
  })

export const patternTooLong = (limitBytes: number): ToolError<'INVALID_ARGUMENT'> =>
  invalid({ path: 'pattern', message: `is longer than ${limitBytes} bytes; use a shorter one` }, { limitBytes })

export type GlobProblem =
  | { readonly kind: 'unclosed'; readonly bracket: '[' | '{' }
  | { readonly kind: 'too many wildcards'; readonly limit: number }
  | { readonly kind: 'too many alternatives'; readonly limit: number }

function globProblemText(problem: GlobProblem): string {
  switch (problem.kind) {
    case 'unclosed':
      return `opens "${problem.bracket}" and never closes it; close it, or write "\\${problem.bracket}" for the character itself`
    case 'too many wildcards':
      return `has more than ${problem.limit} wildcards; use a simpler glob such as "*.ts"`
    case 'too many alternatives':
      return `has braces that expand to more than ${problem.limit} globs; use a simpler glob such as "*.{ts,tsx}"`
  }
}

export const includeInvalid = (problem: GlobProblem): ToolError<'INVALID_ARGUMENT'> =>
  invalid({ path: 'include', message: globProblemText(problem) })

// — Write —

export const tagMalformed = (found: string): ToolError<'INVALID_ARGUMENT'> =>
  invalid({
    path: 'tag',
    message: `${JSON.stringify(found.slice(0, 40))} is not a tag; a tag is the 4 hex digits behind # in the header of the last Read, Grep, Write or Edit of this file, for example A1B2, or leave it out`,
  })

export const contentUnwritable = (): ToolError<'INVALID_ARGUMENT'> =>
  invalid({
    path: 'content',
    message:
      'holds a NUL character or half of a surrogate pair, which no text file here can hold; send whole characters',
  })

// — Edit —

export const headerDisagrees = (
  row: number,
  what: 'path' | 'tag',
  written: string,
  given: string,
): ToolError<'INVALID_ARGUMENT'> =>
  invalid({
    path: 'ops',
    message: `row ${row}: the header names ${what} ${JSON.stringify(written)}, the call names ${JSON.stringify(given)}; make them agree or leave the header out`,
  })

export const moveOntoItself = (path: string): ToolError<'INVALID_ARGUMENT'> =>
  invalid({ path: 'ops', message: `MV: the destination is ${path} itself; name another destination` })

export const linkNotMoved = (path: string, target: string): ToolError<'INVALID_ARGUMENT'> =>
  invalid({
    path: 'path',
    message: `${path} is a symbolic link, and REM and MV take the file itself; use path ${JSON.stringify(target)}`,
  })

// — sessions —

export const ttlTooLong = (seconds: number, limit: number): ToolError<'INVALID_ARGUMENT'> =>
  invalid({ path: 'ttlSeconds', message: `is ${seconds}, the longest is ${limit}; use at most ${limit}` })

export const seenLinesInvalid = (start: number, end: number, totalLines: number): ToolError<'INVALID_ARGUMENT'> =>
  invalid(
    {
      path: 'seenLines',
      message: `${start}-${end} is no range of lines of a file of ${linesText(totalLines)}; use ranges within 1-${totalLines}`,
    },
    { totalLines },
  )

export const cursorInvalid = (): ToolError<'INVALID_ARGUMENT'> =>
  invalid({
    path: 'cursor',
    message: 'is not a cursor of this list; use nextCursor of the page before, or leave it out',
  })
