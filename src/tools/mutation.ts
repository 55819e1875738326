/**
 * What every mutation has around it: the idempotency key, the right to write, the refusal as an answer (reading §8.8).
 *
 * The work itself is a function that succeeds with a body or throws a ToolError; nothing here touches a file. A dry run leaves no trace. Called by Write, Edit
 * and rollback.
 */
import { ToolError, asToolError } from '../errors/tool-error.js'
import type { Answer, Claim, Session, SessionRef } from '../sessions/store.js'
import { sha256 } from '../text/digest.js'
import { assertMayWrite, openSession, refOf } from './access.js'
import type { ToolDeps } from './deps.js'
import { AlreadySettled } from './permits.js'
import type { MutationSpec, Trace } from './refused.js'
import { announceRefusal, refusalBody } from './refused.js'
import type { MutationCall, Outcome } from './tools.js'

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

/** One call on its way, and the key whose answer it owes. */
interface Mutation {
  readonly deps: ToolDeps
  readonly call: MutationCall
  readonly spec: MutationSpec
  readonly context: MutationContext
  readonly owed: OwedAnswer | undefined
}

/** Throws SESSION_NOT_FOUND, STORE_UNAVAILABLE and faults; every other refusal is an Outcome. */
export async function mutate(
  deps: ToolDeps,
  call: MutationCall,
  spec: MutationSpec,
  work: (context: MutationContext) => Promise<Success>,
): Promise<Outcome> {
  const key = spec.dryRun ? undefined : call.idempotencyKey
  const digest = key === undefined ? '' : digestOf(spec)
  const { session, claim } = await openAndClaim(deps, call, key, digest)
  const ref = refOf(session)
  const owed = key !== undefined && claim?.status === 'mine' ? new OwedAnswer(deps, ref, key, digest) : undefined
  const mutation: Mutation = { deps, call, spec, context: contextOf(session, ref, key), owed }
  try {
    // A stored answer may show rows, so that only those see it who may still make the call; a stored TOOL_DENIED shows none.
    if (claim?.status !== 'answered' || claim.answer.status !== 403) assertMayWrite(call.caller, session)
    if (claim) {
      const replay = replayOf(mutation, claim)
      if (replay) return replay
    }
    const success = await work(mutation.context)
    const stands = success.published ? undefined : await owed?.pay(success.status, success.body)
    if (stands) return replayed(stands)
    return { status: success.status, body: success.body, replayed: false }
  } catch (error) {
    return await endOf(mutation, error)
  }
}

function contextOf(session: Session, ref: SessionRef, key: string | undefined): MutationContext {
  return {
    session,
    ref,
    trace: {},
    idempotencyKey: key,
    answerFor: (status, body) =>
      key === undefined ? {} : { answer: { key, answer: { status, body: JSON.stringify(body) } } },
  }
}

/** Two requests are the same when their members are, in whatever order they came. */
function digestOf({ operation, request }: MutationSpec): string {
  const members = Object.entries(request).sort(([a], [b]) => (a < b ? -1 : 1))
  return sha256(JSON.stringify([operation, members]))
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

function replayOf({ deps, spec }: Mutation, claim: Claim): Outcome | undefined {
  switch (claim.status) {
    case 'mine':
      return undefined
    case 'answered':
      return replayed(claim.answer)
    case 'reused':
      throw new ToolError('IDEMPOTENCY_KEY_REUSED', {})
    case 'busy':
      throw inProgress(spec, deps.settings.permitWaitMs)
  }
}

/** What a call that threw is answered, and what becomes of its key. */
async function endOf(mutation: Mutation, error: unknown): Promise<Outcome> {
  const { deps, call, spec, context, owed } = mutation
  try {
    const before = error instanceof AlreadySettled ? await owed?.paidBefore() : undefined
    if (before) return replayed(before)
    const refusal = error instanceof AlreadySettled ? inProgress(spec, 0) : asToolError(error)
    if (!refusal || refusal.is('SESSION_NOT_FOUND')) throw error
    const refused = { error: refusal, spec, trace: context.trace, requestId: call.requestId }
    const body = await refusalBody(deps, context.session, refused)
    if (spec.dryRun) return { status: refusal.status, body, replayed: false }
    if (keeps(refusal)) {
      const stands = await owed?.pay(refusal.status, body)
      if (stands) return replayed(stands)
    } else await owed?.giveBack()
    await announceRefusal(deps, context.session, refused, body)
    return { status: refusal.status, body, replayed: false }
  } catch (thrown) {
    await owed?.giveBack()
    throw thrown
  }
}

/** Everything but 429, 5xx and MUTATION_IN_PROGRESS is the first answer of its key for good (reading §8.8). */
function keeps(error: ToolError): boolean {
  return error.status !== 429 && error.status < 500 && !error.is('MUTATION_IN_PROGRESS')
}

function inProgress(spec: MutationSpec, waitedMs: number): ToolError {
  return new ToolError('MUTATION_IN_PROGRESS', { path: spec.path ?? 'this file', waitedMs })
}

function replayed({ status, body }: Answer): Outcome {
  return { status, body: JSON.parse(body) as Record<string, unknown>, replayed: true }
}

/** The claim that a call holds on its key: it ends with an answer or is given back. The store that fails here leaves it to its lease. */
class OwedAnswer {
  constructor(
    private readonly deps: ToolDeps,
    private readonly ref: SessionRef,
    private readonly key: string,
    private readonly digest: string,
  ) {}

  /** The call has its outcome whether or not the store keeps it. The answer that stands instead, when an earlier call with the key has one. */
  async pay(status: number, body: Record<string, unknown>): Promise<Answer | undefined> {
    const given = { status, body: JSON.stringify(body) }
    try {
      const stands = await this.deps.store.answer(this.ref, this.key, given)
      return stands.status === given.status && stands.body === given.body ? undefined : stands
    } catch (error) {
      this.deps.log.warn({ err: error }, 'the answer of an idempotent call was not kept')
      return undefined
    }
  }

  async giveBack(): Promise<void> {
    await this.deps.store.unclaim(this.ref, this.key).catch(() => undefined)
  }

  /** The answer that was published when the leftover of an earlier call with this key was settled. */
  async paidBefore(): Promise<Answer | undefined> {
    await this.giveBack()
    const claim = await this.deps.store.claim(this.ref, this.key, this.digest, 0)
    return claim.status === 'answered' ? claim.answer : undefined
  }
}
