/**
 * What the HTTP layer may call: one function per operation, each a whole tool call.
 *
 * Requests arrive validated by their schemas; answers fit theirs. Functions that change files answer refusals as an Outcome, because a refusal may have to be
 * stored and replayed as well (reading §8.8); the others throw ToolError. Knows nothing of HTTP.
 */
import type { Access, StoredEvent } from '../sessions/store.js'
import type {
  EditRequest,
  FailureAnswer,
  FailureRequest,
  GrepAnswer,
  GrepRequest,
  ReadAnswer,
  ReadRequest,
  RegisterAnswer,
  RegisterListAnswer,
  RegisterSnapshotRequest,
  ReviewAnswer,
  ReviewListAnswer,
  SessionAnswer,
  SessionRequest,
  SnapshotAnswer,
  SnapshotListAnswer,
  SwitchRequest,
  WorkspaceListAnswer,
  WriteRequest,
} from '../schemas/operations.js'

/** Who calls: the tenant of the token and what it may open. Without tokens there is one tenant that may open everything. */
export interface Caller {
  readonly tenant: string
  /** Undefined: every workspace, read-write. */
  readonly grants?: ReadonlyMap<string, Access>
}

export interface Call {
  readonly caller: Caller
  readonly sessionId: string
  readonly requestId: string
  /** Aborts when the client is gone or a deadline has passed; honoured up to the rename, never after it. */
  readonly signal: AbortSignal
}

export interface MutationCall extends Call {
  readonly idempotencyKey?: string
}

/** An answer as it is sent: a success, or a problem document when `status` ≥ 400. */
export interface Outcome {
  readonly status: number
  readonly body: Record<string, unknown>
  /** The body is the stored answer of an earlier call with the same key. */
  readonly replayed: boolean
}

export interface Tools {
  createSession(caller: Caller, request: SessionRequest): Promise<SessionAnswer>
  getSession(call: Call): Promise<SessionAnswer>
  deleteSession(call: Call): Promise<void>
  switchWorkspace(call: Call, request: SwitchRequest): Promise<SessionAnswer>
  read(call: Call, request: ReadRequest): Promise<ReadAnswer>
  grep(call: Call, request: GrepRequest): Promise<GrepAnswer>
  write(call: MutationCall, request: WriteRequest): Promise<Outcome>
  edit(call: MutationCall, request: EditRequest): Promise<Outcome>
  listSnapshots(call: Call): Promise<SnapshotListAnswer>
  registerSnapshot(call: Call, request: RegisterSnapshotRequest): Promise<SnapshotAnswer>
  listRegisters(call: Call): Promise<RegisterListAnswer>
  getRegister(call: Call, name: string): Promise<RegisterAnswer>
  listReviews(call: Call, page: { readonly limit: number; readonly cursor?: string }): Promise<ReviewListAnswer>
  getReview(call: Call, reviewId: string): Promise<ReviewAnswer>
  rollback(call: MutationCall, reviewId: string): Promise<Outcome>
  reportFailure(call: Call, request: FailureRequest): Promise<FailureAnswer>
  events(call: Call, lastId: string | undefined): Promise<AsyncIterable<StoredEvent>>
  listWorkspaces(caller: Caller): Promise<WorkspaceListAnswer>
}
