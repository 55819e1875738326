/**
 * The landing of an Edit: save hook, evidence, intent, one commit to the disk, one to the store (reading §8.3–8.5, §2.8, §2.11).
 *
 * Refuses nothing that the decision could have known. Once the bytes are on disk the answer is a success, whatever the store says. Called by edit.
 */
import type { Warning } from '../errors/warnings.js'
import { warn } from '../errors/warnings.js'
import type { Intent, NewEvent, Recording, StoredReview } from '../sessions/store.js'
import { Document } from '../text/document.js'
import type { Hunks } from '../text/hunks.js'
import { hunksOf } from '../text/hunks.js'
import type { Seen } from '../text/line-set.js'
import type { CommitAnswer, Confirm } from '../workspace/port.js'
import type { Addressed, Decided, EditCall } from './edit-call.js'
import { editAnswer } from './edit-answer.js'
import type { Changed } from './evidence.js'
import { added, changedByEdit, hunkBounds, removed, reviewOf, summaryOf, withParents } from './evidence.js'
import { changeEvent } from './events.js'
import { factsOf } from './load-text.js'
import type { Success } from './mutation.js'
import type { Alone, Held } from './permits.js'
import { confirmation, landed, publish } from './permits.js'
import { applySaveHooks, seenAfterHook } from './save-hooks.js'

/** How often a base that changed between load and rename is decided anew. */
const ATTEMPTS = 3

export async function landEdit(
  edit: EditCall,
  to: Addressed,
  want: Alone,
  held: Held,
  decide: () => Promise<Decided>,
): Promise<Success> {
  const { deps } = edit
  const landing = await landed(ATTEMPTS, to.target.path, async () => {
    const value = await plan(edit, to, await decide())
    const confirm: Confirm = (createdParents) =>
      confirmation(deps, want, held.permit, intentOf(edit, to, value, createdParents))(createdParents)
    return { answer: await commit(edit, to, value, confirm), value }
  })
  deps.metrics.editBranch(landing.decided.prepared.branch)
  deps.metrics.bytesWritten(landing.text.bytes.length)
  const published = await publish(deps, held.permit)
  if (published === 'recorded') return { status: 200, body: landing.body, published: true }
  const body = bodyOf(edit, to, {
    ...landing,
    warnings: [...landing.warnings, warn.snapshotNotRecorded()],
    review: published === 'lost' ? undefined : landing.review,
  })
  return { status: 200, body, published: false }
}

/** What a real call would answer now; it has no review because nothing lands (reading §8.9). */
export async function wouldAnswer(edit: EditCall, to: Addressed, decided: Decided): Promise<Record<string, unknown>> {
  const saved = await saving(edit, to, decided)
  return bodyOf(edit, to, { decided, ...saved, review: undefined })
}

/** Everything that is known before the rename. */
interface Landing {
  readonly decided: Decided
  /** What will lie on disk; equal to the intended text unless a save hook changed it. */
  readonly text: Document
  readonly seen: Seen
  readonly warnings: readonly Warning[]
  readonly review: StoredReview | undefined
  readonly body: Record<string, unknown>
  /** The rows for a listener: those of the answer, or those that a removal took. */
  readonly hunks: Hunks
}

async function plan(edit: EditCall, to: Addressed, decided: Decided): Promise<Landing> {
  const { deps, context, request } = edit
  const { prepared, dest } = decided
  const { text, seen, warnings } = await saving(edit, to, decided)
  const changes = changesOf(to, decided, text)
  const review = await reviewOf(
    (before) => deps.store.keeps(before),
    {
      reviewId: `rv_${deps.randomId()}`,
      operation: prepared.remove ? 'delete' : dest ? 'move' : 'edit',
      createdAt: deps.now(),
      promptId: request.promptId,
      workspace: context.session.workspace,
      ops: to.patch.ops.map((op) => op.header),
      warnings: [...to.warnings, ...prepared.warnings, ...warnings],
      resolutions: prepared.resolutions,
    },
    changes,
  )
  const landing = { decided, text, seen, warnings, review }
  const hunks = dest ? hunksOf(prepared.edit, decided.loaded.document, hunkBounds) : changes[0].hunks
  return { ...landing, hunks, body: bodyOf(edit, to, landing) }
}

