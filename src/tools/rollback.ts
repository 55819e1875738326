/**
 * Rollback: puts back what a review changed, both files of a move or neither (contract §13.1, reading §8.14).
 *
 * Refuses when the live bytes are not those the review left behind; makes no review; a second rollback answers the same and touches nothing. Called by http.
 */
import { ToolError } from '../errors/tool-error.js'
import type { Intent, Review, ReviewEntry, ReviewRestore, StoredReview } from '../sessions/store.js'
import { sha256 } from '../text/digest.js'
import type { CommitAnswer, Confirm, LoadedFile, Roots, Target } from '../workspace/port.js'
import { rootsOf } from './access.js'
import type { ToolDeps } from './deps.js'
import type { MutationContext, Success } from './mutation.js'
import { AlreadyLanded, mutate } from './mutation.js'
import { alone, confirmation, landed, publish } from './permits.js'
import { requireReview, reviewAnswer } from './reviews.js'
import type { MutationCall, Outcome } from './tools.js'

const ATTEMPTS = 3

export function rollback(deps: ToolDeps, call: MutationCall, reviewId: string): Promise<Outcome> {
  const spec = {
    operation: 'other',
    request: { rollback: reviewId },
    path: undefined,
    promptId: undefined,
    dryRun: false,
  } as const
  return mutate(deps, call, spec, (context) => run(deps, call, context, reviewId))
}

/** One file of the review and what lies there now. */
interface Entry {
  readonly entry: ReviewEntry
  readonly restore: ReviewRestore
  readonly target: Target
  readonly live: LoadedFile | undefined
}

async function run(deps: ToolDeps, call: MutationCall, context: MutationContext, reviewId: string): Promise<Success> {
  const { ref, session } = context
  const find = (): Promise<StoredReview> => requireReview(deps, ref, session.workspace, reviewId)
  const stored = await find()
  if (stored.review.state === 'rolledBack')
    return { status: 200, body: { ...reviewAnswer(stored.review) }, published: false }
  const files = stored.restore.map((restore) => restore.canonical)
  const path = stored.review.entries[0]?.path ?? reviewId
  const want = { ref, files, path, signal: call.signal }
  return alone(
    deps,
    want,
    async (held) => {
      if (context.idempotencyKey !== undefined && held.settledKeys.has(context.idempotencyKey))
        throw new AlreadyLanded()
      // Somebody may have rolled it back while this call waited.
      const current = await find()
      if (current.review.state === 'rolledBack')
        return { status: 200, body: { ...reviewAnswer(current.review) }, published: false }
      const review: Review = { ...current.review, state: 'rolledBack' }
      const body = { ...reviewAnswer(review) }
      const roots = await rootsOf(deps, session)
      const entries = await landed(ATTEMPTS, path, async () => {
        const value = await inspect(deps, call, roots, current)
        const intent = intentOf(deps, context, review, current, body)
        return { answer: await restoreFiles(deps, roots, value, confirmation(deps, want, held.permit, intent)), value }
      })
      const recorded = await publish(deps, held.permit)
      await prune(deps, roots, entries)
      return { status: 200, body, published: recorded }
    },
    async () => undefined,
  )
}

/** Every file must be as the review left it. Throws CONFLICT. */
async function inspect(deps: ToolDeps, call: MutationCall, roots: Roots, stored: StoredReview): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const [i, entry] of stored.review.entries.entries()) {
    const restore = stored.restore[i]
    if (!entry.reversible || !restore) throw new ToolError('CONFLICT', { reason: 'not kept', path: entry.path })
    const target = await deps.workspace.resolve(roots, restore.canonical, 'write')
    const live = await loadLive(deps, call, roots, target)
    if (entry.afterDigest === undefined) {
      if (live || target.exists) throw new ToolError('CONFLICT', { reason: 'appeared since', path: entry.path })
    } else {
      if (!live) throw new ToolError('CONFLICT', { reason: 'moved away', path: entry.path })
      if (sha256(live.bytes) !== entry.afterDigest)
        throw new ToolError('CONFLICT', { reason: 'changed since', path: entry.path })
    }
    entries.push({ entry, restore, target, live })
  }
  return entries
}

async function loadLive(
  deps: ToolDeps,
  call: MutationCall,
  roots: Roots,
  target: Target,
): Promise<LoadedFile | undefined> {
  try {
    return await deps.workspace.load(roots, target, deps.settings.maxFileBytes, call.signal)
  } catch (error) {
    if (error instanceof ToolError && error.is('NOT_FOUND')) return undefined
    throw error
  }
}

/** Takes folders away that the call had made. The rollback has landed already; a folder that stays is no failure of it. */
async function prune(deps: ToolDeps, roots: Roots, entries: readonly Entry[]): Promise<void> {
  for (const { target, restore } of entries) {
    if (restore.createdParents.length === 0) continue
    try {
      await deps.workspace.pruneEmptyParents(roots, target, restore.createdParents)
    } catch (error) {
      deps.log.warn({ err: error }, 'folders of a rolled back creation stay')
    }
  }
}

/** One commit: a replacement, a creation, a removal, or a move back. */
function restoreFiles(
  deps: ToolDeps,
  roots: Roots,
  entries: readonly Entry[],
  confirm: Confirm,
): Promise<CommitAnswer> {
  const gone = entries.find(({ entry }) => entry.status === 'deleted')
  const come = entries.find(({ entry }) => entry.status === 'added')
  const changed = entries.find(({ entry }) => entry.status === 'modified')
  if (gone && come?.live) return deps.workspace.move(roots, come.target, gone.target, come.live, bytesOf(gone), confirm)
  if (come?.live) return deps.workspace.remove(roots, come.target, come.live, confirm)
  if (gone) return deps.workspace.create(roots, gone.target, bytesOf(gone), confirm, gone.restore.mode)
  if (changed?.live) return deps.workspace.replace(roots, changed.target, changed.live, bytesOf(changed), confirm)
  throw new ToolError('INTERNAL', {})
}

function bytesOf({ entry, restore }: Entry): Uint8Array {
  if (!restore.before) throw new ToolError('CONFLICT', { reason: 'not kept', path: entry.path })
  return restore.before
}

function intentOf(
  deps: ToolDeps,
  context: MutationContext,
  review: Review,
  stored: StoredReview,
  body: Record<string, unknown>,
): Intent {
  // Files that come into being stand before those that go, as the settling of leftovers expects.
  const files = review.entries
    .map((entry, i) => ({
      path: stored.restore[i]?.canonical ?? '',
      ...(entry.afterDigest === undefined ? {} : { before: entry.afterDigest }),
      ...(entry.beforeDigest === undefined ? {} : { after: entry.beforeDigest }),
    }))
    .sort((a, b) => Number(a.after === undefined) - Number(b.after === undefined))
  return {
    intentId: deps.randomId(),
    files,
    recordings: [],
    forget: files.map((file) => file.path),
    registers: [],
    rolledBack: review.reviewId,
    ...context.answerFor(200, body),
    events: [
      { type: 'rolledBack', data: { reviewId: review.reviewId, paths: review.entries.map((entry) => entry.path) } },
    ],
  }
}
