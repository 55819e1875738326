/**
 * A review in three parts: evidence that never changes (packed JSON), bytes to restore (packed, one per entry that has some), and flags that do change.
 * Refuses to read what it did not write. Called by both stores.
 */
import { sha256 } from '../text/digest.js'
import { pack, unpack } from './packing.js'
import type { ListedReview, Review, ReviewRestore, StoredReview } from './store.js'

export interface PackedReview {
  readonly reviewId: string
  readonly evidence: Buffer
  /** By index of the entry. */
  readonly befores: ReadonlyMap<number, Buffer>
}

export interface ReviewFlags {
  readonly rolledBack: boolean
  /** What a rollback needs was given up for newer reviews. */
  readonly beforesDropped: boolean
}

export interface Evidence {
  readonly review: Review
  readonly workspace: string
  readonly restore: readonly Omit<ReviewRestore, 'before'>[]
}

/** Inflated evidence beyond this is not ours. */
const maxEvidenceBytes = 256 * 1024 * 1024
const maxBeforeBytes = 4 * 1024 * 1024 * 1024 - 1

/** Evidence of more than `maxBytes` gives up its rows, which the entries then say. */
export async function packReview(stored: StoredReview, maxBytes: number): Promise<PackedReview> {
  const evidence: Evidence = {
    review: stored.review,
    workspace: stored.workspace,
    restore: stored.restore.map((r) => ({
      canonical: r.canonical,
      root: r.root,
      ...(r.mode === undefined ? {} : { mode: r.mode }),
      ...(r.owner === undefined ? {} : { owner: r.owner }),
      createdParents: r.createdParents,
    })),
  }
  const [packed, befores] = await Promise.all([
    packEvidence(evidence, maxBytes),
    Promise.all(
      stored.restore.map(async (r, i) => (r.before === undefined ? undefined : ([i, await pack(r.before)] as const))),
    ),
  ])
  return {
    reviewId: stored.review.reviewId,
    evidence: packed,
    befores: new Map(befores.filter((b) => b !== undefined)),
  }
}

async function packEvidence(evidence: Evidence, maxBytes: number): Promise<Buffer> {
  const packed = await pack(Buffer.from(JSON.stringify(evidence)))
  if (packed.byteLength <= maxBytes) return packed
  const entries = evidence.review.entries.map((entry) => ({ ...entry, hunks: [], truncated: true }))
  return pack(Buffer.from(JSON.stringify({ ...evidence, review: { ...evidence.review, entries } })))
}

/** True when the bytes to restore are within `maxBytes` once they are packed. Packs only what is not small anyway. */
export async function fits(before: Uint8Array, maxBytes: number): Promise<boolean> {
  return before.byteLength < maxBytes || (await pack(before)).byteLength <= maxBytes
}

/** Bytes that count against the bound on what rollbacks need. */
export function beforeBytes(review: Pick<PackedReview, 'befores'>): number {
  let sum = 0
  for (const bytes of review.befores.values()) sum += bytes.byteLength
  return sum
}

/** The evidence with its flags applied: both entries of a move can be rolled back or neither. */
export async function unpackEvidence(packed: Uint8Array, flags: ReviewFlags): Promise<Evidence | undefined> {
  const json = await unpack(packed, maxEvidenceBytes)
  if (json === undefined) return undefined
  let evidence: Evidence
  try {
    evidence = JSON.parse(json.toString('utf8')) as Evidence
    if (typeof evidence.review.reviewId !== 'string' || !Array.isArray(evidence.restore)) return undefined
  } catch {
    return undefined
  }
  const { review } = evidence
  return {
    ...evidence,
    review: {
      ...review,
      state: flags.rolledBack ? 'rolledBack' : review.state,
      entries: flags.beforesDropped ? review.entries.map((e) => ({ ...e, reversible: false })) : review.entries,
    },
  }
}

export function listed({ review, workspace }: Evidence): ListedReview {
  return { ...review, workspace }
}

export async function unpackReview(
  packed: Uint8Array,
  flags: ReviewFlags,
  befores: ReadonlyMap<number, Uint8Array>,
): Promise<StoredReview | undefined> {
  const evidence = await unpackEvidence(packed, flags)
  if (evidence === undefined) return undefined
  const { review, workspace } = evidence
  const restore = await Promise.all(
    evidence.restore.map(async (r, i): Promise<ReviewRestore> => {
      const bytes = befores.get(i)
      const before = bytes === undefined ? undefined : await unpack(bytes, maxBeforeBytes)
      // Bytes that are not what the evidence says are never put back.
      return before && sha256(before) === review.entries[i]?.beforeDigest ? { ...r, before } : r
    }),
  )
  if (flags.rolledBack) return { review, workspace, restore }
  const entries = review.entries.map((e, i) =>
    e.beforeDigest !== undefined && restore[i]?.before === undefined ? { ...e, reversible: false } : e,
  )
  return { review: { ...review, entries }, workspace, restore }
}
