/**
 * The way into a session: that it exists, belongs to the caller and may do what is asked (reading §8.1, http-api "Identity and tenancy").
 *
 * One answer for a session that is unknown, expired, deleted or another tenant's. Called first by every tool.
 */
import { ToolError } from '../errors/tool-error.js'
import type { Access, Session, SessionRef } from '../sessions/store.js'
import type { Roots } from '../workspace/port.js'
import type { ToolDeps } from './deps.js'
import type { Call, Caller } from './tools.js'

export interface Opened {
  readonly session: Session
  readonly ref: SessionRef
}

/** What a caller may do in a workspace; undefined when nothing. A grant on `*` is for every workspace without one of its own. */
export function grantOf(caller: Caller, workspace: string): Access | undefined {
  const { grants } = caller
  return grants === undefined ? 'read-write' : (grants.get(workspace) ?? grants.get('*'))
}

/** `slide`: a tool call, which makes the TTL start anew (reading §8.1). Throws SESSION_NOT_FOUND, TOOL_DENIED. */
export async function openSession(deps: ToolDeps, call: Call, slide: boolean): Promise<Opened> {
  const session = await deps.store.open(call.sessionId, slide)
  if (session?.tenant !== call.caller.tenant) throw new ToolError('SESSION_NOT_FOUND', {})
  if (grantOf(call.caller, session.workspace) === undefined)
    throw new ToolError('TOOL_DENIED', { reason: 'workspace not granted' })
  return { session, ref: refOf(session) }
}

export function refOf(session: Session): SessionRef {
  return { sessionId: session.sessionId, epoch: session.epoch }
}

/** Throws TOOL_DENIED when this caller may not change files through this session. */
export function assertMayWrite(caller: Caller, session: Session): void {
  const grant = grantOf(caller, session.workspace)
  if (grant === undefined) throw new ToolError('TOOL_DENIED', { reason: 'workspace not granted' })
  if (session.access === 'read-only') throw new ToolError('TOOL_DENIED', { reason: 'read-only session' })
  if (grant === 'read-only') throw new ToolError('TOOL_DENIED', { reason: 'read-only grant' })
}

/** Throws NOT_FOUND when the workspace is gone. */
export function rootsOf(deps: ToolDeps, session: Session): Promise<Roots> {
  return deps.workspace.roots(session.workspace, session.sessionId, session.externalRoots)
}

/** For calls that resolve a path next, which is refused when the workspace is gone. */
export function openedRootsOf(deps: ToolDeps, session: Session): Promise<Roots> {
  return deps.workspace.openedRoots(session.workspace, session.sessionId, session.externalRoots)
}
