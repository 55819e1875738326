/**
 * Grep: lines that match a pattern, as anchors (contract §4.3, §5.2; reading §2.10, §8.12; http-api "Grep").
 *
 * The search only says where to look. Every file that is shown is loaded, and its lines are found in the loaded bytes, so that numbers, text and tag are of one
 * moment. Changes no file and takes no permit. Called by http.
 */
import { patternNotOneLine, patternTooLong, patternUnwritable } from '../errors/invalid.js'
import { ToolError } from '../errors/tool-error.js'
import { limits } from '../limits.js'
import type { GrepAnswer, GrepRequest } from '../schemas/operations.js'
import type { Recording, SessionRef } from '../sessions/store.js'
import { Document } from '../text/document.js'
import type { LineSet } from '../text/line-set.js'
import { isUnwritable } from '../text/utf8.js'
import type { Roots, Target } from '../workspace/port.js'
import type { FileFound, FilesFound, LineFound, LinesFound, Search, SearchText } from '../workspace/search-port.js'
import { openSession, rootsOf } from './access.js'
import type { ToolDeps } from './deps.js'
import { announce } from './events.js'
import { grepNotice } from './grep-notice.js'
import type { OutputMode } from './grep-sheet.js'
import { GrepSheet } from './grep-sheet.js'
import { factsOf } from './load-text.js'
import type { Call } from './tools.js'

/** A file that holds a match by what the search says, under the path that the caller would use for it. */
interface Candidate extends FileFound {
  readonly shown: string
}

interface Found extends Omit<FilesFound, 'files'> {
  readonly files: readonly Candidate[]
}

/** Throws SESSION_NOT_FOUND, what the workspace throws for `path`, INVALID_ARGUMENT for a pattern or glob that is none, OVERLOADED, TIMEOUT. */
export async function grep(deps: ToolDeps, call: Call, request: GrepRequest): Promise<GrepAnswer> {
  const { session, ref } = await openSession(deps, call, true)
  checkPattern(request.pattern)
  const roots = await rootsOf(deps, session)
  const target = await deps.workspace.resolve(roots, request.path ?? '.', 'read')
  const query = {
    pattern: request.pattern,
    literal: request.literal ?? false,
    caseInsensitive: request.caseInsensitive ?? false,
  }
  const { answer, data } = await deps.search.run(query, call.signal, async (search) => {
    const found = await find(deps, search, roots, target, request)
    return new Showing(deps, roots, ref, call, request).show(search, found)
  })
  const about = { workspace: session.workspace, pattern: request.pattern, path: target.path }
  await announce(deps, ref, { type: 'searched', data: { ...about, ...data } })
  return answer
}

function checkPattern(pattern: string): void {
  if (pattern.includes('\n')) throw patternNotOneLine()
  if (isUnwritable(pattern)) throw patternUnwritable()
  if (Buffer.byteLength(pattern) > limits.grepPatternBytes) throw patternTooLong(limits.grepPatternBytes)
}

/** A named file needs no search: its lines are looked for at once. */
async function find(
  deps: ToolDeps,
  search: Search,
  roots: Roots,
  target: Target,
  request: GrepRequest,
): Promise<Found> {
  const kind = target.exists ? await search.kindOf(target.canonical) : 'absent'
  const root = rootDir(roots, target)
  const nothing: Found = {
    files: [],
    ended: 'complete',
    unreadable: false,
    ignored: 0,
    tooLarge: 0,
    rulesLeftOut: false,
  }
  // A scratch root that nothing was written to yet.
  if (kind === 'absent' && target.canonical === root) return nothing
  if (kind !== 'directory') {
    // The loader has the words for what does not exist and for what is no regular file.
    if (kind !== 'file') await deps.workspace.load(roots, target, 0)
    return { ...nothing, files: [{ shown: target.path, path: target.canonical, lines: 0, bytes: 0 }] }
  }
  const start = target.canonical === root ? '.' : target.canonical.slice(root.length + 1)
  const found = await search.files({
    root,
    start,
    ...(request.include === undefined ? {} : { include: request.include }),
    includeIgnored: request.includeIgnored ?? false,
    countLines: request.outputMode !== 'filesWithMatches',
  })
  const below = start === '.' ? 0 : start.length + 1
  const prefix = target.path === '.' ? '' : `${target.path}/`
  return { ...found, files: found.files.map((file) => ({ ...file, shown: prefix + file.path.slice(below) })) }
}

function rootDir(roots: Roots, target: Target): string {
  switch (target.root) {
    case 'workspace':
      return roots.workspace.dir
    case 'scratch':
      return roots.scratch
    case 'external': {
      const dir = roots.external.find((e) => target.canonical === e || target.canonical.startsWith(`${e}/`))
      if (dir === undefined) throw new Error('an external target outside every external root')
      return dir
    }
  }
}

