/**
 * Runs the part of a mutation that must be alone: under the permits of its session and its files, after every leftover intent is settled (reading §8.3–8.5).
 *
 * Permits end on every path out. A leftover is completed or discarded by comparing the byteDigest of what lies on disk, never by guessing. Called by
 * Write, Edit and rollback.
 */
import { ToolError } from '../errors/tool-error.js'
import type { Intent, IntentFile, Leftover, Permit, SessionRef, Version } from '../sessions/store.js'
import { Document } from '../text/document.js'
import { sha256 } from '../text/digest.js'
import type { CommitAnswer, Confirm } from '../workspace/port.js'
import type { ToolDeps } from './deps.js'

export interface Held {
  readonly permit: Permit
  history(path: string): readonly Version[]
}

export interface Alone {
  readonly ref: SessionRef
  /** Canonical paths. */
  readonly files: readonly string[]
  /** Shown in MUTATION_IN_PROGRESS. */
  readonly path: string
  readonly signal: AbortSignal
  /** The call's Idempotency-Key. */
  readonly key: string | undefined
}

/**
 * Thrown instead of doing the work of a call whose key belongs to a leftover that has just been settled as landed, or that somebody else settled, who may have
 * published its answer (reading §8.5).
 */
export class AlreadySettled extends Error {}

/**
 * Throws MUTATION_IN_PROGRESS when the permits are not had in time, after `whenBusy` had its chance to refuse for a reason that comes first (reading
 * §3.0), and SESSION_NOT_FOUND when the session ends meanwhile. A call with a key is only ever judged after the leftovers, because it may be the retry of one
 * of them: AlreadySettled when that landed, CONFLICT when nobody can tell any more.
 */
export async function alone<T>(
  deps: ToolDeps,
  want: Alone,
  work: (held: Held) => Promise<T>,
  whenBusy: () => Promise<void>,
): Promise<T> {
  const started = deps.now()
  const begun = await deps.store.begin(
    want.ref,
    { files: want.files, histories: want.files },
    deps.settings.permitWaitMs,
    want.signal,
  )
  if (begun.status === 'gone') throw new ToolError('SESSION_NOT_FOUND', {})
  deps.metrics.permitWait((deps.now() - started) / 1000, begun.status === 'held' ? 'held' : 'busy')
  if (begun.status === 'busy') {
    if (want.key === undefined) await whenBusy()
    throw new ToolError('MUTATION_IN_PROGRESS', { path: want.path, waitedMs: begun.waitedMs })
  }
  const { permit, histories, leftovers } = begun
  try {
    for (const leftover of leftovers) {
      const outcome = await settle(deps, permit, leftover)
      const isOwn = leftover.ref.sessionId === want.ref.sessionId && leftover.intent.answer?.key === want.key
      if (want.key === undefined || !isOwn) continue
      if (outcome === 'landed' || outcome === 'elsewhere') throw new AlreadySettled()
      if (outcome === 'unknown') throw new ToolError('CONFLICT', { reason: 'outcome unknown', path: want.path })
    }
    const fresh = leftovers.length > 0 ? await reread(deps, want) : histories
    return await work({ permit, history: (path) => fresh.get(path) ?? [] })
  } finally {
    await deps.store.release(permit)
  }
}

/** The confirmation that runs right before the rename: stages the intent, proves the permits and honours the last chance to abort. */
export function confirmation(deps: ToolDeps, want: Alone, permit: Permit, intent: Intent): Confirm {
  return async () => {
    assertRunning(want.signal)
    const staged = await deps.store.stage(permit, intent)
    if (staged === 'gone') throw new ToolError('SESSION_NOT_FOUND', {})
    assertRunning(want.signal)
    if (staged === 'lost' || !permit.fresh())
      throw new ToolError('MUTATION_IN_PROGRESS', { path: want.path, waitedMs: 0 })
  }
}

