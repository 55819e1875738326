/**
 * One search: which files hold a match, and which lines of given texts do (reading §8.12).
 *
 * Finding is a walk by ripgrep from the root, beside walks that only count what was left out. Lines are found in the bytes of the caller, never on the disk.
 * Runs in the search thread and may hold it up for moments. Called by search-worker.ts.
 */
import { lstatSync } from 'node:fs'
import { posix } from 'node:path'
import type { Denies } from './deny.js'
import type { OpenDirectory } from './directory.js'
import type { RuleBounds, RuleText } from './ignore.js'
import { bareRules, isIgnoreName } from './ignore.js'
import type { Children } from './search-child.js'
import type { GlobBounds } from './search-include.js'
import { parseInclude } from './search-include.js'
import { firstMatchArgs, patternArgs, patternError } from './search-pattern.js'
import type {
  FileFound,
  FilesFound,
  LineFound,
  LinesFound,
  SearchEnd,
  SearchQuery,
  SearchScope,
  SearchText,
} from './search-port.js'
import type { LineRow, PathRow } from './search-rows.js'
import { LineRows, PathRows } from './search-rows.js'
import { collectRules, walkArgs, withRuleFile } from './search-rules.js'
import { isTempName } from './temp-names.js'

export interface RunBounds extends RuleBounds, GlobBounds {
  readonly maxFileBytes: number
  readonly searchMs: number
  readonly searchLinesMs: number
  readonly searchFiles: number
  readonly searchCountFiles: number
  readonly searchCountMs: number
}

export interface RunParts {
  readonly children: Children
  readonly openDirectory: OpenDirectory
  readonly denyRead: Denies
  readonly bounds: RunBounds
}

/** A scope with its tests at hand. */
interface Ground extends SearchScope {
  readonly takes: (path: string) => boolean
  /** Arguments that leave out what `takes` would not take. */
  readonly nameArgs: readonly string[]
}

/** Every file below the start, whatever rules say; undefined when they are too many to look through. */
interface Listing {
  readonly taken: Set<string>
  readonly ruleDirs: ReadonlySet<string>
}

interface Hits {
  readonly files: readonly PathRow[]
  readonly ended: SearchEnd
  readonly unreadable: boolean
  /** Files that were searched. */
  readonly searched: number
}

type LeftOut = Pick<FilesFound, 'ignored' | 'tooLarge'>

export class SearchRun {
  private readonly started: number

  /** `spentMs`: time that the search has run already. */
  constructor(
    private readonly query: SearchQuery,
    private readonly parts: RunParts,
    spentMs: number,
  ) {
    this.started = performance.now() - spentMs
  }

  async files(scope: SearchScope): Promise<FilesFound> {
    const { children, openDirectory, bounds } = this.parts
    const ground = this.ground(scope)
    const listing = await this.list(ground)
    if (scope.includeIgnored) return this.survey(ground, listing)
    const timeMs = this.remaining(bounds.searchMs)
    const reading = { children, openDirectory, bounds, timeMs }
    const rules = await collectRules(reading, scope.root, scope.start, listing?.ruleDirs)
    const found = await this.survey(ground, listing, rules)
    // A directory that was named is searched, also when the rules leave nothing of it.
    return scope.start !== '.' && found.searched === 0 ? this.survey(ground, listing) : found
  }

  async lines(texts: readonly SearchText[], most: number): Promise<LinesFound> {
    const rows = new LineRows()
    const lines: LineFound[] = []
    const counts = texts.map(() => 0)
    let text = 0
    let before = 0
    const visit = ({ line }: LineRow): boolean => {
      for (let size = lineCount(texts, text); line > before + size; size = lineCount(texts, text)) {
        before += size
        text++
      }
      if (most > 0 && lines.length === most) return true
      if (most > 0) lines.push({ text, line: line - before })
      counts[text] = (counts[text] ?? 0) + 1
      return false
    }
    const end = await this.parts.children.run({
      args: [...patternArgs(this.query), '--max-columns=1', ...lineArgs],
      cwd: '/',
      input: wholeLines(texts),
      timeMs: this.remaining(this.parts.bounds.searchMs + this.parts.bounds.searchLinesMs),
      take: (chunk) => rows.take(chunk, visit),
    })
    if (end.how === 'exit' && end.code === 2) throw patternError(end.complaint, this.query.pattern)
    return { lines, counts, ended: end.how === 'exit' ? 'complete' : end.how }
  }

