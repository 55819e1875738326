/**
 * Rollback: puts back what a review changed, both files of a move or neither (contract §13.1, reading §8.14).
 *
 * Refuses when the live bytes are not those the review left behind; makes no review; a second rollback answers the same and touches nothing. Called by http.
 */
import { ToolError } from '../errors/tool-error.js'
import { warn } from '../errors/warnings.js'
import type { Intent, Review, ReviewEntry, ReviewRestore, StoredReview } from '../sessions/store.js'
import { sha256 } from '../text/digest.js'
import type { CommitAnswer, Confirm, LoadedFile, Roots, Target } from '../workspace/port.js'
import { rootsOf } from './access.js'
import type { ToolDeps } from './deps.js'
import type { MutationContext, Success } from './mutation.js'
import { mutate } from './mutation.js'
import type { Alone, Held } from './permits.js'
import { alone, AlreadySettled, confirmation, landed, publish } from './permits.js'
import { assertShown, findReview, reviewAnswer, reviewNotFound } from './reviews.js'
import type { MutationCall, Outcome } from './tools.js'

const ATTEMPTS = 3

export function rollback(deps: ToolDeps, call: MutationCall, reviewId: string): Promise<Outcome> {
  const spec = {
    operation: 'rollback',
    request: { reviewId },
    path: undefined,
    reviewId,
    promptId: undefined,
    dryRun: false,
  } as const
  return mutate(deps, call, spec, (context) => run({ deps, call, context, reviewId }))
}

interface RollbackCall {
  readonly deps: ToolDeps
  readonly call: MutationCall
  readonly context: MutationContext
  readonly reviewId: string
}

/** One file of the review and what lies there now. */
interface Entry {
  readonly entry: ReviewEntry
  readonly restore: ReviewRestore
  readonly target: Target
  readonly live: LoadedFile | undefined
}

async function run(rolling: RollbackCall): Promise<Success> {
  const { deps, call, context } = rolling
  const stored = await find(rolling)
  const path = stored.review.entries[0]?.path ?? rolling.reviewId
  context.trace.shownPath = path
  await assertShown(deps, context.session, stored)
  if (stored.review.state === 'rolledBack') return answered(stored.review)
  const files = stored.restore.map((restore) => restore.canonical)
  const want: Alone = {
    ...{ ref: context.ref, files, path },
    ...{ signal: call.signal, key: context.idempotencyKey },
  }
  try {
    return await alone(deps, want, (held) => land(rolling, want, held), nothingComesFirst)
  } catch (error) {
    if (error instanceof AlreadySettled) await prune(rolling, stored)
    throw error
  }
}

const nothingComesFirst = async (): Promise<void> => undefined

/** A review that is not there yet may belong to a change that landed and was never recorded; taking the permit settles that. */
async function find({ deps, call, context, reviewId }: RollbackCall): Promise<StoredReview> {
  const { ref, session } = context
  const look = (): Promise<StoredReview | undefined> => findReview(deps, ref, session.workspace, reviewId)
  const stored = await look()
  if (stored) return stored
  const want = { ref, files: [], path: reviewId, signal: call.signal, key: context.idempotencyKey }
  const settled = await alone(deps, want, look, async () => {
    throw reviewNotFound(reviewId)
  })
  if (!settled) throw reviewNotFound(reviewId)
  return settled
}

async function land(rolling: RollbackCall, want: Alone, { permit }: Held): Promise<Success> {
  const { deps, context } = rolling
  const current = await findReview(deps, context.ref, context.session.workspace, rolling.reviewId)
  if (!current) throw reviewNotFound(rolling.reviewId)
  if (current.review.state === 'rolledBack') {
    // Somebody rolled it back while this call waited, or it had landed before a crash; then its folders may still be there.
    await prune(rolling, current)
    return answered(current.review)
  }
  const review: Review = { ...current.review, state: 'rolledBack' }
  const roots = await rootsOf(deps, context.session)
  await landed(ATTEMPTS, want.path, async () => {
    const value = await inspect(rolling, roots, current)
    const intent = intentOf(rolling, review, current)
    return { answer: await restoreFiles(deps, roots, value, confirmation(deps, want, permit, intent)), value }
  })
  // Before it is recorded: a process that dies in between leaves an intent, and whoever repeats the call comes by here again.
  await prune(rolling, current)
  const published = await publish(deps, permit)
  if (published === 'recorded') return { ...answered(review), published: true }
  return answered({ ...review, warnings: [...review.warnings, warn.snapshotNotRecorded()] })
}

function answered(review: Review): Success {
  return { status: 200, body: { ...reviewAnswer(review) }, published: false }
}

