/**
 * Read: a window of a file with its tag; what is shown counts as seen (contract §4.3, §5.1; http-api "Read").
 *
 * Changes no file and takes no permit. A file too large to hold is streamed. Called by http.
 */
import { offsetPastEnd } from '../errors/invalid.js'
import { ToolError } from '../errors/tool-error.js'
import { limits } from '../limits.js'
import type { ReadAnswer, ReadRequest } from '../schemas/operations.js'
import type { VersionFacts } from '../sessions/store.js'
import { scanText } from '../text/scanner.js'
import type { TextWindow, WindowAsk, WindowBounds } from '../text/window.js'
import { windowOf } from '../text/window.js'
import type { Roots, Target } from '../workspace/port.js'
import { openSession, openedRootsOf } from './access.js'
import type { ToolDeps } from './deps.js'
import { announce } from './events.js'
import { documentOf, factsOf, headerOf, notTextError } from './load-text.js'
import type { Call } from './tools.js'

/** What a Read needs to know of a file, however it was read. */
interface Viewed {
  readonly facts: VersionFacts
  readonly window: TextWindow
  readonly fileBytes: number
  readonly dominantTerminator: '\n' | '\r\n'
  readonly bom: boolean
  readonly endsWithNewline: boolean
  /** The LF text, when it is at hand; a streamed file is over the retention bound and keeps none. */
  readonly text: () => Uint8Array
}

const windowBounds: WindowBounds = { contentBytes: limits.readContentBytes, lineChars: limits.maxLineChars }

/** Throws SESSION_NOT_FOUND, what the workspace throws, and INVALID_ARGUMENT for an offset past the end. */
export async function read(deps: ToolDeps, call: Call, request: ReadRequest): Promise<ReadAnswer> {
  const { session, ref } = await openSession(deps, call, true)
  const roots = await openedRootsOf(deps, session)
  const target = await deps.workspace.resolve(roots, request.path, 'read')
  const ask: WindowAsk = {
    offset: request.offset ?? 1,
    limit: request.limit ?? limits.readDefaultLines,
    raw: request.raw ?? false,
  }
  const viewed = await view(deps, roots, target, ask, call.signal)
  const { facts, window } = viewed
  if (ask.offset > facts.totalLines && !(facts.totalLines === 0 && ask.offset === 1))
    throw offsetPastEnd(ask.offset, facts.totalLines)
  await Promise.all([
    deps.store.record(ref, { path: target.canonical, facts, seen: window.shown, text: viewed.text }, 'display'),
    announce(deps, ref, {
      type: 'read',
      data: {
        workspace: session.workspace,
        path: target.path,
        tag: facts.tag,
        offset: ask.offset,
        lineCount: window.lineCount,
        totalLines: facts.totalLines,
      },
    }),
  ])
  return answerOf(target, ask, viewed)
}

async function view(
  deps: ToolDeps,
  roots: Roots,
  target: Target,
  ask: WindowAsk,
  signal: AbortSignal,
): Promise<Viewed> {
  const inMemory = Math.min(limits.readInMemoryBytes, deps.settings.maxReadBytes)
  try {
    const file = await deps.workspace.load(roots, target, inMemory, signal)
    const document = documentOf(file.bytes, target.path)
    return {
      facts: factsOf(document),
      window: windowOf(document, ask, windowBounds),
      fileBytes: file.bytes.length,
      dominantTerminator: document.dominantTerminator,
      bom: document.hasBom,
      endsWithNewline: document.endsWithNewline,
      text: () => document.textBytes(),
    }
  } catch (error) {
    const tooLarge = error instanceof ToolError && error.is('FILE_TOO_LARGE') ? error : undefined
    if (!tooLarge || inMemory === deps.settings.maxReadBytes) throw error
  }
  return stream(deps, roots, target, ask, signal)
}

async function stream(
  deps: ToolDeps,
  roots: Roots,
  target: Target,
  ask: WindowAsk,
  signal: AbortSignal,
): Promise<Viewed> {
  const { chunks } = await deps.workspace.stream(roots, target, deps.settings.maxReadBytes, signal)
  const scanned = await scanText(chunks, ask, { ...windowBounds, probeBytes: limits.binaryProbeBytes })
  if ('kind' in scanned) throw notTextError(scanned, target.path)
  return { ...scanned, text: () => new Uint8Array() }
}

function answerOf(target: Target, ask: WindowAsk, viewed: Viewed): ReadAnswer {
  const { facts, window } = viewed
  const header = headerOf(target.path, facts.tag)
  const next = ask.offset + window.lineCount
  const truncated = next <= facts.totalLines
  const notice = noticeOf(ask, viewed, truncated ? next : undefined)
  return {
    path: target.path,
    root: target.root,
    content: ask.raw ? window.content : window.lineCount === 0 ? header : `${header}\n${window.content}`,
    tag: facts.tag,
    header,
    offset: ask.offset,
    lineCount: window.lineCount,
    totalLines: facts.totalLines,
    truncated,
    fileBytes: viewed.fileBytes,
    lineEnding: viewed.dominantTerminator === '\n' ? 'LF' : 'CRLF',
    bom: viewed.bom,
    endsWithNewline: viewed.endsWithNewline,
    ...(notice === undefined ? {} : { notice }),
  }
}

function noticeOf(ask: WindowAsk, viewed: Viewed, next: number | undefined): string | undefined {
  const { facts, window } = viewed
  const notices: string[] = []
  if (facts.totalLines === 0) notices.push('the file is empty (0 lines); to fill it use PUT >$:')
  if (window.clippedRows > 0) {
    notices.push(
      `${window.clippedRows} ${window.clippedRows === 1 ? 'row was' : 'rows were'} clipped at ${limits.maxLineChars} characters and cannot be edited from here`,
    )
  }
  if (ask.raw && window.lineCount === 0 && window.budgetEnded) {
    notices.push(
      `line ${ask.offset} is longer than the ${limits.readContentBytes} bytes of one answer; read without raw to see its start`,
    )
  } else if (next !== undefined) {
    const more = facts.totalLines - next + 1
    notices.push(`${more} more ${more === 1 ? 'line' : 'lines'}; read on with offset ${next}`)
  }
  return notices.length === 0 ? undefined : notices.join('; ')
}
