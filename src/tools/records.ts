/**
 * What a session remembers, for people and orchestrators who look: snapshots, registers, reported failures (http-api "Operations").
 *
 * Looking never slides the TTL and never shows content that a deny rule covers. Called by http.
 */
import { guardRecovery } from '../errors/recovery.js'
import { seenLinesInvalid } from '../errors/invalid.js'
import { ToolError } from '../errors/tool-error.js'
import type {
  FailureAnswer,
  FailureRequest,
  RegisterAnswer,
  RegisterListAnswer,
  RegisterSnapshotRequest,
  SnapshotAnswer,
  SnapshotListAnswer,
} from '../schemas/operations.js'
import { LineRange } from '../text/line-range.js'
import type { Seen } from '../text/line-set.js'
import { LineSet } from '../text/line-set.js'
import { openSession, rootsOf } from './access.js'
import type { ToolDeps } from './deps.js'
import { announce } from './events.js'
import { count, patchCommand } from './guard.js'
import { factsOf, headerOf, loadText } from './load-text.js'
import type { Call } from './tools.js'

export async function listSnapshots(deps: ToolDeps, call: Call): Promise<SnapshotListAnswer> {
  const { session, ref } = await openSession(deps, call, false)
  const [roots, entries] = await Promise.all([rootsOf(deps, session), deps.store.snapshots(ref)])
  return {
    snapshots: entries.map((entry) => ({
      path: shownPath(entry.path, roots.workspace.dir),
      tag: entry.tag,
      seen: spansOf(entry.seen),
      bytes: entry.bytes,
      totalLines: entry.totalLines,
      recordedAt: new Date(entry.recordedAt).toISOString(),
      retained: entry.retained,
    })),
  }
}

/** Registers the live file as displayed by other means; without lines its provenance is unknown (reading §2.7). */
export async function registerSnapshot(
  deps: ToolDeps,
  call: Call,
  request: RegisterSnapshotRequest,
): Promise<SnapshotAnswer> {
  const { session, ref } = await openSession(deps, call, true)
  const roots = await rootsOf(deps, session)
  const target = await deps.workspace.resolve(roots, request.path, 'read')
  const { document } = await loadText(deps, roots, target, deps.settings.maxFileBytes, call.signal)
  const seen = seenOf(request, document.lineCount)
  const facts = factsOf(document)
  await deps.store.record(ref, { path: target.canonical, facts, seen, text: () => document.textBytes() }, 'display')
  return {
    path: target.path,
    root: target.root,
    tag: facts.tag,
    header: headerOf(target.path, facts.tag),
    seen: spansOf(seen),
    bytes: facts.bytes,
    totalLines: facts.totalLines,
  }
}

export async function listRegisters(deps: ToolDeps, call: Call): Promise<RegisterListAnswer> {
  const { ref } = await openSession(deps, call, false)
  const registers = await deps.store.registers(ref)
  return {
    registers: registers.map(({ name, lineCount, bytes, updatedAt }) => ({
      name,
      lineCount,
      bytes,
      updatedAt: new Date(updatedAt).toISOString(),
    })),
  }
}

export async function getRegister(deps: ToolDeps, call: Call, name: string): Promise<RegisterAnswer> {
  const { ref } = await openSession(deps, call, false)
  const register = await deps.store.register(ref, name)
  if (!register) throw new ToolError('NOT_FOUND', { what: 'register', name })
  const { lines, bytes, updatedAt } = register
  return { name, lineCount: lines.length, bytes, updatedAt: new Date(updatedAt).toISOString(), lines }
}

/** An orchestrator's failed shell patch, counted like a refusal of Edit on that path (http-api). */
export async function reportFailure(deps: ToolDeps, call: Call, request: FailureRequest): Promise<FailureAnswer> {
  const { session, ref } = await openSession(deps, call, true)
  const roots = await rootsOf(deps, session)
  const target = await deps.workspace.resolve(roots, request.path, 'read')
  const counted = await count(deps, ref, {
    promptId: request.promptId,
    path: target.canonical,
    code: patchCommand,
    kind: request.kind,
    recovery: guardRecovery(patchCommand),
  })
  if (counted.terminate) {
    const { promptId } = request
    const data = { workspace: session.workspace, promptId, path: target.path, guard: counted.guard }
    await announce(deps, ref, { type: 'terminated', data })
  }
  return counted
}

function seenOf(request: RegisterSnapshotRequest, totalLines: number): Seen {
  if (!request.seenLines) return 'unknown'
  return LineSet.of(
    request.seenLines.map(({ start, end }) => {
      if (start > end || end > totalLines) throw seenLinesInvalid(start, end, totalLines)
      return LineRange.inclusive(start, end)
    }),
  )
}

function spansOf(seen: Seen): { start: number; end: number }[] | null {
  return seen === 'unknown' ? null : seen.spans()
}

/** Canonical paths of the workspace are shown relative to it, others absolute. */
function shownPath(canonical: string, workspaceDir: string): string {
  return canonical.startsWith(`${workspaceDir}/`) ? canonical.slice(workspaceDir.length + 1) : canonical
}