/**
 * Publishes what landed; the bytes are on disk whatever this answers, and the answer of the call must say both. `lost`: the session ended meanwhile. `late`: the
 * store failed, and whoever takes the permits next may still publish it.
 */
export async function publish(deps: ToolDeps, permit: Permit): Promise<'recorded' | 'lost' | 'late'> {
  try {
    return (await deps.store.commit(permit)) === 'recorded' ? 'recorded' : 'lost'
  } catch (error) {
    deps.log.warn({ err: error }, 'a change landed but was not recorded')
    return 'late'
  }
}

/** What one attempt to land came to. */
export interface Attempt<T> {
  readonly answer: CommitAnswer
  readonly value: T
}

/** Repeats an attempt whose base changed between load and rename, a bounded number of times. The value of the one that landed. */
export async function landed<T>(attempts: number, path: string, attempt: () => Promise<Attempt<T>>): Promise<T> {
  for (let i = 0; i < attempts; i++) {
    const { answer, value } = await attempt()
    if (answer.landed) return value
  }
  throw new ToolError('MUTATION_IN_PROGRESS', { path, waitedMs: 0 })
}

export function assertRunning(signal: AbortSignal): void {
  if (!signal.aborted) return
  if (signal.reason instanceof ToolError) throw signal.reason
  throw new ToolError('TIMEOUT', { afterMs: 0, hint: 'the client went away before anything was written' })
}

type FileState = 'before' | 'after' | 'other'

/** `unknown`: something else changed the files meanwhile, so that they do not tell. `elsewhere`: somebody else was faster. */
type Settled = 'landed' | 'not landed' | 'unknown' | 'elsewhere'

/**
 * Completes an intent that landed and discards any other. A call creates or replaces at most one file and then removes at most one, so an intent of which only
 * removals are missing did land and is finished here.
 */
async function settle(deps: ToolDeps, permit: Permit, leftover: Leftover): Promise<Settled> {
  const { files } = leftover.intent
  const bytes = new Map<string, Buffer | undefined>()
  for (const file of files) bytes.set(file.path, await liveBytes(deps, file.path))
  const states = files.map((file) => stateOf(file, bytes.get(file.path)))
  const missing = files.filter((_, i) => states[i] === 'before')
  const done = states.filter((state) => state === 'after').length
  const finishable =
    done > 0 && done + missing.length === files.length && missing.every((file) => file.after === undefined)
  const isLanded = done === files.length || finishable
  if (isLanded) {
    for (const file of missing) await deps.workspace.removeExact(file.path, file.before ?? '')
  }
  const settled = await deps.store.settle(permit, leftover, isLanded, (path) => {
    const found = bytes.get(path)
    return found === undefined ? undefined : Document.trusted(found).textBytes()
  })
  if (settled === 'absent') return 'elsewhere'
  deps.log.warn(
    { sessionId: leftover.ref.sessionId, intentId: leftover.intent.intentId, landed: isLanded },
    'settled a leftover intent',
  )
  return isLanded ? 'landed' : missing.length === files.length ? 'not landed' : 'unknown'
}

/** A file that may not be looked at any more cannot be judged and must not block the session. */
async function liveBytes(deps: ToolDeps, path: string): Promise<Buffer | undefined> {
  try {
    return await deps.workspace.inspect(path)
  } catch (error) {
    if (error instanceof ToolError && error.status < 500) return undefined
    throw error
  }
}

function stateOf(file: IntentFile, bytes: Buffer | undefined): FileState {
  const digest = bytes === undefined ? undefined : sha256(bytes)
  if (digest === file.after) return 'after'
  return digest === file.before ? 'before' : 'other'
}

async function reread(deps: ToolDeps, want: Alone): Promise<ReadonlyMap<string, readonly Version[]>> {
  const entries = await Promise.all(
    want.files.map(async (path) => [path, await deps.store.history(want.ref, path)] as const),
  )
  return new Map(entries)
}
