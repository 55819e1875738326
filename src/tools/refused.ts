/**
 * What a refusal of a mutation says and leaves behind: the problem document, reveals that count as shown, the repeat guard, the event (contract §9.1, §9.3;
 * reading §3.6, §8.10).
 *
 * A dry run leaves nothing behind. Called by mutation.
 */
import type { Operation } from '../errors/problem.js'
import { problemOf } from '../errors/problem.js'
import type { RevealFields } from '../errors/table.js'
import type { ToolError } from '../errors/tool-error.js'
import { asToolError } from '../errors/tool-error.js'
import { shownBy } from '../engine/reveal.js'
import type { Session } from '../sessions/store.js'
import type { Document } from '../text/document.js'
import { refOf, rootsOf } from './access.js'
import type { ToolDeps } from './deps.js'
import { announce } from './events.js'
import { guardRefusal } from './guard.js'
import { factsOf } from './load-text.js'

export interface MutationSpec {
  readonly operation: 'write' | 'edit' | 'rollback'
  /** Its members identify the request. */
  readonly request: object
  /** As the caller wrote it; shown above revealed rows and the guard's key until it is resolved. */
  readonly path: string | undefined
  readonly reviewId?: string
  readonly promptId: string | undefined
  readonly dryRun: boolean
}

/** What the work learns on its way, for whoever renders a refusal. */
export interface Trace {
  canonical?: string
  shownPath?: string
  live?: Document
  /** Op headers, verbatim. */
  ops?: readonly string[]
}

export interface Refused {
  readonly error: ToolError
  readonly spec: MutationSpec
  readonly trace: Trace
  readonly requestId: string
}

/** The answer. Counts the failure and records what it reveals, unless the call was a dry run. Throws what the store throws. */
export async function refusalBody(
  deps: ToolDeps,
  session: Session,
  refused: Refused,
): Promise<Record<string, unknown>> {
  const { error, spec, trace, requestId } = refused
  const operation: Operation = spec.operation === 'rollback' ? 'other' : spec.operation
  const path = shownPath(refused)
  const problem = problemOf(error, { traceId: requestId, operation, ...(path === undefined ? {} : { path }) })
  if (spec.dryRun) {
    const { lines: _lines, ...rest } = problem
    return rest
  }
  const failure = { promptId: spec.promptId, path: await guardedPath(deps, session, spec, trace), error }
  const [guard] = await Promise.all([
    guardRefusal(deps, refOf(session), failure),
    recordReveal(deps, session, trace, error),
  ])
  return { ...problem, ...guard }
}

/** Tells listeners. Never throws: a refusal that nobody hears of is still a refusal. */
export async function announceRefusal(
  deps: ToolDeps,
  session: Session,
  refused: Refused,
  body: Record<string, unknown>,
): Promise<void> {
  const { error, spec, trace } = refused
  if (error.is('STORE_UNAVAILABLE')) return
  const ref = refOf(session)
  const path = shownPath(refused)
  const about = {
    workspace: session.workspace,
    ...(spec.promptId === undefined ? {} : { promptId: spec.promptId }),
    ...(path === undefined ? {} : { path }),
  }
  const { detail, guard, terminate } = body
  await announce(deps, ref, {
    type: 'refused',
    data: {
      operation: spec.operation,
      code: error.code,
      detail,
      ...about,
      ...(spec.reviewId === undefined ? {} : { reviewId: spec.reviewId }),
      ...(trace.ops === undefined ? {} : { ops: trace.ops }),
      ...(guard === undefined ? {} : { guard }),
    },
  })
  if (terminate === true) await announce(deps, ref, { type: 'terminated', data: { ...about, guard } })
}

function shownPath({ spec, trace }: Refused): string | undefined {
  return trace.shownPath ?? spec.path
}

/** The guard counts by resolved path (reading §8.10), also for a refusal that came before the path was resolved. A path that leads nowhere counts as written. */
async function guardedPath(
  deps: ToolDeps,
  session: Session,
  { path, promptId }: MutationSpec,
  trace: Trace,
): Promise<string | undefined> {
  if (trace.canonical !== undefined || path === undefined || promptId === undefined) return trace.canonical
  try {
    return (await deps.workspace.resolve(await rootsOf(deps, session), path, 'read')).canonical
  } catch (error) {
    if (asToolError(error)) return path
    throw error
  }
}

/** Every row of a complete reveal counts as shown under the live tag; of a stale Write the version alone is recorded otherwise (reading §3.6, §8.6). */
async function recordReveal(deps: ToolDeps, session: Session, trace: Trace, error: ToolError): Promise<void> {
  const { live, canonical } = trace
  if (!live || canonical === undefined) return
  if (!error.is('EDIT_TAG_MISMATCH', 'EDIT_TAG_UNKNOWN', 'EDIT_LINES_UNSEEN', 'WRITE_STALE')) return
  const fields: RevealFields = error.params
  if (!fields.revealComplete && !error.is('WRITE_STALE')) return
  await deps.store.record(
    refOf(session),
    { path: canonical, facts: factsOf(live), seen: shownBy(fields), text: () => live.textBytes() },
    'display',
  )
}
