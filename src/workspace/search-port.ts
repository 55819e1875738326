/**
 * The search port: which files hold a match, and which lines of a given text match.
 *
 * The first answer is a hint: it comes from the disk as it was for a moment, and names no line. The second is about bytes that the caller holds, so that line
 * numbers, tags and what is shown come from the same bytes (reading §8.12). Shows no content, knows no sessions or tags, follows no link. Called by Grep.
 */

/** A pattern as the caller wrote it, in the syntax of Rust's regex crate, or plain text. One line, no NUL. */
export interface SearchQuery {
  readonly pattern: string
  readonly literal: boolean
  readonly caseInsensitive: boolean
}

export interface SearchScope {
  /** Real absolute path of a root. Ignore files from here down count, none above. */
  readonly root: string
  /** Real path of a directory relative to `root`, `.` for the root itself. */
  readonly start: string
  /** Glob of files: a bare name pattern matches at any depth, one with `/` from the root or from `start`; `!` in front inverts it. */
  readonly include?: string
  readonly includeIgnored: boolean
  /** True when matching lines have to be counted in every file; false ends the search of a file at its first match. */
  readonly countLines: boolean
}

/** A file with at least one matching line when it was searched. */
export interface FileFound {
  /** Relative to the root, with `/`. */
  readonly path: string
  /** Matching lines; 1 where they were not counted. */
  readonly lines: number
  /** Size when it was found; 0 when it is gone since. */
  readonly bytes: number
}

/** `deadline` and `tooMany` mean that there may be more files. */
export type SearchEnd = 'complete' | 'deadline' | 'tooMany'

export interface FilesFound {
  /** Newest first by mtime, then by path. */
  readonly files: readonly FileFound[]
  readonly ended: SearchEnd
  /** Some file or directory could not be read. */
  readonly unreadable: boolean
  /** Files that ignore rules left out; null when counting them would cost too much. */
  readonly ignored: number | null
  /** Files over the size bound, which were not searched; null when unknown. */
  readonly tooLarge: number | null
  /** Some ignore files were left out because they were too many or too large. */
  readonly rulesLeftOut: boolean
}

/** A matching line of one of the texts asked about. */
export interface LineFound {
  /** Index of the text. */
  readonly text: number
  /** 1-based. */
  readonly line: number
}

/** Whole lines of UTF-8 without byte order mark; the last one may lack its LF. */
export interface SearchText {
  readonly bytes: Uint8Array
  readonly lineCount: number
}

export interface LinesFound {
  /** In order of text and line, the first ones as far as they were wanted. */
  readonly lines: readonly LineFound[]
  /** Matching lines of each text, as many as were come to. */
  readonly counts: readonly number[]
  /** After all but `complete`, the last text with a match and those behind it may hold more. */
  readonly ended: 'complete' | 'enough' | 'deadline'
}

export type PlaceKind = 'directory' | 'file' | 'absent' | 'other'

/** One search, with its child processes and its deadline. */
export interface Search {
  /** What stands at a real absolute path; a link is `other`. */
  kindOf(canonical: string): Promise<PlaceKind>
  /** Throws INVALID_ARGUMENT for a pattern or glob that is none. */
  files(scope: SearchScope): Promise<FilesFound>
  /**
   * The first `most` matching lines, and whether there is another one; with `most` 0 all are counted and none is given. Throws INVALID_ARGUMENT for a pattern
   * that is none.
   */
  lines(texts: readonly SearchText[], most: number): Promise<LinesFound>
  /**
   * Where the first match of each of these lines ends, in bytes from the start of the line; 0 where that could not be found out in time. The lines have no
   * terminators. Costs no memory however many matches a line holds.
   */
  ends(lines: readonly Uint8Array[]): Promise<readonly number[]>
}

export interface SearchPort {
  /**
   * Runs `use` with a search of its own. Waits for its turn when too many run; throws OVERLOADED when too many wait or the wait takes too long. Whatever `use` does, its
   * child processes are gone when this settles. An aborted signal ends it with the reason of the signal.
   */
  run<T>(query: SearchQuery, signal: AbortSignal, use: (search: Search) => Promise<T>): Promise<T>
}
