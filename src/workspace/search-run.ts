/**
 * One search: which files hold a match, and which lines of given texts do (reading §8.12).
 *
 * Finding is a walk by ripgrep from the root, beside walks that only count what was left out. Lines are found in the bytes of the caller, never on the disk.
 * Called by search.ts.
 */
import { lstat } from 'node:fs/promises'
import { posix } from 'node:path'
import type { Denies } from './deny.js'
import type { OpenDirectory } from './directory.js'
import type { RuleBounds, RuleText } from './ignore.js'
import { bareRules } from './ignore.js'
import type { Children } from './search-child.js'
import type { GlobBounds, Include } from './search-include.js'
import { parseInclude } from './search-include.js'
import { patternArgs, patternError } from './search-pattern.js'
import type {
  FileFound,
  FilesFound,
  LineFound,
  LinesEnd,
  SearchEnd,
  SearchQuery,
  SearchScope,
  SearchText,
} from './search-port.js'
import type { LineRow, PathRow } from './search-rows.js'
import { LineRows, PathRows } from './search-rows.js'
import { collectRules, walkArgs, withRuleFiles } from './search-rules.js'
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

/** A walk: from where, which files it takes, and what ripgrep is told. */
interface Walk {
  readonly root: string
  readonly takes: (path: string) => boolean
  readonly args: readonly string[]
}

interface Hits {
  readonly files: readonly PathRow[]
  readonly ended: SearchEnd
  readonly unreadable: boolean
}

interface Survey extends FilesFound {
  /** Files that were searched; null when unknown. */
  readonly searched: number | null
}

export class SearchRun {
  private readonly started = performance.now()

  constructor(
    private readonly query: SearchQuery,
    private readonly parts: RunParts,
  ) {}

  async files(scope: SearchScope): Promise<FilesFound> {
    const include = scope.include === undefined ? undefined : parseInclude(scope.include, this.parts.bounds)
    if (scope.includeIgnored) return this.survey(scope, include, undefined)
    const { children, openDirectory, bounds } = this.parts
    const reading = { children, openDirectory, bounds, timeMs: this.remaining(bounds.searchMs) }
    const rules = await collectRules(reading, scope.root, scope.start)
    const found = await this.survey(scope, include, rules)
    // A directory that was named is searched, also when the rules leave nothing of it.
    return scope.start !== '.' && found.searched === 0 ? this.survey(scope, include, undefined) : found
  }

  async lines(texts: readonly SearchText[], take: (found: LineFound) => boolean): Promise<LinesEnd> {
    const rows = new LineRows()
    let text = 0
    let before = 0
    const visit = ({ line, column }: LineRow): boolean => {
      for (let size = lineCount(texts, text); line > before + size; size = lineCount(texts, text)) {
        before += size
        text++
      }
      return take({ text, line: line - before, column })
    }
    const end = await this.parts.children.run({
      args: [...patternArgs(this.query), ...lineArgs],
      cwd: '/',
      input: wholeLines(texts),
      timeMs: this.remaining(this.parts.bounds.searchMs + this.parts.bounds.searchLinesMs),
      take: (chunk) => rows.take(chunk, visit),
    })
    if (end.how === 'exit' && end.code === 2) throw patternError(end.complaint, this.query.pattern)
    return end.how === 'exit' ? 'complete' : end.how
  }

  /** The hits under the rules, or under none, and how many files were left out. */
  private async survey(scope: SearchScope, include: Include | undefined, rules?: RuleText): Promise<Survey> {
    const bare = bareRules(scope.start)
      .map((rule) => `${rule}\n`)
      .join('')
    return withRuleFiles([rules?.text ?? bare, bare], async ([ruled = '', unruled = '']) => {
      const walk = this.walk(scope, include, ruled)
      const counting = new AbortController()
      const counts = Promise.all([
        this.count(walk, [this.sizeArg], counting.signal),
        this.count(walk, [], counting.signal),
        rules ? this.count(this.walk(scope, include, unruled), [], counting.signal) : undefined,
      ])
      let timer: NodeJS.Timeout | undefined
      try {
        const { files, ended, unreadable } = await this.hits(walk, scope.countLines)
        timer = setTimeout(() => counting.abort(), this.parts.bounds.searchCountMs)
        const [sorted, [searched, ofAnySize, all = ofAnySize]] = await Promise.all([
          newestFirst(scope.root, files),
          counts,
        ])
        return {
          files: sorted,
          ended,
          unreadable,
          searched,
          ignored: difference(all, ofAnySize),
          tooLarge: difference(ofAnySize, searched),
          rulesLeftOut: rules?.leftOut ?? false,
        }
      } finally {
        clearTimeout(timer)
        counting.abort()
        await counts.catch(() => undefined)
      }
    })
  }

