/**
 * Routes of reviews: the evidence of every change, and its rollback.
 */
import { Type } from '@sinclair/typebox'
import { ReviewAnswerSchema, ReviewListAnswerSchema } from '../schemas/reviews.js'
import { strict } from '../schemas/parts.js'
import type { Tools } from '../tools/tools.js'
import { anyCall, inSession, answers, withBody } from './answers.js'
import { examples } from './examples.js'
import { MutationHeaders, PageQuery, ReviewParams, SessionParams, body, keyOf } from './parameters.js'
import { sendOutcome } from './problems.js'
import type { App } from './provider.js'
import { callOf } from './provider.js'

const tags = ['Reviews']
const defaultPage = 20

/** An empty object; a rollback without a body means the same. */
const RollbackRequest = strict({}, { description: 'Nothing to say; the body may be left out.' })

export function reviewRoutes(app: App, tools: Tools): void {
  app.get(
    '/v1/sessions/:sessionId/reviews',
    {
      schema: {
        operationId: 'listReviews',
        summary: 'List the changes of a session',
        tags,
        params: SessionParams,
        querystring: PageQuery,
        response: answers(
          'other',
          { 200: { schema: ReviewListAnswerSchema, description: 'Newest first.', examples: examples.reviews } },
          [...inSession, ...anyCall],
        ),
      },
    },
    (request) => {
      const { limit = defaultPage, cursor } = request.query
      return tools.listReviews(callOf(request), { limit, ...(cursor === undefined ? {} : { cursor }) })
    },
  )

  app.get(
    '/v1/sessions/:sessionId/reviews/:reviewId',
    {
      schema: {
        operationId: 'getReview',
        summary: 'Show a change with its rows',
        tags,
        params: ReviewParams,
        response: answers(
          'other',
          { 200: { schema: ReviewAnswerSchema, description: 'The review.', examples: examples.review } },
          [...inSession, 'NOT_FOUND', ...anyCall],
        ),
      },
    },
    (request) => tools.getReview(callOf(request), request.params.reviewId),
  )

  app.post(
    '/v1/sessions/:sessionId/reviews/:reviewId/rollback',
    {
      schema: {
        operationId: 'rollback',
        summary: 'Take a change back',
        description: 'Restores both entries of a move or neither. Repeated, it answers the same and touches nothing.',
        tags,
        params: ReviewParams,
        headers: MutationHeaders,
        body: body(Type.Unsafe<Record<string, never>>(RollbackRequest), {
          example: { summary: 'Nothing to say', value: {} },
        }),
        response: answers(
          'other',
          {
            200: { schema: ReviewAnswerSchema, description: 'The review, rolled back.', examples: examples.rolledBack },
          },
          [
            ...withBody,
            'TOOL_DENIED',
            'PATH_OUTSIDE_WORKSPACE',
            'SESSION_NOT_FOUND',
            'NOT_FOUND',
            'CONFLICT',
            'MUTATION_IN_PROGRESS',
            'IDEMPOTENCY_KEY_REUSED',
            'TOOL_FAILED',
            ...anyCall,
          ],
        ),
      },
      preValidation: async (request) => {
        const given: unknown = request.body
        if (given === undefined) request.body = {}
      },
    },
    async (request, reply) =>
      sendOutcome(
        request,
        reply,
        await tools.rollback({ ...callOf(request), ...keyOf(request.headers) }, request.params.reviewId),
      ),
  )
}
