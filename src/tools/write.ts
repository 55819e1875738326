/**
 * Write: a whole file, new or over a version the session knows (contract §5.3, reading §8.6–8.9, http-api "Write").
 *
 * Orchestrates only; what lands is decided by the engine. Called by http.
 */
import { linesText } from '../errors/entry.js'
import { contentUnwritable, tagMalformed } from '../errors/invalid.js'
import { ToolError } from '../errors/tool-error.js'
import type { Warning } from '../errors/warnings.js'
import { warn } from '../errors/warnings.js'
import type { KnownVersion } from '../engine/input.js'
import type { PreparedWrite } from '../engine/prepare-write.js'
import { prepareWrite } from '../engine/prepare-write.js'
import { revealBounds } from '../engine/reveal.js'
import type { WriteAnswer, WriteRequest } from '../schemas/operations.js'
import type { Intent, NewEvent, StoredReview } from '../sessions/store.js'
import { parseTag } from '../text/digest.js'
import { Document } from '../text/document.js'
import type { Hunks } from '../text/hunks.js'
import type { Seen } from '../text/line-set.js'
import { LineSet } from '../text/line-set.js'
import { isUnwritable } from '../text/utf8.js'
import type { CommitAnswer, Confirm, Roots, Target } from '../workspace/port.js'
import { openedRootsOf } from './access.js'
import type { ToolDeps } from './deps.js'
import type { Changed } from './evidence.js'
import { added, changedByEdit, reviewOf, summaryOf, withParents } from './evidence.js'
import { changeEvent } from './events.js'
import { drive } from './facts.js'
import type { LoadedText } from './load-text.js'
import { factsOf, headerOf, loadForWriting } from './load-text.js'
import type { MutationContext, Success } from './mutation.js'
import { mutate } from './mutation.js'
import type { Alone, Held } from './permits.js'
import { alone, confirmation, landed, publish } from './permits.js'
import { applySaveHooks, seenAfterHook } from './save-hooks.js'
import type { MutationCall, Outcome } from './tools.js'

/** How often a base that changed between load and rename is decided anew. */
const ATTEMPTS = 3

export function write(deps: ToolDeps, call: MutationCall, request: WriteRequest): Promise<Outcome> {
  const dryRun = request.dryRun ?? false
  const spec = { operation: 'write', request, path: request.path, promptId: request.promptId, dryRun } as const
  return mutate(deps, call, spec, (context) => run({ deps, call, request, context, dryRun }))
}

interface WriteCall {
  readonly deps: ToolDeps
  readonly call: MutationCall
  readonly request: WriteRequest
  readonly context: MutationContext
  readonly dryRun: boolean
}

interface Addressed {
  readonly roots: Roots
  readonly target: Target
  readonly tag: string | undefined
}

interface Decided {
  /** Undefined when the file does not exist. */
  readonly loaded: LoadedText | undefined
  readonly prepared: PreparedWrite
}

/** Everything that is known before the rename. */
interface Landing {
  readonly decided: Decided
  readonly text: Document
  readonly seen: Seen
  readonly warnings: readonly Warning[]
  readonly review: StoredReview | undefined
  readonly body: WriteAnswer
  readonly hunks: Hunks
}

async function run(write: WriteCall): Promise<Success> {
  const { deps, call, context, dryRun } = write
  const to = await address(write)
  const { canonical } = to.target
  if (dryRun) {
    const landing = await plan(write, to, await decide(write, to, await deps.store.history(context.ref, canonical)))
    return { status: 200, body: landing.body, published: false }
  }
  const want: Alone = {
    ...{ ref: context.ref, files: [canonical], path: to.target.path },
    ...{ signal: call.signal, key: context.idempotencyKey },
  }
  const whenBusy = async (): Promise<void> => {
    await decide(write, to, await deps.store.history(context.ref, canonical))
  }
  return alone(deps, want, (held) => land(write, to, want, held), whenBusy)
}

async function address({ deps, request, context }: WriteCall): Promise<Addressed> {
  if (isUnwritable(request.content)) throw contentUnwritable()
  const tag = request.tag === undefined ? undefined : parseTag(request.tag)
  if (request.tag !== undefined && tag === undefined) throw tagMalformed(request.tag)
  const roots = await openedRootsOf(deps, context.session)
  const target = await deps.workspace.resolve(roots, request.path, 'write')
  context.trace.canonical = target.canonical
  context.trace.shownPath = target.path
  const bytes = Buffer.byteLength(request.content)
  const limitBytes = deps.settings.maxFileBytes
  if (bytes > limitBytes) throw new ToolError('FILE_TOO_LARGE', { path: target.path, bytes, limitBytes })
  return { roots, target, tag }
}

/** Loads what is there now, if anything, and lets the engine decide. */
async function decide(write: WriteCall, to: Addressed, versions: readonly KnownVersion[]): Promise<Decided> {
  const { deps, call, request, context, dryRun } = write
  const loaded = await loadExisting(write, to)
  if (loaded) context.trace.live = loaded.document
  const input = {
    path: to.target.path,
    content: request.content,
    ...(to.tag === undefined ? {} : { tag: to.tag }),
    live: loaded?.document,
    versions,
  }
  const plan = prepareWrite(input, revealBounds(dryRun))
  return { loaded, prepared: await drive(deps, context.ref, plan, call.signal, dryRun) }
}

async function loadExisting({ deps, call }: WriteCall, { roots, target }: Addressed): Promise<LoadedText | undefined> {
  try {
    return await loadForWriting(deps, roots, target, call.signal)
  } catch (error) {
    if (error instanceof ToolError && error.is('NOT_FOUND')) return undefined
    throw error
  }
}