  private async hits(walk: Walk, counted: boolean): Promise<Hits> {
    const files: PathRow[] = []
    const rows = new PathRows(counted)
    let unreadable = false
    const end = await this.parts.children.run({
      args: [
        ...patternArgs(this.query),
        ...walk.args,
        this.sizeArg,
        ...(counted ? ['--count', '--with-filename'] : ['--files-with-matches']),
        ...['--', '.'],
      ],
      cwd: walk.root,
      timeMs: this.remaining(this.parts.bounds.searchMs),
      take: (chunk) => {
        for (const row of rows.take(chunk)) {
          if (row === undefined) unreadable = true
          else if (walk.takes(row.path)) files.push(row)
          if (files.length === this.parts.bounds.searchFiles) return true
        }
        return false
      },
    })
    if (end.how === 'exit' && end.code === 2) {
      await this.checkPattern()
      unreadable = true
    }
    const ended = end.how === 'exit' ? 'complete' : end.how === 'enough' ? 'tooMany' : 'deadline'
    return { files, unreadable, ended }
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

  /** How many files a walk takes; null past the bound, the deadline or an abort of `signal`. */
  private async count(walk: Walk, args: readonly string[], signal: AbortSignal): Promise<number | null> {
    const { bounds, children } = this.parts
    const rows = new PathRows(false)
    let files = 0
    const counted = children.run({
      args: ['--files', ...walk.args, ...args, '--', '.'],
      cwd: walk.root,
      timeMs: this.remaining(bounds.searchMs) + bounds.searchCountMs,
      signal,
      take: (chunk) => {
        for (const row of rows.take(chunk)) if (row !== undefined && walk.takes(row.path)) files++
        return files > bounds.searchCountFiles
      },
    })
    try {
      return (await counted).how === 'exit' ? files : null
    } catch (error) {
      if (signal.aborted) return null
      throw error
    }
  }

  private walk(scope: SearchScope, include: Include | undefined, ruleFile: string): Walk {
    const { denyRead } = this.parts
    const below = scope.start === '.' ? 0 : scope.start.length + 1
    const takes = (path: string): boolean =>
      (include === undefined || include.covers(path, path.slice(below))) &&
      !denyRead(path) &&
      !isTempName(posix.basename(path))
    const names = include?.names === undefined ? [] : [`--type-add=include:${include.names}`, '--type=include']
    return { root: scope.root, takes, args: [...walkArgs(ruleFile), ...names] }
  }

  private get sizeArg(): string {
    return `--max-filesize=${this.parts.bounds.maxFileBytes}`
  }

  private remaining(ms: number): number {
    return this.started + ms - performance.now()
  }
}

/** A row per matching line, without its text. */
const lineArgs = [
  '--encoding=none',
  '--no-heading',
  '--no-filename',
  '--line-number',
  '--column',
  '--max-columns=1',
  '--',
  '-',
]

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

function difference(more: number | null, fewer: number | null): number | null {
  return more === null || fewer === null ? null : Math.max(0, more - fewer)
}

/** Files that are looked at together. */
const lookedAtOnce = 64

async function newestFirst(root: string, files: readonly PathRow[]): Promise<readonly FileFound[]> {
  const aged: (FileFound & { readonly time: bigint })[] = []
  for (let at = 0; at < files.length; at += lookedAtOnce) {
    const looks = files.slice(at, at + lookedAtOnce).map((file) => withAge(root, file))
    aged.push(...(await Promise.all(looks)))
  }
  const byPath = (a: FileFound, b: FileFound): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)
  aged.sort((a, b) => (a.time === b.time ? byPath(a, b) : a.time < b.time ? 1 : -1))
  return aged.map(({ path, lines, bytes }) => ({ path, lines, bytes }))
}

/** A file that is gone meanwhile counts as oldest; whoever loads it finds out. */
async function withAge(root: string, { path, lines }: PathRow): Promise<FileFound & { readonly time: bigint }> {
  const stat = await lstat(posix.join(root, path), { bigint: true }).catch(() => undefined)
  return { path, lines, bytes: Number(stat?.size ?? 0n), time: stat?.mtimeNs ?? 0n }
}
