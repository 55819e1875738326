/**
 * What every mutation has around it: idempotency, the repeat guard, reveals that count as shown, the refusal as an answer (contract §9.3, reading §8.8, §8.10).
 *
 * The work itself is a function that succeeds with a body or throws a ToolError; nothing here touches a file. A dry run leaves no trace. Called by Write, Edit
 * and rollback.
 */
import type { Operation } from '../errors/problem.js'
import { problemOf } from '../errors/problem.js'
import type { RevealFields } from '../errors/table.js'
import { asToolError, ToolError } from '../errors/tool-error.js'
import { shownBy } from '../engine/reveal.js'
import { limits } from '../limits.js'
import type { Answer, Claim, Session, SessionRef } from '../sessions/store.js'
import { sha256 } from '../text/digest.js'
import type { Document } from '../text/document.js'
import { assertMayWrite, openSession, refOf, rootsOf } from './access.js'
import type { ToolDeps } from './deps.js'
import { guardRefusal } from './guard.js'
import { factsOf } from './load-text.js'
import type { MutationCall, Outcome } from './tools.js'

export interface MutationSpec {
  readonly operation: Extract<Operation, 'write' | 'edit' | 'other'>
  /** The request as a value whose JSON identifies it. */
  readonly request: unknown
  /** As the caller wrote it; shown above revealed rows and the guard's key until it is resolved. */
  readonly path: string | undefined
  readonly promptId: string | undefined
  readonly dryRun: boolean
}

/** What the work learns on its way, for whoever renders a refusal. */
export interface Trace {
  canonical?: string
  shownPath?: string
  live?: Document
}

export interface MutationContext {
  readonly session: Session
  readonly ref: SessionRef
  readonly trace: Trace
  readonly idempotencyKey: string | undefined
  /** The answer to stage with an intent, when the call carries a key. */
  answerFor(status: number, body: Record<string, unknown>): { answer?: { key: string; answer: Answer } }
}

export interface Success {
  readonly status: number
  readonly body: Record<string, unknown>
  /** True when the answer was published with an intent; otherwise it is stored here. */
  readonly published: boolean
}

/** Thrown by work that found its own answer already landed (reading §8.5). */
export class AlreadyLanded extends Error {}

/** Throws SESSION_NOT_FOUND, TOOL_DENIED and faults; every other refusal is an Outcome. */
export async function mutate(
  deps: ToolDeps,
  call: MutationCall,
  spec: MutationSpec,
  work: (context: MutationContext) => Promise<Success>,
): Promise<Outcome> {
  const key = spec.dryRun ? undefined : call.idempotencyKey
  const digest = key === undefined ? '' : sha256(JSON.stringify([spec.operation, spec.request]))
  const { session, claim } = await openAndClaim(deps, call, key, digest)
  const ref = refOf(session)
  const replay = claim && key !== undefined ? replayOf(claim, call, spec) : undefined
  if (replay) return replay
  const context: MutationContext = {
    session,
    ref,
    trace: {},
    idempotencyKey: key,
    answerFor: (status, body) =>
      key === undefined ? {} : { answer: { key, answer: { status, body: JSON.stringify(body) } } },
  }
  try {
    assertMayWrite(call.caller, session)
    const success = await work(context)
    if (key !== undefined && !success.published) await keep(deps, ref, key, success)
    return { status: success.status, body: success.body, replayed: false }
  } catch (error) {
    if (error instanceof AlreadyLanded && key !== undefined) {
      const again = await deps.store.claim(ref, key, digest, 0)
      if (again.status === 'answered')
        return { status: again.answer.status, body: parsed(again.answer), replayed: true }
      await deps.store.unclaim(ref, key)
      throw new ToolError('MUTATION_IN_PROGRESS', { path: spec.path ?? 'this file', waitedMs: 0 })
    }
    const refusal = asToolError(error)
    if (!refusal) {
      if (key !== undefined) await deps.store.unclaim(ref, key).catch(() => undefined)
      throw error
    }
    return refused(deps, call, spec, context, refusal)
  }
}

