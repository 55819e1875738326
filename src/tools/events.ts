/**
 * What listeners of a session hear: each event with what a user interface needs to draw it (contract §13.4, http-api "Events").
 *
 * Rows in events are bounded, because the log of a session is; the review has the rest. Nobody hears of a workspace that they may not open, nor sees rows of a
 * file that a deny rule covers. Called by the tools, and by http for the stream.
 */
import { ToolError } from '../errors/tool-error.js'
import { limits } from '../limits.js'
import type { NewEvent, Session, SessionRef, StoredEvent } from '../sessions/store.js'
import type { Hunks } from '../text/hunks.js'
import { firstRows } from '../text/hunks.js'
import { grantOf, openSession, refOf } from './access.js'
import type { ToolDeps } from './deps.js'
import type { Call } from './tools.js'

/** Appends an event that no intent carries. Never throws: the call has its outcome whether or not somebody hears of it. */
export async function announce(deps: ToolDeps, ref: SessionRef, event: NewEvent): Promise<void> {
  try {
    await deps.store.append(ref, event)
  } catch (error) {
    deps.log.warn({ err: error, type: event.type }, 'an event was not recorded')
  }
}

/** Runs a tool that changes no file; listeners hear of its refusal too. */
export async function announcing<T>(
  deps: ToolDeps,
  call: Call,
  { operation, path }: { readonly operation: 'read' | 'grep'; readonly path: string | undefined },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ToolError && !error.is('SESSION_NOT_FOUND', 'STORE_UNAVAILABLE')) {
      const session = await deps.store.open(call.sessionId, false).catch(() => undefined)
      const { code, detail } = error as ToolError
      const data = { workspace: session?.workspace, operation, code, detail, ...(path === undefined ? {} : { path }) }
      if (session?.tenant === call.caller.tenant) await announce(deps, refOf(session), { type: 'refused', data })
    }
    throw error
  }
}

/** A change that landed: the members of its answer that describe it, its rows, its review. */
export interface Change {
  readonly type: 'written' | 'edited'
  readonly workspace: string
  readonly promptId: string | undefined
  readonly answer: Readonly<Record<string, unknown>>
  /** Of Write `[]`. */
  readonly ops: readonly string[]
  readonly hunks: Hunks
  readonly additions: number
  readonly deletions: number
  readonly reviewId: string | undefined
}

/** Members of an answer that its event has too, under the same names. */
const shared = [
  'path',
  'root',
  'movedTo',
  'deleted',
  'created',
  'tag',
  'previousTag',
  'branch',
  'resolutions',
  'totalLines',
  'warnings',
] as const

export function changeEvent(change: Change): NewEvent {
  const { answer, promptId, reviewId } = change
  const { hunks, truncated } = firstRows(change.hunks, limits.eventRowBytes)
  return {
    type: change.type,
    data: {
      workspace: change.workspace,
      ...(promptId === undefined ? {} : { promptId }),
      ...(reviewId === undefined ? {} : { reviewId }),
      ...Object.fromEntries(shared.flatMap((name) => (name in answer ? [[name, answer[name]] as const] : []))),
      ops: change.ops,
      hunks,
      ...(truncated ? { hunksTruncated: true } : {}),
      additions: change.additions,
      deletions: change.deletions,
    },
  }
}

/** Events after `lastId`, then live ones until the call's signal or the end of the session. Throws SESSION_NOT_FOUND, TOOL_DENIED. */
export async function events(
  deps: ToolDeps,
  call: Call,
  lastId: string | undefined,
): Promise<AsyncIterable<StoredEvent>> {
  const { session, ref } = await openSession(deps, call, false)
  return heard(deps, call, session, deps.store.events(ref, lastId, call.signal))
}

async function* heard(
  deps: ToolDeps,
  { caller }: Call,
  session: Session,
  source: AsyncIterable<StoredEvent>,
): AsyncGenerator<StoredEvent> {
  for await (const event of source) {
    const { workspace, path, movedTo = path } = event.data
    if (typeof workspace === 'string' && grantOf(caller, workspace) === undefined) continue
    const paths = [String(path), String(movedTo)]
    const isShown = !('hunks' in event.data) || (await mayShow(deps, session, String(workspace), paths))
    yield isShown ? event : { ...event, data: { workspace, path, withheld: true } }
  }
}

/** False for files that a deny rule covers now, and for those of which that cannot be told. */
async function mayShow(
  deps: ToolDeps,
  session: Session,
  workspace: string,
  paths: readonly string[],
): Promise<boolean> {
  try {
    const roots = await deps.workspace.roots(workspace, session.sessionId, session.externalRoots)
    for (const path of new Set(paths)) await deps.workspace.resolve(roots, path, 'read')
    return true
  } catch (error) {
    if (error instanceof ToolError) return false
    throw error
  }
}