async function land(write: WriteCall, to: Addressed, want: Alone, held: Held): Promise<Success> {
  const { deps } = write
  const landing = await landed(ATTEMPTS, to.target.path, async () => {
    const value = await plan(write, to, await decide(write, to, held.history(to.target.canonical)))
    const confirm: Confirm = (createdParents) =>
      confirmation(deps, want, held.permit, intentOf(write, to, value, createdParents))(createdParents)
    return { answer: value.decided.prepared.unchanged ? nothingToDo : await commit(write, to, value, confirm), value }
  })
  const { text, seen, body } = landing
  if (landing.decided.prepared.unchanged) {
    const recording = { path: to.target.canonical, facts: factsOf(text), seen, text: () => text.textBytes() }
    await deps.store.record(want.ref, recording, 'display')
    return { status: 200, body: { ...body }, published: false }
  }
  deps.metrics.bytesWritten(text.bytes.length)
  const published = await publish(deps, held.permit)
  if (published === 'recorded') return { status: 200, body: { ...body }, published: true }
  const told = bodyOf(write, to, {
    ...landing,
    warnings: [...landing.warnings, warn.snapshotNotRecorded()],
    review: published === 'lost' ? undefined : landing.review,
  })
  return { status: 200, body: { ...told }, published: false }
}

/** Identical content writes no byte (reading §8.6). */
const nothingToDo: CommitAnswer = { landed: true, hardLinkSplit: false, createdParents: [] }

async function plan(write: WriteCall, to: Addressed, decided: Decided): Promise<Landing> {
  const { deps } = write
  const { prepared, loaded } = decided
  const { unchanged, result } = prepared
  const hooked = unchanged
    ? { text: result, changed: false, warnings: [] }
    : await applySaveHooks(deps, to.target.path, result)
  const { text } = hooked
  const split = loaded && !unchanged && loaded.file.identity.nlink > 1 ? [warn.hardLinkSplit()] : []
  const warnings = [...prepared.warnings, ...hooked.warnings, ...split]
  const change = loaded
    ? changedByEdit(to.target, loaded.file, loaded.document, prepared.edit, text)
    : added(to.target, result, text, Document.fromText(''))
  const review = unchanged || write.dryRun ? undefined : await evidenceOf(write, change, warnings)
  const seen = hooked.changed ? seenAfterHook(result, text) : LineSet.all(text.lineCount)
  const landing = { decided, text, seen, warnings, review, hunks: change.hunks }
  return { ...landing, body: bodyOf(write, to, landing) }
}

function evidenceOf(
  { deps, request, context }: WriteCall,
  change: Changed,
  warnings: readonly Warning[],
): Promise<StoredReview | undefined> {
  return reviewOf(
    (before) => deps.store.keeps(before),
    {
      reviewId: `rv_${deps.randomId()}`,
      operation: 'write',
      createdAt: deps.now(),
      promptId: request.promptId,
      workspace: context.session.workspace,
      ops: [],
      warnings,
      resolutions: [],
    },
    [change],
  )
}

function commit(
  { deps }: WriteCall,
  { roots, target }: Addressed,
  { decided, text }: Landing,
  confirm: Confirm,
): Promise<CommitAnswer> {
  const { loaded } = decided
  return loaded
    ? deps.workspace.replace(roots, target, loaded.file, text.bytes, confirm)
    : deps.workspace.create(roots, target, text.bytes, confirm)
}

function intentOf(write: WriteCall, to: Addressed, landing: Landing, createdParents: readonly string[]): Intent {
  const { deps, context, request } = write
  const { decided, text, seen, review, body } = landing
  const path = to.target.canonical
  return {
    intentId: deps.randomId(),
    files: [
      { path, ...(decided.loaded ? { before: decided.loaded.document.byteDigest } : {}), after: text.byteDigest },
    ],
    recordings: [{ path, facts: factsOf(text), seen, text: () => text.textBytes() }],
    forget: [],
    registers: [],
    ...(review === undefined ? {} : { review: withParents(review, createdParents) }),
    ...context.answerFor(200, body),
    ...(request.promptId === undefined ? {} : { clearGuard: { promptId: request.promptId, path } }),
    events: [eventOf(write, landing)],
  }
}

function eventOf({ context, request }: WriteCall, { decided, body, hunks, review }: Landing): NewEvent {
  const { edit } = decided.prepared
  return changeEvent({
    type: 'written',
    workspace: context.session.workspace,
    promptId: request.promptId,
    answer: { ...body, resolutions: [] },
    ops: [],
    hunks,
    additions: edit.additions,
    deletions: edit.deletions,
    reviewId: review?.review.reviewId,
  })
}

function bodyOf(
  write: WriteCall,
  { target }: Addressed,
  { decided, text, warnings, review }: Pick<Landing, 'decided' | 'text' | 'warnings' | 'review'>,
): WriteAnswer {
  const { loaded, prepared } = decided
  const header = headerOf(target.path, text.tag)
  const verb = prepared.unchanged ? 'unchanged' : write.dryRun ? 'would write' : 'applied'
  const told = warnings.map((warning) => `\nwarning ${warning.code}: ${warning.message}`).join('')
  return {
    path: target.path,
    root: target.root,
    tag: text.tag,
    header,
    ...(loaded ? { previousTag: loaded.document.tag } : {}),
    created: loaded === undefined,
    bytes: text.bytes.length,
    totalLines: text.lineCount,
    warnings,
    ...(review === undefined ? {} : { review: summaryOf(review.review) }),
    content: `${verb}: ${target.path}, ${linesText(text.lineCount)}${told}\n${header}`,
  }
}
