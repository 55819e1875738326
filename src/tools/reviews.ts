/**
 * Reviews as they are read: pages of summaries, one with its rows (contract §13.1, http-api "Review"). Changes nothing. Called by http.
 */
import { cursorInvalid } from '../errors/invalid.js'
import { ToolError } from '../errors/tool-error.js'
import type { ReviewAnswer, ReviewListAnswer } from '../schemas/operations.js'
import type { Review, StoredReview } from '../sessions/store.js'
import { openSession } from './access.js'
import type { ToolDeps } from './deps.js'
import { summaryOf } from './evidence.js'
import type { Call } from './tools.js'

export async function listReviews(
  deps: ToolDeps,
  call: Call,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string },
): Promise<ReviewListAnswer> {
  const { ref } = await openSession(deps, call, false)
  const page = await deps.store.reviews(ref, limit, cursor)
  if (!page) throw cursorInvalid()
  return {
    reviews: page.reviews.map(summaryOf),
    ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
  }
}

export async function getReview(deps: ToolDeps, call: Call, reviewId: string): Promise<ReviewAnswer> {
  const { session, ref } = await openSession(deps, call, false)
  return reviewAnswer((await requireReview(deps, ref, session.workspace, reviewId)).review)
}

/** A review of this session in its present workspace. Throws NOT_FOUND. */
export async function requireReview(
  deps: ToolDeps,
  ref: { readonly sessionId: string; readonly epoch: number },
  workspace: string,
  reviewId: string,
): Promise<StoredReview> {
  const stored = await deps.store.review(ref, reviewId)
  if (stored?.workspace !== workspace) throw new ToolError('NOT_FOUND', { what: 'review', name: reviewId })
  return stored
}

export function reviewAnswer(review: Review): ReviewAnswer {
  return { ...review, createdAt: new Date(review.createdAt).toISOString() }
}
