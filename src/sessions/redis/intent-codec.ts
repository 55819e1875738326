/**
 * A staged intent in the form that scripts publish (scripts/lib/publish.lua), the head that whoever settles it reads, and the mark on its files.
 * Called by permits and intents.
 */
import { createHash } from 'node:crypto'
import type { StoreBounds } from '../bounds.js'
import { pack } from '../packing.js'
import { registerBytes } from '../registers.js'
import type { PackedReview } from '../review-packing.js'
import { packReview } from '../review-packing.js'
import type { Answer, Intent, IntentFile, SessionRef, StoredReview } from '../store.js'
import { object, recordingFields } from './codec.js'
import type { OwnClaim } from './claims.js'
import { isSessionId } from './keys.js'
import { guardField } from './logs.js'

export interface Head {
  readonly files: readonly IntentFile[]
  readonly answer?: { readonly key: string; readonly answer: Answer }
}

export interface EncodedIntent {
  /** Pairs of field and value. */
  readonly fields: readonly (string | Buffer)[]
  /** Bytes to restore that the store may copy from a text it keeps: index and digest. */
  readonly copies: readonly (readonly [number, string])[]
  /** The same bytes as fields, when the store turns out not to have them. */
  readonly inline: () => Promise<readonly (string | Buffer)[]>
}

/** `claim` is the claim of the intent's answer; without one the answer is not published. */
export async function encodeIntent(
  intent: Intent,
  claim: OwnClaim | undefined,
  bounds: StoreBounds,
  knownTexts: ReadonlySet<string>,
): Promise<EncodedIntent> {
  const answer = intent.answer && claim ? { ...intent.answer, claim } : undefined
  const plan = {
    forget: intent.forget,
    moves: (intent.moves ?? []).map(({ from, to }) => [from, to]),
    recordings: intent.recordings.map((recording) => recordingFields(recording, bounds.seenRangesPerVersion)),
    registers: intent.registers.map(({ name, lines }) => [name, String(registerBytes(lines)), String(lines.length)]),
    ...(intent.review ? { review: intent.review.review.reviewId, entries: intent.review.restore.length } : {}),
    ...(intent.rolledBack === undefined ? {} : { rolledBack: intent.rolledBack }),
    ...(answer ? { answer: [answer.claim.hash, answer.claim.digest, String(answer.answer.status)] } : {}),
    ...(intent.clearGuard ? { clearGuard: guardField(intent.clearGuard.promptId, intent.clearGuard.path) } : {}),
    events: intent.events.map((event) => event.type),
  }
  const head = {
    files: intent.files,
    ...(answer ? { key: answer.key, status: answer.answer.status } : {}),
  }
  const { review, copies } = intent.review ? withoutKnown(intent.review, knownTexts) : { review: undefined, copies: [] }
  const [packed, registers] = await Promise.all([
    review && packReview(review, bounds.reviewEvidenceBytesPerSession),
    Promise.all(intent.registers.map(async ({ lines }) => pack(Buffer.from(JSON.stringify(lines))))),
  ])
  return {
    fields: [
      ...['id', intent.intentId, 'head', JSON.stringify(head), 'plan', JSON.stringify(plan)],
      ...(packed ? ['e', packed.evidence, ...beforeFields(packed)] : []),
      ...registers.flatMap((content, i) => [`r:${i + 1}`, content]),
      ...(answer ? ['a', answer.answer.body] : []),
      ...intent.events.flatMap((event, i) => [`v:${i + 1}`, JSON.stringify(event.data)]),
    ],
    copies,
    inline: async () =>
      intent.review ? beforeFields(await packReview(intent.review, bounds.reviewEvidenceBytesPerSession)) : [],
  }
}

/** Bytes that are one of the known texts need not travel again: same digest, same bytes. */
function withoutKnown(
  stored: StoredReview,
  known: ReadonlySet<string>,
): { review: StoredReview; copies: (readonly [number, string])[] } {
  const copies: (readonly [number, string])[] = []
  const restore = stored.restore.map((entry, i) => {
    if (entry.before === undefined) return entry
    const digest = createHash('sha256').update(entry.before).digest('hex')
    if (!known.has(digest)) return entry
    copies.push([i, digest])
    const { before: _before, ...rest } = entry
    return rest
  })
  return { review: { ...stored, restore }, copies }
}

function beforeFields(packed: PackedReview): (string | Buffer)[] {
  return [...packed.befores].flatMap(([index, bytes]) => [`b:${index}`, bytes])
}

/** `body` is that of the answer. Undefined for what `encodeIntent` did not write. */
export function parseHead(json: string, body: string): Head | undefined {
  const head = object(json)
  const files = head?.['files']
  if (!head || !Array.isArray(files) || !files.every(isFile)) return undefined
  const { key, status } = head
  if (typeof key !== 'string' || typeof status !== 'number') return { files }
  return { files, answer: { key, answer: { status, body } } }
}

function isFile(value: unknown): value is IntentFile {
  return typeof value === 'object' && value !== null && 'path' in value && typeof value.path === 'string'
}

// — the mark on a file: whose intent is staged on it —

export interface Mark {
  readonly ref: SessionRef
  readonly intentId: string
}

export function printMark({ ref, intentId }: Mark): string {
  return ['1', ref.sessionId, ref.epoch, intentId].join(' ')
}

export function parseMark(text: string): Mark | undefined {
  const match = /^1 (\S+) ([1-9]\d{0,14}) (\S+)$/.exec(text)
  const [, sessionId, epoch, intentId] = match ?? []
  if (sessionId === undefined || intentId === undefined || !isSessionId(sessionId)) return undefined
  return { ref: { sessionId, epoch: Number(epoch) }, intentId }
}