/** Every file must be as the review left it. Throws CONFLICT. */
async function inspect(rolling: RollbackCall, roots: Roots, stored: StoredReview): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const [i, entry] of stored.review.entries.entries()) {
    const restore = stored.restore[i]
    if (!entry.reversible || !restore) throw new ToolError('CONFLICT', { reason: 'not kept', path: entry.path })
    const found = await lookAt(rolling, roots, restore)
    if (found === 'other') throw new ToolError('CONFLICT', { reason: 'changed since', path: entry.path })
    const { target, live } = found
    if (entry.afterDigest === undefined) {
      if (target.exists) throw new ToolError('CONFLICT', { reason: 'appeared since', path: entry.path })
    } else {
      if (!live) throw new ToolError('CONFLICT', { reason: 'moved away', path: entry.path })
      if (sha256(live.bytes) !== entry.afterDigest)
        throw new ToolError('CONFLICT', { reason: 'changed since', path: entry.path })
    }
    entries.push({ entry, restore, target, live })
  }
  return entries
}

/** What lies at a path of the review. `other`: no file that it could have left there, or the path leads somewhere else by now. */
async function lookAt(
  { deps, call }: RollbackCall,
  roots: Roots,
  { canonical }: ReviewRestore,
): Promise<{ target: Target; live: LoadedFile | undefined } | 'other'> {
  try {
    const target = await deps.workspace.resolve(roots, canonical, 'write')
    if (target.canonical !== canonical) return 'other'
    const live = target.exists
      ? await deps.workspace.load(roots, target, deps.settings.maxFileBytes, call.signal)
      : undefined
    return { target, live }
  } catch (error) {
    if (error instanceof ToolError && error.is('INVALID_ARGUMENT', 'FILE_TOO_LARGE', 'NOT_FOUND')) return 'other'
    throw error
  }
}

/** Takes folders away that the call had made. The rollback has landed already; a folder that stays is no failure of it. */
async function prune({ deps, context }: RollbackCall, { restore }: StoredReview): Promise<void> {
  for (const { canonical, createdParents } of restore) {
    if (createdParents.length === 0) continue
    try {
      const roots = await rootsOf(deps, context.session)
      const target = await deps.workspace.resolve(roots, canonical, 'write')
      await deps.workspace.pruneEmptyParents(roots, target, createdParents)
    } catch (error) {
      deps.log.warn({ err: error }, 'folders of a rolled back creation stay')
    }
  }
}

/** One commit: a replacement, a creation, a removal, or a move back. */
function restoreFiles(
  { workspace }: ToolDeps,
  roots: Roots,
  entries: readonly Entry[],
  confirm: Confirm,
): Promise<CommitAnswer> {
  const gone = entries.find(({ entry }) => entry.status === 'deleted')
  const come = entries.find(({ entry }) => entry.status === 'added')
  const changed = entries.find(({ entry }) => entry.status === 'modified')
  if (gone && come?.live)
    return workspace.move(roots, come.target, gone.target, come.live, bytesOf(gone), confirm, gone.restore.mode)
  if (come?.live) return workspace.remove(roots, come.target, come.live, confirm)
  if (gone) {
    const { mode, owner } = gone.restore
    return workspace.create(roots, gone.target, bytesOf(gone), confirm, mode, owner)
  }
  if (changed?.live)
    return workspace.replace(roots, changed.target, changed.live, bytesOf(changed), confirm, changed.restore.mode)
  throw new ToolError('INTERNAL', {})
}

function bytesOf({ entry, restore }: Entry): Uint8Array {
  if (!restore.before) throw new ToolError('CONFLICT', { reason: 'not kept', path: entry.path })
  return restore.before
}

function intentOf({ deps, context }: RollbackCall, review: Review, stored: StoredReview): Intent {
  // Files that come into being stand before those that go, as the settling of leftovers expects.
  const files = review.entries
    .map((entry, i) => ({
      path: stored.restore[i]?.canonical ?? '',
      ...(entry.afterDigest === undefined ? {} : { before: entry.afterDigest }),
      ...(entry.beforeDigest === undefined ? {} : { after: entry.beforeDigest }),
    }))
    .sort((a, b) => Number(a.after === undefined) - Number(b.after === undefined))
  const { reviewId, operation, promptId, entries } = review
  const about = { workspace: context.session.workspace, reviewId, operation }
  return {
    intentId: deps.randomId(),
    files,
    recordings: [],
    forget: files.map((file) => file.path),
    registers: [],
    rolledBack: reviewId,
    ...context.answerFor(200, { ...reviewAnswer(review) }),
    events: [
      {
        type: 'rolledBack',
        data: {
          ...about,
          ...(promptId === undefined ? {} : { promptId }),
          paths: entries.map((entry) => entry.path),
          entries: entries.map(({ path, status }) => ({ path, status })),
        },
      },
    ],
  }
}