  async ends(lines: readonly Uint8Array[]): Promise<readonly number[]> {
    const ends = lines.map(() => 0)
    const rows = new LineRows()
    await this.parts.children.run({
      args: [...firstMatchArgs(this.query), ...lineArgs],
      cwd: '/',
      input: wholeLines(lines.map((bytes) => ({ bytes, lineCount: 1 }))),
      timeMs: this.remaining(this.parts.bounds.searchMs + this.parts.bounds.searchLinesMs),
      take: (chunk) =>
        rows.take(chunk, ({ line, length }) => {
          ends[line - 1] ||= length
          return false
        }),
    })
    return ends
  }

  /** The hits under the rules, or under none, and how many files were left out. */
  private async survey(
    ground: Ground,
    listing: Listing | undefined,
    rules?: RuleText,
  ): Promise<FilesFound & Pick<Hits, 'searched'>> {
    const text = rules?.text ?? bareText(ground.start)
    return withRuleFile(text, async (ruleFile) => {
      const unsearched = listing && new Set(listing.taken)
      const { files, ...hits } = await this.hits(ground, ruleFile, unsearched)
      const known = hits.ended === 'complete' ? unsearched : undefined
      const leftOut = await this.leftOut(ground, ruleFile, known, rules !== undefined)
      const sorted = newestFirst(ground.root, files)
      return { files: sorted, ...hits, ...leftOut, rulesLeftOut: rules?.leftOut ?? false }
    })
  }

  /** Takes every file that was searched out of `unsearched`. */
  private async hits(ground: Ground, ruleFile: string, unsearched: Set<string> | undefined): Promise<Hits> {
    const files: PathRow[] = []
    const rows = new PathRows(true)
    let unreadable = false
    let searched = 0
    const take = (row: PathRow | undefined): void => {
      if (row === undefined) unreadable = true
      else if (ground.takes(row.path)) {
        searched++
        unsearched?.delete(row.path)
        if (row.lines > 0) files.push(row)
      }
    }
    const end = await this.parts.children.run({
      args: [
        ...patternArgs(this.query),
        ...walkArgs(ruleFile),
        ...ground.nameArgs,
        `--max-filesize=${this.parts.bounds.maxFileBytes}`,
        ...['--count', '--include-zero', '--with-filename'],
        ...(ground.countLines ? [] : ['--max-count=1']),
        ...['--', '.'],
      ],
      cwd: ground.root,
      timeMs: this.remaining(this.parts.bounds.searchMs),
      take: (chunk) => {
        for (const row of rows.take(chunk)) take(row)
        return files.length >= this.parts.bounds.searchFiles
      },
    })
    if (end.how === 'exit' && end.code === 2) {
      await this.checkPattern()
      unreadable = true
    }
    const ended = end.how === 'exit' ? 'complete' : end.how === 'enough' ? 'tooMany' : 'deadline'
    return { files, unreadable, searched, ended }
  }

  /** Why files were not searched: rules left them out, unless a walk under the rules comes to them; those were too large. */
  private async leftOut(
    ground: Ground,
    ruleFile: string,
    unsearched: Set<string> | undefined,
    ruled: boolean,
  ): Promise<LeftOut> {
    if (unsearched === undefined) return { ignored: null, tooLarge: null }
    if (!ruled) return { ignored: 0, tooLarge: unsearched.size }
    if (![...unsearched].some((path) => this.isTooLarge(ground.root, path))) {
      return { ignored: unsearched.size, tooLarge: 0 }
    }
    const ignored = new Set(unsearched)
    const complete = await this.walk(ground.root, [...walkArgs(ruleFile), ...ground.nameArgs], (path) => {
      ignored.delete(path)
      return false
    })
    return complete
      ? { ignored: ignored.size, tooLarge: unsearched.size - ignored.size }
      : { ignored: null, tooLarge: null }
  }

