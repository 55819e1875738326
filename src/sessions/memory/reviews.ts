/**
 * The reviews of one session in memory, packed, within the bounds on their number, their evidence and the bytes that rollbacks need (contract §13.1).
 * Called by the memory store.
 */
import type { StoreBounds } from '../bounds.js'
import { parseCursor, printCursor } from '../cursor.js'
import type { PackedReview } from '../review-packing.js'
import { beforeBytes as sizeOf, listed, unpackEvidence, unpackReview } from '../review-packing.js'
import type { ReviewPage, StoredReview } from '../store.js'
import type { Hold, Retained } from './retained.js'

interface KeptReview {
  readonly sequence: number
  readonly reviewId: string
  readonly evidence: Buffer
  befores: ReadonlyMap<number, Buffer>
  beforeBytes: number
  rolledBack: boolean
  beforesDropped: boolean
  evidenceHold?: Hold
  beforesHold?: Hold
}

export class Reviews {
  /** Oldest first. */
  private readonly kept: KeptReview[] = []
  private sequence = 0
  private evidenceBytes = 0
  private beforeBytes = 0

  constructor(
    private readonly bounds: StoreBounds,
    private readonly retained: Retained,
  ) {}

  add(packed: PackedReview): void {
    const review: KeptReview = {
      sequence: ++this.sequence,
      reviewId: packed.reviewId,
      evidence: packed.evidence,
      befores: packed.befores,
      beforeBytes: sizeOf(packed),
      rolledBack: false,
      beforesDropped: false,
    }
    this.kept.push(review)
    this.evidenceBytes += review.evidence.byteLength
    this.beforeBytes += review.beforeBytes
    if (packed.befores.size > 0)
      review.beforesHold = this.retained.hold('before', review.beforeBytes, () => this.giveUpBefores(review))
    review.evidenceHold = this.retained.hold('log', review.evidence.byteLength, () => this.remove(review))
    this.shrink()
  }

  /** The bytes to restore are not needed any more; whether they were kept stays in the evidence. */
  markRolledBack(reviewId: string): void {
    const review = this.kept.find((r) => r.reviewId === reviewId)
    if (review === undefined) return
    review.rolledBack = true
    this.freeBefores(review)
  }

  async get(reviewId: string): Promise<StoredReview | undefined> {
    const review = this.kept.find((r) => r.reviewId === reviewId)
    return review && (await unpackReview(review.evidence, review, review.befores))
  }

  async page(limit: number, cursor?: string): Promise<ReviewPage | undefined> {
    const below = cursor === undefined ? Infinity : parseCursor(cursor)
    if (below === undefined) return undefined
    const older = this.kept.filter((r) => r.sequence < below).reverse()
    const shown = older.slice(0, limit)
    const evidence = await Promise.all(shown.map((r) => unpackEvidence(r.evidence, r)))
    const reviews = evidence.flatMap((e) => (e === undefined ? [] : [listed(e)]))
    const last = shown.at(-1)
    return last !== undefined && older.length > shown.length
      ? { reviews, nextCursor: printCursor(last.sequence) }
      : { reviews }
  }

  clear(): void {
    for (const review of [...this.kept]) this.remove(review)
  }

  /** The oldest reviews go; those behind the newest `reviewsPerSession` cannot be rolled back; then bytes to restore go, those of one that is too large by itself first. */
  private shrink(): void {
    const { reviewsPerSession, reviewEvidencePerSession, reviewEvidenceBytesPerSession, reviewBytesPerSession } =
      this.bounds
    for (let oldest = this.kept[0]; oldest !== undefined && this.kept.length > 1; oldest = this.kept[0]) {
      if (this.kept.length <= reviewEvidencePerSession && this.evidenceBytes <= reviewEvidenceBytesPerSession) break
      this.remove(oldest)
    }
    const newest = this.kept.at(-1)
    if (newest !== undefined && newest.beforeBytes > reviewBytesPerSession) this.giveUpBefores(newest)
    // Reviews that may still be rolled back are the newest ones, so that this walk meets few others.
    for (let i = this.kept.length - 1 - reviewsPerSession; i >= 0; i--) {
      const review = this.kept[i]
      if (review === undefined || review.beforesDropped) break
      this.giveUpBefores(review)
    }
    for (const review of this.kept.slice(-reviewsPerSession)) {
      if (this.beforeBytes <= reviewBytesPerSession) break
      if (review.beforeBytes > 0) this.giveUpBefores(review)
    }
  }

  /** From now on it cannot be rolled back. One that was rolled back needs nothing and stays as it is. */
  private giveUpBefores(review: KeptReview): void {
    if (review.rolledBack || review.beforesDropped) return
    this.freeBefores(review)
    review.beforesDropped = true
  }

  private freeBefores(review: KeptReview): void {
    review.beforesHold?.free()
    this.beforeBytes -= review.beforeBytes
    review.befores = new Map()
    review.beforeBytes = 0
  }

  private remove(review: KeptReview): void {
    const at = this.kept[0] === review ? 0 : this.kept.indexOf(review)
    if (at === -1) return
    this.kept.splice(at, 1)
    review.evidenceHold?.free()
    this.evidenceBytes -= review.evidence.byteLength
    this.freeBefores(review)
  }
}
