/**
 * The landing of an Edit: save hook, evidence, intent, one commit to the disk, one to the store (reading §8.3–8.5, §2.8, §2.11).
 *
 * Refuses nothing that the decision could have known. Once the bytes are on disk the answer is a success, whatever the store says. Called by edit.
 */
import type { Warning } from '../errors/warnings.js'
import { warn } from '../errors/warnings.js'
import type { Intent, NewEvent, Recording, StoredReview } from '../sessions/store.js'
import { Document } from '../text/document.js'
import type { Seen } from '../text/line-set.js'
import type { CommitAnswer, Confirm } from '../workspace/port.js'
import type { Addressed, Decided, EditCall } from './edit.js'
import { editAnswer } from './edit-answer.js'
import type { Changed } from './evidence.js'
import { added, changedByEdit, removed, reviewOf, summaryOf } from './evidence.js'
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
  const recorded = await publish(deps, held.permit)
  const body = recorded
    ? landing.body
    : bodyOf(edit, to, { ...landing, warnings: [...landing.warnings, warn.snapshotNotRecorded()] })
  return { status: 200, body, published: recorded }
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
}

async function plan(edit: EditCall, to: Addressed, decided: Decided): Promise<Landing> {
  const { deps, context, request } = edit
  const { prepared, loaded, dest } = decided
  const changes = prepared.edit.replacements.length > 0
  const hooked =
    prepared.remove || !changes
      ? { text: prepared.result, warnings: [], changed: false }
      : await applySaveHooks(deps, (dest ?? to.target).path, prepared.result)
  const { text } = hooked
  const split = loaded.file.identity.nlink > 1 && !prepared.remove && changes ? [warn.hardLinkSplit()] : []
  const warnings = [...hooked.warnings, ...split]
  const review = reviewOf(
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
    changesOf(to, decided, text),
  )
  const seen = hooked.changed ? seenAfterHook(prepared.result, text) : prepared.seen
  const landing = { decided, text, seen, warnings, review }
  return { ...landing, body: bodyOf(edit, to, landing) }
}

function changesOf(to: Addressed, { prepared, loaded, dest }: Decided, text: Document): Changed[] {
  const { file, document } = loaded
  if (prepared.remove) return [removed(to.target, file, document)]
  if (!dest) return [changedByEdit(to.target, file, document, prepared.edit, text)]
  return [removed(to.target, file, document), added(dest, prepared.result, text, Document.fromText(''))]
}

function bodyOf(edit: EditCall, to: Addressed, landing: Omit<Landing, 'body'>): Record<string, unknown> {
  return editAnswer({
    edit,
    to,
    decided: landing.decided,
    landed: landing.text,
    warnings: landing.warnings,
    ...(landing.review === undefined ? {} : { review: summaryOf(landing.review.review) }),
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
    events: [eventOf(to, landing)],
  }
}

/** The created folders belong to the entry that was added. */
export function withParents(review: StoredReview, createdParents: readonly string[]): StoredReview {
  if (createdParents.length === 0) return review
  const restore = review.restore.map((entry, i) =>
    review.review.entries[i]?.status === 'added' ? { ...entry, createdParents } : entry,
  )
  return { ...review, restore }
}

function eventOf(to: Addressed, { decided, text, body, review }: Landing): NewEvent {
  const { prepared, dest } = decided
  return {
    type: 'edited',
    data: {
      path: to.target.path,
      ...(dest ? { movedTo: dest.path } : {}),
      ...(prepared.remove ? { deleted: true } : { tag: text.tag }),
      branch: prepared.branch,
      ops: to.patch.ops.map((op) => op.header),
      resolutions: prepared.resolutions,
      hunks: body['hunks'] ?? [],
      additions: body['additions'],
      deletions: body['deletions'],
      warnings: body['warnings'],
      ...(review === undefined ? {} : { reviewId: review.review.reviewId }),
    },
  }
}
