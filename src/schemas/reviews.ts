/**
 * Schemas of reviews: the evidence of every change and what rolls it back (contract §13.1, http-api "Review").
 */
import { Type } from '@sinclair/typebox'
import {
  Count,
  HunkSchema,
  PromptId,
  ResolutionSchema,
  ShownPath,
  Time,
  WarningSchema,
  arrayOf,
  oneOf,
  strict,
} from './parts.js'

const Digest = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'SHA-256 of the bytes of the file.',
})

const entryFacts = {
  path: ShownPath,
  status: oneOf(['added', 'modified', 'deleted']),
  additions: Count('Lines added.'),
  deletions: Count('Lines deleted.'),
  truncated: Type.Boolean({ description: 'The hunks of this entry leave something out.' }),
  reversible: Type.Boolean({ description: 'False when the bytes before are no longer kept.' }),
  beforeDigest: Type.Optional(Digest),
  afterDigest: Type.Optional(Digest),
}

const reviewFacts = {
  reviewId: Type.String({ examples: ['rv_5f0c2a9be1'] }),
  operation: oneOf(['write', 'edit', 'delete', 'move']),
  state: oneOf(['active', 'rolledBack']),
  createdAt: Time('When the change landed.'),
  promptId: Type.Optional(PromptId),
}

/** A review without its rows: what lists and the answers of Write and Edit carry. */
export const ReviewSummarySchema = strict(
  { ...reviewFacts, entries: arrayOf(strict(entryFacts), 'One entry, or two for a move.') },
  { title: 'ReviewSummary', description: 'A review without its rows.' },
)

export const ReviewAnswerSchema = strict(
  {
    ...reviewFacts,
    entries: arrayOf(strict({ ...entryFacts, hunks: arrayOf(HunkSchema, 'Hunks of the intended text.') })),
    ops: arrayOf(Type.String(), 'Op headers, verbatim; empty for Write.'),
    warnings: arrayOf(WarningSchema),
    resolutions: arrayOf(ResolutionSchema),
  },
  { title: 'Review' },
)

export const ReviewListAnswerSchema = strict(
  {
    reviews: arrayOf(ReviewSummarySchema, 'Newest first.'),
    nextCursor: Type.Optional(Type.String({ description: 'Give it as `cursor` for the next page.' })),
  },
  { title: 'ReviewList' },
)
