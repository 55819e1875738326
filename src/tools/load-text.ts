/**
 * Loads a file as a document, or says why it is none (reading §1.1). Called by every tool that looks at a file.
 */
import { ToolError } from '../errors/tool-error.js'
import { limits } from '../limits.js'
import { Document } from '../text/document.js'
import type { NotText } from '../text/utf8.js'
import type { LoadedFile, Roots, Target } from '../workspace/port.js'
import type { VersionFacts } from '../sessions/store.js'
import type { ToolDeps } from './deps.js'

export interface LoadedText {
  readonly file: LoadedFile
  readonly document: Document
}

/** Throws what WorkspacePort.load throws, and TOOL_BINARY_CONTENT, ENCODING_UNSUPPORTED. */
export async function loadText(
  deps: ToolDeps,
  roots: Roots,
  target: Target,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<LoadedText> {
  const file = await deps.workspace.load(roots, target, maxBytes, signal)
  return { file, document: documentOf(file.bytes, target.path) }
}

/** The same for a file that will be changed; also throws TOOL_DENIED when the process may not write it. */
export async function loadForWriting(
  deps: ToolDeps,
  roots: Roots,
  target: Target,
  signal?: AbortSignal,
): Promise<LoadedText> {
  const file = await deps.workspace.loadForWriting(roots, target, deps.settings.maxFileBytes, signal)
  return { file, document: documentOf(file.bytes, target.path) }
}

export function documentOf(bytes: Buffer, path: string): Document {
  const document = Document.parse(bytes, limits.binaryProbeBytes)
  if (document instanceof Document) return document
  throw notTextError(document, path)
}

export function notTextError(problem: NotText, path: string): ToolError {
  if (problem.kind === 'binary') return new ToolError('TOOL_BINARY_CONTENT', { path, offset: problem.offset })
  return new ToolError('ENCODING_UNSUPPORTED', {
    path,
    offset: problem.offset,
    ...(problem.encoding === undefined ? {} : { encoding: problem.encoding }),
  })
}

/** What the store records of a document. */
export function factsOf(document: Document): VersionFacts {
  return {
    tag: document.tag,
    versionDigest: document.versionDigest,
    textDigest: document.textDigest,
    bytes: document.textLength,
    totalLines: document.lineCount,
  }
}

export function headerOf(path: string, tag: string): string {
  return `[${path}#${tag}]`
}