async function openAndClaim(
  deps: ToolDeps,
  call: MutationCall,
  key: string | undefined,
  digest: string,
): Promise<{ session: Session; claim: Claim | undefined }> {
  if (key === undefined) return { session: (await openSession(deps, call, true)).session, claim: undefined }
  const { permitWaitMs } = deps.settings
  const opened = await deps.store.openAndClaim(call.sessionId, key, digest, permitWaitMs, call.caller.tenant)
  if (!opened) throw new ToolError('SESSION_NOT_FOUND', {})
  return opened
}

function replayOf(claim: Claim, call: MutationCall, spec: MutationSpec): Outcome | undefined {
  switch (claim.status) {
    case 'mine':
      return undefined
    case 'answered':
      return { status: claim.answer.status, body: parsed(claim.answer), replayed: true }
    case 'reused':
      return outcomeOf(new ToolError('IDEMPOTENCY_KEY_REUSED', {}), call, spec)
    case 'busy':
      return outcomeOf(
        new ToolError('MUTATION_IN_PROGRESS', { path: spec.path ?? 'this file', waitedMs: limits.permitWaitMs }),
        call,
        spec,
      )
  }
}

function outcomeOf(error: ToolError, call: MutationCall, spec: MutationSpec): Outcome {
  const body = problemOf(error, {
    traceId: call.requestId,
    operation: spec.operation,
    ...(spec.path === undefined ? {} : { path: spec.path }),
  })
  return { status: error.status, body, replayed: false }
}

/** Records what the refusal reveals, counts it, renders it, stores it. */
async function refused(
  deps: ToolDeps,
  call: MutationCall,
  spec: MutationSpec,
  { session, ref, trace, idempotencyKey }: MutationContext,
  error: ToolError,
): Promise<Outcome> {
  const path = trace.shownPath ?? spec.path
  const problem = problemOf(error, {
    traceId: call.requestId,
    operation: spec.operation,
    ...(path === undefined ? {} : { path }),
  })
  if (spec.dryRun) return { status: error.status, body: problem, replayed: false }
  const [guard] = await Promise.all([
    guardRefusal(deps, ref, { promptId: spec.promptId, path: await guardedPath(deps, session, spec, trace), error }),
    recordReveal(deps, ref, trace, error),
  ])
  const body = { ...problem, ...guard }
  await Promise.all([
    idempotencyKey === undefined ? undefined : keepRefusal(deps, ref, idempotencyKey, error, body),
    deps.store.append(ref, {
      type: 'refused',
      data: {
        operation: spec.operation,
        code: error.code,
        detail: problem['detail'],
        ...(path === undefined ? {} : { path }),
      },
    }),
    guard.terminate
      ? deps.store.append(ref, { type: 'terminated', data: { promptId: spec.promptId, path, guard: guard.guard } })
      : undefined,
  ])
  return { status: error.status, body, replayed: false }
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
async function recordReveal(deps: ToolDeps, ref: SessionRef, trace: Trace, error: ToolError): Promise<void> {
  const { live, canonical } = trace
  if (!live || canonical === undefined) return
  if (!error.is('EDIT_TAG_MISMATCH', 'EDIT_TAG_UNKNOWN', 'EDIT_LINES_UNSEEN', 'WRITE_STALE')) return
  const fields: RevealFields = error.params
  if (!fields.revealComplete && !error.is('WRITE_STALE')) return
  await deps.store.record(
    ref,
    { path: canonical, facts: factsOf(live), seen: shownBy(fields), text: () => live.textBytes() },
    'display',
  )
}

/** Everything but 429, 5xx and MUTATION_IN_PROGRESS is the first answer of its key for good (reading §8.8). */
async function keepRefusal(
  deps: ToolDeps,
  ref: SessionRef,
  key: string,
  error: ToolError,
  body: Record<string, unknown>,
): Promise<void> {
  if (error.status === 429 || error.status >= 500 || error.is('MUTATION_IN_PROGRESS'))
    await deps.store.unclaim(ref, key)
  else await deps.store.answer(ref, key, { status: error.status, body: JSON.stringify(body) })
}

async function keep(deps: ToolDeps, ref: SessionRef, key: string, { status, body }: Success): Promise<void> {
  try {
    await deps.store.answer(ref, key, { status, body: JSON.stringify(body) })
  } catch (error) {
    deps.log.warn({ err: error }, 'the answer of an idempotent call was not kept')
  }
}

function parsed(answer: Answer): Record<string, unknown> {
  return JSON.parse(answer.body) as Record<string, unknown>
}
