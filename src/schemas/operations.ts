/**
 * The types of every request and answer, taken from the schemas that validate them. Used by tools and http; holds no value.
 */
import type { ErrorCode } from '../errors/table.js'
import type { Part } from './parts.js'
import type { ProblemSchema } from './problem.js'
import type * as records from './records.js'
import type * as reviews from './reviews.js'
import type * as sessions from './sessions.js'
import type * as tools from './tools.js'

export type SessionRequest = Part<typeof sessions.SessionRequestSchema>
export type SwitchRequest = Part<typeof sessions.SwitchRequestSchema>
export type SessionLimits = Part<typeof sessions.SessionLimitsSchema>
export type SessionAnswer = Part<typeof sessions.SessionAnswerSchema>
export type WorkspaceListAnswer = Part<typeof sessions.WorkspaceListAnswerSchema>

export type ReadRequest = Part<typeof tools.ReadRequestSchema>
export type ReadAnswer = Part<typeof tools.ReadAnswerSchema>
export type GrepRequest = Part<typeof tools.GrepRequestSchema>
export type GrepContentAnswer = Part<typeof tools.GrepContentAnswerSchema>
export type GrepFilesAnswer = Part<typeof tools.GrepFilesAnswerSchema>
export type GrepCountAnswer = Part<typeof tools.GrepCountAnswerSchema>
export type GrepAnswer = Part<typeof tools.GrepAnswerSchema>
export type WriteRequest = Part<typeof tools.WriteRequestSchema>
export type WriteAnswer = Part<typeof tools.WriteAnswerSchema>
export type EditRequest = Part<typeof tools.EditRequestSchema>
export type EditAnswer = Part<typeof tools.EditAnswerSchema>

export type SnapshotListAnswer = Part<typeof records.SnapshotListAnswerSchema>
export type RegisterSnapshotRequest = Part<typeof records.RegisterSnapshotRequestSchema>
export type SnapshotAnswer = Part<typeof records.SnapshotAnswerSchema>
export type RegisterListAnswer = Part<typeof records.RegisterListAnswerSchema>
export type RegisterAnswer = Part<typeof records.RegisterAnswerSchema>
export type Guard = Part<typeof records.GuardSchema>
export type FailureRequest = Part<typeof records.FailureRequestSchema>
export type FailureAnswer = Part<typeof records.FailureAnswerSchema>

export type ReviewSummary = Part<typeof reviews.ReviewSummarySchema>
export type ReviewAnswer = Part<typeof reviews.ReviewAnswerSchema>
export type ReviewListAnswer = Part<typeof reviews.ReviewListAnswerSchema>

export type Problem = Part<typeof ProblemSchema> & { readonly code: ErrorCode }
