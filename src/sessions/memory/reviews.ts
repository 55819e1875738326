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
  rolledBack: boolean
  beforesDropped: boolean
  evidenceHold?: Hold
  beforesHold?: Hold
}

export class Reviews {
  /** Oldest first. */
  private kept: KeptReview[] = []
  private sequence = 0

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
      rolledBack: false,
      beforesDropped: false,
    }
    this.kept.push(review)
    if (packed.befores.size > 0)
      review.beforesHold = this.retained.hold('before', sizeOf(packed), () => this.giveUpBefores(review))
    review.evidenceHold = this.retained.hold('log', review.evidence.byteLength, () => this.remove(review))
    this.shrink()
  }

  /** The bytes to restore are not needed any more; whether they were kept stays in the evidence. */
  markRolledBack(reviewId: string): void {
    const review = this.kept.find((r) => r.reviewId === reviewId)
    if (review === undefined) return
    review.rolledBack = true
    review.beforesHold?.free()
    review.befores = new Map()
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
    let evidence = this.kept.reduce((sum, r) => sum + r.evidence.byteLength, 0)
    for (const review of [...this.kept]) {
      const over = this.kept.length > reviewEvidencePerSession || evidence > reviewEvidenceBytesPerSession
      if (!over || this.kept.length === 1) break
      evidence -= review.evidence.byteLength
      this.remove(review)
    }
    for (const [i, review] of this.kept.entries())
      if (this.kept.length - i > reviewsPerSession || sizeOf(review) > reviewBytesPerSession) this.giveUpBefores(review)
    let befores = this.kept.reduce((sum, r) => sum + sizeOf(r), 0)
    for (const review of this.kept) {
      if (befores <= reviewBytesPerSession) break
      if (review.befores.size === 0) continue
      befores -= sizeOf(review)
      this.giveUpBefores(review)
    }
  }

  /** From now on it cannot be rolled back. One that was rolled back needs nothing and stays as it is. */
  private giveUpBefores(review: KeptReview): void {
    if (review.rolledBack || review.beforesDropped) return
    review.beforesHold?.free()
    review.befores = new Map()
    review.beforesDropped = true
  }

  private remove(review: KeptReview): void {
    review.evidenceHold?.free()
    review.beforesHold?.free()
    this.kept = this.kept.filter((r) => r !== review)
  }
}