  private isTooLarge(root: string, path: string): boolean {
    const stat = lstatSync(posix.join(root, path), { throwIfNoEntry: false })
    return stat !== undefined && stat.size > this.parts.bounds.maxFileBytes
  }

  private list(ground: Ground): Promise<Listing | undefined> {
    const taken = new Set<string>()
    const ruleDirs = new Set<string>()
    return withRuleFile(bareText(ground.start), async (ruleFile) => {
      const complete = await this.walk(ground.root, walkArgs(ruleFile), (path) => {
        if (ground.takes(path)) taken.add(path)
        if (path.endsWith('ignore') && isIgnoreName(posix.basename(path))) ruleDirs.add(posix.dirname(path))
        return taken.size > this.parts.bounds.searchCountFiles
      })
      return complete ? { taken, ruleDirs } : undefined
    })
  }

  /** Gives every path to `take` until it answers true; true when all were given in time. */
  private async walk(root: string, args: readonly string[], take: (path: string) => boolean): Promise<boolean> {
    const rows = new PathRows(false)
    const end = await this.parts.children.run({
      args: ['--files', ...args, '--', '.'],
      cwd: root,
      timeMs: Math.min(this.parts.bounds.searchCountMs, this.remaining(this.parts.bounds.searchMs)),
      take: (chunk) => {
        for (const row of rows.take(chunk)) if (row && take(row.path)) return true
        return false
      },
    })
    return end.how === 'exit'
  }

  /** Whether ripgrep complained of the pattern or of the disk shows where there is no disk. */
  private async checkPattern(): Promise<void> {
    const end = await this.parts.children.run({
      args: [...patternArgs(this.query), '--quiet', '-'],
      cwd: '/',
      timeMs: this.parts.bounds.searchLinesMs,
      take: () => false,
    })
    if (end.how === 'exit' && end.code === 2) throw patternError(end.complaint, this.query.pattern)
  }

  /** Throws INVALID_ARGUMENT for an include glob that is none. */
  private ground(scope: SearchScope): Ground {
    const { denyRead, bounds } = this.parts
    const include = scope.include === undefined ? undefined : parseInclude(scope.include, bounds)
    const below = scope.start === '.' ? 0 : scope.start.length + 1
    const takes = (path: string): boolean =>
      (include === undefined || include.covers(path, path.slice(below))) &&
      !denyRead(path) &&
      !isTempName(path.slice(path.lastIndexOf('/') + 1))
    const nameArgs = include?.names === undefined ? [] : [`--type-add=include:${include.names}`, '--type=include']
    return { ...scope, takes, nameArgs }
  }

  private remaining(ms: number): number {
    return this.started + ms - performance.now()
  }
}

/** Rows with their numbers; `--max-columns=1` leaves the text of a line out, but for one of a single byte. */
const lineArgs = ['--encoding=none', '--no-heading', '--no-filename', '--line-number', '--', '-']

function* wholeLines(texts: readonly SearchText[]): Generator<Uint8Array> {
  const newline = Buffer.from('\n')
  for (const { bytes } of texts) {
    if (bytes.length === 0) continue
    yield bytes
    if (bytes[bytes.length - 1] !== newline[0]) yield newline
  }
}

function lineCount(texts: readonly SearchText[], at: number): number {
  return texts[at]?.lineCount ?? Infinity
}

function bareText(start: string): string {
  return bareRules(start)
    .map((rule) => `${rule}\n`)
    .join('')
}

/** Looks at every file without waiting: this runs in a thread of its own. A file that is gone meanwhile counts as oldest; whoever loads it finds out. */
function newestFirst(root: string, files: readonly PathRow[]): readonly FileFound[] {
  const aged = files.map(({ path, lines }) => {
    const stat = lstatSync(posix.join(root, path), { bigint: true, throwIfNoEntry: false })
    return { path, lines, bytes: Number(stat?.size ?? 0n), time: stat?.mtimeNs ?? 0n }
  })
  const byPath = (a: FileFound, b: FileFound): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)
  aged.sort((a, b) => (a.time === b.time ? byPath(a, b) : a.time < b.time ? 1 : -1))
  return aged.map(({ path, lines, bytes }) => ({ path, lines, bytes }))
}
