/**
 * Sessions and workspaces: open, look, switch, end (http-api "Operations", reading §8.1, §8.13). Called by http.
 */
import { ttlTooLong } from '../errors/invalid.js'
import { ToolError } from '../errors/tool-error.js'
import { limits } from '../limits.js'
import type {
  SessionAnswer,
  SessionLimits,
  SessionRequest,
  SwitchRequest,
  WorkspaceListAnswer,
} from '../schemas/operations.js'
import type { Session, Usage } from '../sessions/store.js'
import { grantOf, openSession, refOf, rootsOf } from './access.js'
import type { ToolDeps } from './deps.js'
import { announce } from './events.js'
import type { Call, Caller } from './tools.js'

/** Throws NOT_FOUND for an unknown workspace, TOOL_DENIED, INVALID_ARGUMENT, RATE_LIMITED. */
export async function createSession(deps: ToolDeps, caller: Caller, request: SessionRequest): Promise<SessionAnswer> {
  const { settings } = deps
  const ttlSeconds = request.ttlSeconds ?? settings.sessionTtlSeconds
  if (ttlSeconds > settings.sessionMaxTtlSeconds) throw ttlTooLong(ttlSeconds, settings.sessionMaxTtlSeconds)
  const access = assertGrant(caller, request.workspace, request.access)
  const sessionId = deps.randomId()
  const externalRoots = request.externalRoots ?? []
  const mayOpen = (name: string): boolean => grantOf(caller, name) !== undefined
  await deps.workspace.roots(request.workspace, sessionId, externalRoots, mayOpen)
  const session = await deps.store.create(
    {
      sessionId,
      tenant: caller.tenant,
      workspace: request.workspace,
      access,
      externalRoots,
      ttlSeconds,
      ...(request.label === undefined ? {} : { label: request.label }),
    },
    settings.sessionsPerTenant,
  )
  if (session === 'full') {
    throw new ToolError('RATE_LIMITED', { what: 'sessions', limit: settings.sessionsPerTenant, retryAfterSeconds: 60 })
  }
  await announceOpened(deps, session)
  return answerOf(deps, caller, session)
}

export async function getSession(deps: ToolDeps, call: Call): Promise<SessionAnswer> {
  const { session, ref } = await openSession(deps, call, false)
  return answerOf(deps, call.caller, session, await deps.store.usage(ref))
}

export async function deleteSession(deps: ToolDeps, call: Call): Promise<void> {
  const { session, ref } = await openSession(deps, call, false)
  await announce(deps, ref, { type: 'closed', data: { workspace: session.workspace } })
  await deps.store.drop(session.sessionId)
  await deps.workspace.dropScratch(session.sessionId)
}

/** Snapshots and registers are dropped; calls in flight find the session gone. */
export async function switchWorkspace(deps: ToolDeps, call: Call, request: SwitchRequest): Promise<SessionAnswer> {
  const { session, ref } = await openSession(deps, call, true)
  const granted = grantOf(call.caller, request.workspace)
  if (granted === undefined) throw new ToolError('TOOL_DENIED', { reason: 'workspace not granted' })
  const mayOpen = (name: string): boolean => grantOf(call.caller, name) !== undefined
  await deps.workspace.roots(request.workspace, session.sessionId, session.externalRoots, mayOpen)
  const switched = await deps.store.switchWorkspace(ref, request.workspace)
  if (!switched) throw new ToolError('SESSION_NOT_FOUND', {})
  await announceOpened(deps, switched)
  return answerOf(deps, call.caller, switched)
}

export async function listWorkspaces(deps: ToolDeps, caller: Caller): Promise<WorkspaceListAnswer> {
  const names = await deps.workspace.workspaces()
  return {
    workspaces: names.flatMap((name) => {
      const access = grantOf(caller, name)
      return access === undefined ? [] : [{ name, access }]
    }),
  }
}

function announceOpened(deps: ToolDeps, session: Session): Promise<void> {
  const { workspace, access, label } = session
  const data = { workspace, access, ...(label === undefined ? {} : { label }) }
  return announce(deps, refOf(session), { type: 'opened', data })
}

/** A session never gets more than its caller has; asking for read-write on a read-only grant is refused, not narrowed. */
function assertGrant(caller: Caller, workspace: string, asked: Session['access'] | undefined): Session['access'] {
  const granted = grantOf(caller, workspace)
  if (granted === undefined) throw new ToolError('TOOL_DENIED', { reason: 'workspace not granted' })
  if (asked === 'read-write' && granted === 'read-only')
    throw new ToolError('TOOL_DENIED', { reason: 'read-only grant' })
  return asked ?? granted
}

/** `access` is what this caller may do now: a switch may lead to a workspace, and a new token to a grant, of less. */
async function answerOf(deps: ToolDeps, caller: Caller, session: Session, usage?: Usage): Promise<SessionAnswer> {
  const roots = await rootsOf(deps, session)
  return {
    sessionId: session.sessionId,
    workspace: session.workspace,
    access: grantOf(caller, session.workspace) === 'read-only' ? 'read-only' : session.access,
    scratchRoot: roots.scratch,
    ...(roots.external.length === 0 ? {} : { externalRoots: roots.external }),
    ...(session.label === undefined ? {} : { label: session.label }),
    createdAt: new Date(session.createdAt).toISOString(),
    expiresAt: new Date(session.expiresAt).toISOString(),
    limits: limitsOf(deps),
    ...(usage === undefined ? {} : { usage }),
  }
}

function limitsOf({ settings }: ToolDeps): SessionLimits {
  return {
    maxFileBytes: settings.maxFileBytes,
    maxReadBytes: settings.maxReadBytes,
    maxLineChars: limits.maxLineChars,
    readDefaultLines: limits.readDefaultLines,
    readMaxLines: limits.readMaxLines,
    readContentBytes: limits.readContentBytes,
    opsBytes: limits.opsBytes,
    opsPerCall: limits.opsPerCall,
    expandedLines: limits.expandedLines,
    revealLines: limits.revealLines,
    revealLineChars: limits.revealLineChars,
    registerLines: limits.registerLines,
    registerBytes: limits.registerBytes,
    registersPerSession: limits.registersPerSession,
    pathsPerSession: limits.pathsPerSession,
    versionsPerPath: limits.versionsPerPath,
    retainedBytesPerSession: limits.retainedBytesPerSession,
    retainedBytesPerFile: limits.retainedBytesPerFile,
    reviewsPerSession: limits.reviewsPerSession,
  }
}