/** The text after the operator's save hooks, what of it counts as seen, and the warnings that only the landing knows. */
async function saving(
  { deps }: EditCall,
  to: Addressed,
  { prepared, loaded, dest }: Decided,
): Promise<{ text: Document; seen: Seen; warnings: readonly Warning[] }> {
  const changes = prepared.edit.replacements.length > 0 && !prepared.remove
  const hooked = changes
    ? await applySaveHooks(deps, (dest ?? to.target).path, prepared.result)
    : { text: prepared.result, warnings: [], changed: false }
  const split = changes && loaded.file.identity.nlink > 1 ? [warn.hardLinkSplit()] : []
  return {
    text: hooked.text,
    seen: hooked.changed ? seenAfterHook(prepared.result, hooked.text) : prepared.seen,
    warnings: [...hooked.warnings, ...split],
  }
}

function changesOf(to: Addressed, { prepared, loaded, dest }: Decided, text: Document): [Changed, ...Changed[]] {
  const { file, document } = loaded
  if (prepared.remove) return [removed(to.target, file, document)]
  if (!dest) return [changedByEdit(to.target, file, document, prepared.edit, text)]
  return [removed(to.target, file, document), added(dest, prepared.result, text, Document.fromText(''))]
}

function bodyOf(
  edit: EditCall,
  to: Addressed,
  { decided, text, warnings, review }: Pick<Landing, 'decided' | 'text' | 'warnings' | 'review'>,
): Record<string, unknown> {
  return editAnswer({
    edit,
    to,
    decided,
    landed: text,
    warnings,
    ...(review === undefined ? {} : { review: summaryOf(review.review) }),
  })
}

function commit(
  { deps }: EditCall,
  { roots, target }: Addressed,
  { decided, text }: Landing,
  confirm: Confirm,
): Promise<CommitAnswer> {
  const { prepared, loaded, dest } = decided
  const { file } = loaded
  if (prepared.remove) return deps.workspace.remove(roots, target, file, confirm)
  if (dest)
    return deps.workspace.move(roots, target, dest, file, text.bytes === file.bytes ? undefined : text.bytes, confirm)
  return deps.workspace.replace(roots, target, file, text.bytes, confirm)
}

function intentOf(edit: EditCall, to: Addressed, landing: Landing, createdParents: readonly string[]): Intent {
  const { deps, context, request } = edit
  const { decided, text, review } = landing
  const { prepared, loaded, dest } = decided
  const source = to.target.canonical
  const before = loaded.document.byteDigest
  const recording: Recording = {
    path: (dest ?? to.target).canonical,
    facts: factsOf(text),
    seen: landing.seen,
    text: () => text.textBytes(),
  }
  const files = dest
    ? [
        { path: dest.canonical, after: text.byteDigest },
        { path: source, before },
      ]
    : [{ path: source, before, ...(prepared.remove ? {} : { after: text.byteDigest }) }]
  return {
    intentId: deps.randomId(),
    files,
    recordings: prepared.remove ? [] : [recording],
    forget: prepared.remove ? [source] : [],
    ...(dest ? { moves: [{ from: source, to: dest.canonical }] } : {}),
    registers: prepared.registers,
    ...(review === undefined ? {} : { review: withParents(review, createdParents) }),
    ...context.answerFor(200, landing.body),
    ...(request.promptId === undefined ? {} : { clearGuard: { promptId: request.promptId, path: source } }),
    events: [eventOf(edit, to, landing)],
  }
}

function eventOf({ context, request }: EditCall, to: Addressed, { body, hunks, review }: Landing): NewEvent {
  return changeEvent({
    type: 'edited',
    workspace: context.session.workspace,
    promptId: request.promptId,
    answer: body,
    ops: to.patch.ops.map((op) => op.header),
    hunks,
    additions: Number(body['additions']),
    deletions: Number(body['deletions']),
    reviewId: review?.review.reviewId,
  })
}
