/**
 * Reviews as they are read: pages of summaries, one with its rows (contract §13.1, http-api "Review"). Changes nothing. Called by http.
 */
import { cursorInvalid } from '../errors/invalid.js'
import { ToolError } from '../errors/tool-error.js'
import type { ReviewAnswer, ReviewListAnswer, ReviewSummary } from '../schemas/operations.js'
import type { Review, Session, SessionRef, StoredReview } from '../sessions/store.js'
import { openSession, rootsOf } from './access.js'
import type { ToolDeps } from './deps.js'
import { summaryOf } from './evidence.js'
import type { Call } from './tools.js'

/** Those of the present workspace; a cursor may lead to an empty last page. */
export async function listReviews(
  deps: ToolDeps,
  call: Call,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string },
): Promise<ReviewListAnswer> {
  const { session, ref } = await openSession(deps, call, false)
  const reviews: ReviewSummary[] = []
  let next = cursor
  do {
    const page = await deps.store.reviews(ref, limit - reviews.length, next)
    if (!page) throw cursorInvalid()
    reviews.push(...page.reviews.filter(({ workspace }) => workspace === session.workspace).map(summaryOf))
    next = page.nextCursor
  } while (next !== undefined && reviews.length < limit)
  return { reviews, ...(next === undefined ? {} : { nextCursor: next }) }
}

export async function getReview(deps: ToolDeps, call: Call, reviewId: string): Promise<ReviewAnswer> {
  const { session, ref } = await openSession(deps, call, false)
  const stored = await findReview(deps, ref, session.workspace, reviewId)
  if (!stored) throw reviewNotFound(reviewId)
  await assertShown(deps, session, stored)
  return reviewAnswer(stored.review)
}

/** A review of this session in its present workspace. */
export async function findReview(
  deps: ToolDeps,
  ref: SessionRef,
  workspace: string,
  reviewId: string,
): Promise<StoredReview | undefined> {
  const stored = await deps.store.review(ref, reviewId)
  return stored?.workspace === workspace ? stored : undefined
}

export function reviewNotFound(reviewId: string): ToolError {
  return new ToolError('NOT_FOUND', { what: 'review', name: reviewId })
}

/** Rows of a file that a deny rule covers now are not shown, whenever they were recorded (reading §8.11). Throws TOOL_DENIED. */
export async function assertShown(deps: ToolDeps, session: Session, { restore }: StoredReview): Promise<void> {
  const roots = await rootsOf(deps, session)
  for (const { canonical } of restore) {
    try {
      await deps.workspace.resolve(roots, canonical, 'read')
    } catch (error) {
      // Whatever else is wrong with the path by now, the evidence is of the file that was there.
      if (!(error instanceof ToolError) || error.is('TOOL_DENIED') || error.status >= 500) throw error
    }
  }
}

export function reviewAnswer(review: Review): ReviewAnswer {
  return { ...review, createdAt: new Date(review.createdAt).toISOString() }
}