/** Files that were loaded, as the pattern will be looked for in them. */
interface Loaded {
  readonly candidate: Candidate
  readonly target: Target
  readonly document: Document
}

/** One answer in the making. */
class Showing {
  private readonly mode: OutputMode
  private readonly headLimit: number
  private readonly sheet: GrepSheet
  private binary = 0
  private tooLarge = 0
  private changed = 0
  private unrecorded = 0
  private recorded = 0
  private unreadable = false
  private outOfTime = false
  /** Matching lines, and files with one: proven for what was shown, as found for the rest. */
  private lines = 0
  private files = 0

  constructor(
    private readonly deps: ToolDeps,
    private readonly roots: Roots,
    private readonly ref: SessionRef,
    private readonly call: Call,
    request: GrepRequest,
  ) {
    this.mode = request.outputMode ?? 'content'
    this.headLimit = request.headLimit ?? limits.grepHeadLimit
    this.sheet = new GrepSheet(this.mode, {
      headLimit: this.headLimit,
      contentBytes: limits.grepContentBytes,
      lineChars: limits.maxLineChars,
      windowChars: limits.grepWindowChars,
    })
  }

  async show(search: Search, found: Found): Promise<{ answer: GrepAnswer; data: Record<string, unknown> }> {
    let next = 0
    while (next < found.files.length && this.sheet.room > 0 && !this.outOfTime) {
      const batch = this.batch(found.files, next)
      next += batch.length
      await this.showBatch(search, batch)
    }
    const rest = found.files.slice(next)
    // Where little is left it is looked at too, so that what is counted holds a match for certain.
    if (!this.outOfTime && rest.length > 0 && fitsAtOnce(rest)) await this.showBatch(search, rest)
    else for (const { lines } of rest) this.count(lines)
    if (this.sheet.isEmpty && (this.outOfTime || found.ended === 'deadline')) {
      const hint = 'name a path or an include glob to search less, or use a simpler pattern'
      throw new ToolError('TIMEOUT', { afterMs: limits.searchMs, hint })
    }
    return this.close(found)
  }

  /** The next files that are likely to fill the room that is left, within the bytes that may be held at once. */
  private batch(files: readonly Candidate[], from: number): readonly Candidate[] {
    let bytes = 0
    let entries = 0
    let until = from
    for (; until < files.length && until - from < limits.searchBatchFiles && entries < this.sheet.room; until++) {
      const file = files[until]
      bytes += file?.bytes ?? 0
      if (until > from && bytes > limits.searchBatchBytes) break
      entries += this.mode === 'content' ? Math.max(1, file?.lines ?? 1) : 1
    }
    return files.slice(from, until)
  }

  private async showBatch(search: Search, batch: readonly Candidate[]): Promise<void> {
    const loaded: Loaded[] = []
    for (let at = 0; at < batch.length; at += limits.searchLoadsAtOnce) {
      const loads = batch.slice(at, at + limits.searchLoadsAtOnce).map((candidate) => this.load(candidate))
      loaded.push(...(await Promise.all(loads)).filter((file) => file !== undefined))
    }
    const room = this.mode === 'content' ? this.sheet.room : 0
    const found = await search.lines(loaded.map(textOf), room)
    const totals = await totalsOf(search, loaded, found)
    const ends = await endsOf(search, loaded, found)
    const last = found.counts.findLastIndex((count) => count > 0)
    const recordings: Recording[] = []
    for (const [at, file] of loaded.entries()) {
      const complete = found.ended === 'complete' || at < last
      const seen = this.take(file, at, { ...found, counts: totals }, complete, ends)
      if (seen) recordings.push(recordingOf(file, seen))
    }
    if (found.ended === 'deadline') this.outOfTime = true
    await this.record(recordings)
  }

  /** Counts the file, and shows it when its matches are known and there is room; answers the lines shown in full of one that is shown. */
  private take(
    file: Loaded,
    at: number,
    found: LinesFound,
    complete: boolean,
    ends: ReadonlyMap<LineFound, number>,
  ): LineSet | undefined {
    const { candidate, document } = file
    const count = found.counts[at] ?? 0
    if (complete && count === 0) {
      if (candidate.lines > 0) this.changed++
      return undefined
    }
    this.count(complete ? count : Math.max(count, candidate.lines))
    const known = complete || (found.ended === 'enough' && count > 0)
    if (!known || this.sheet.room <= 0) return undefined
    const lines = found.lines.filter(({ text }) => text === at)
    const hits = lines.map((found) => ({ line: found.line, end: ends.get(found) ?? 0 }))
    return this.sheet.add({ path: candidate.shown, document, hits, count })
  }

  private count(lines: number): void {
    this.files++
    this.lines += lines
  }

  /** The file as a document; undefined, and counted, when it is none or none any more. */
  private async load(candidate: Candidate): Promise<Loaded | undefined> {
    try {
      const target = await this.deps.workspace.resolve(this.roots, candidate.shown, 'read')
      const { maxFileBytes } = this.deps.settings
      const { bytes } = await this.deps.workspace.load(this.roots, target, maxFileBytes, this.call.signal)
      const document = Document.parse(bytes, limits.binaryProbeBytes)
      if (document instanceof Document) return { candidate, target, document }
      this.binary++
    } catch (error) {
      if (!(error instanceof ToolError)) throw error
      if (error.is('FILE_TOO_LARGE')) this.tooLarge++
      else if (error.is('TOOL_DENIED')) this.unreadable = true
      else if (error.is('NOT_FOUND', 'INVALID_ARGUMENT', 'PATH_OUTSIDE_WORKSPACE', 'MUTATION_IN_PROGRESS'))
        this.changed++
      else throw error
    }
    return undefined
  }

  /** Files beyond what a session can hold are not offered to the store, so that the first ones stay; the last recorded is the last to go. */
  private async record(recordings: Recording[]): Promise<void> {
    const fitting = recordings.slice(0, Math.max(0, limits.pathsPerSession - this.recorded))
    this.recorded += fitting.length
    this.unrecorded += recordings.length - fitting.length
    if (fitting.length === 0) return
    const answers = await this.deps.store.recordAll(this.ref, fitting.reverse(), 'search')
    if (answers.includes('gone')) throw new ToolError('SESSION_NOT_FOUND', {})
    this.unrecorded += answers.filter((answer) => answer === 'noRoom').length
  }

  private close(found: Found): { answer: GrepAnswer; data: Record<string, unknown> } {
    const count = this.mode === 'filesWithMatches' ? this.files : this.lines
    const entries = this.mode === 'content' ? this.lines : this.files
    const shown = this.sheet.shownEntries
    const tooLarge = this.tooLarge + (found.tooLarge ?? 0)
    const truncated = shown < entries || found.ended !== 'complete' || this.outOfTime
    const notice = grepNotice({
      entries: this.mode === 'content' ? 'lines' : 'files',
      shown,
      count: entries,
      files: this.files,
      headLimit: this.headLimit,
      maxHeadLimit: limits.grepMaxHeadLimit,
      contentBytes: limits.grepContentBytes,
      overBudget: this.sheet.overBudget,
      ended: this.outOfTime ? 'deadline' : found.ended,
      searchMs: limits.searchMs,
      windowedRows: this.sheet.windowedRows,
      lineChars: limits.maxLineChars,
      ignored: found.ignored,
      binary: this.binary,
      tooLarge,
      maxFileBytes: this.deps.settings.maxFileBytes,
      changed: this.changed,
      unrecorded: this.unrecorded,
      unreadable: this.unreadable || found.unreadable,
      rulesLeftOut: found.rulesLeftOut,
    })
    const skipped = { binary: this.binary, ignored: found.ignored, tooLarge }
    const common = { count, truncated, skipped, ...(notice === undefined ? {} : { notice }) }
    const data = { outputMode: this.mode, count, files: this.files, truncated }
    return { answer: this.sheet.answer(common, this.files), data }
  }
}

/** A file that was named was not counted before; where its lines were cut off they are counted now, so that the answer can say how many there are. */
async function totalsOf(search: Search, loaded: readonly Loaded[], found: LinesFound): Promise<LinesFound['counts']> {
  if (found.ended !== 'enough' || !loaded.some(({ candidate }) => candidate.lines === 0)) return found.counts
  const counted = await search.lines(loaded.map(textOf), 0)
  return counted.ended === 'complete' ? counted.counts : found.counts
}

function fitsAtOnce(files: readonly Candidate[]): boolean {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  return files.length <= limits.searchProvedFiles && bytes <= limits.searchBatchBytes
}

function textOf({ document }: Loaded): SearchText {
  return { bytes: document.bytes.subarray(document.hasBom ? 3 : 0), lineCount: document.lineCount }
}

/** Where the first match ends in those lines that may be too long to show whole. */
async function endsOf(
  search: Search,
  loaded: readonly Loaded[],
  found: LinesFound,
): Promise<ReadonlyMap<LineFound, number>> {
  const long = found.lines.flatMap((line) => {
    const bytes = loaded[line.text]?.document.content(line.line)
    return bytes && bytes.length > limits.maxLineChars ? [{ line, bytes }] : []
  })
  if (long.length === 0) return new Map()
  const ends = await search.ends(long.map(({ bytes }) => bytes))
  return new Map(long.map(({ line }, i) => [line, ends[i] ?? 0]))
}

function recordingOf({ target, document }: Loaded, seen: LineSet): Recording {
  return { path: target.canonical, facts: factsOf(document), seen, text: () => document.textBytes() }
}
