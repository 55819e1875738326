/**
 * The store contract: everything the service remembers about a session (contract §4, §7.5, §9.3, §13.1; reading §2, §8.1–8.8).
 *
 * Two implementations keep it to the letter: memory (one process) and Redis (any number of replicas); one conformance suite runs on both. Every step that
 * must be atomic is one call. A store never decides about edits, never touches a file and never recreates what was dropped: calls carry the
 * session's epoch, and a call with an old one is answered `gone`, or with nothing where there is no such word. Any call may throw ToolError STORE_UNAVAILABLE; the memory store never does.
 * All bounds are enforced here. Times are milliseconds of the injected clock. Called by tools.
 */
import type { Warning } from '../errors/warnings.js'
import type { Hunk } from '../text/hunks.js'
import type { Seen } from '../text/line-set.js'

// — sessions —

export type Access = 'read-write' | 'read-only'

export interface NewSession {
  readonly sessionId: string
  readonly tenant: string
  readonly workspace: string
  readonly access: Access
  readonly externalRoots: readonly string[]
  readonly ttlSeconds: number
  readonly label?: string
}

export interface Session extends NewSession {
  readonly createdAt: number
  readonly expiresAt: number
  /** Grows on workspace switch; a dropped or expired session has none, and its id is never used again (reading §8.1). */
  readonly epoch: number
}

/** Which session, and which life of it, a call speaks about. */
export interface SessionRef {
  readonly sessionId: string
  readonly epoch: number
}

export interface Usage {
  readonly paths: number
  readonly versions: number
  readonly retainedBytes: number
  readonly registers: number
}

// — snapshots —

export interface VersionFacts {
  readonly tag: string
  readonly versionDigest: string
  readonly textDigest: string
  /** Plain bytes of the LF text. */
  readonly bytes: number
  readonly totalLines: number
}

export interface Version extends VersionFacts {
  readonly seen: Seen
  readonly recordedAt: number
  /** False when the text is not kept: over the retention bound, or evicted. */
  readonly retained: boolean
}

/** A version to record. `text` is called only when the store does not have it (same textDigest), and gives exactly `bytes` bytes. */
export interface Recording {
  readonly path: string
  readonly facts: VersionFacts
  readonly seen: Seen
  readonly text: () => Uint8Array
}

/** `search` may never evict a path that anything else recorded (reading §2.10). */
export type Recorder = 'display' | 'search'

export type RecordAnswer = 'recorded' | 'noRoom' | 'gone'

export interface SnapshotEntry extends Version {
  readonly path: string
}

// — registers —

export interface RegisterContent {
  readonly name: string
  /** Lines without terminators. */
  readonly lines: readonly string[]
  readonly bytes: number
  readonly updatedAt: number
}

export type RegisterSummary = Omit<RegisterContent, 'lines'> & { readonly lineCount: number }

// — reviews —

export interface ReviewEntry {
  readonly path: string
  readonly status: 'added' | 'modified' | 'deleted'
  readonly additions: number
  readonly deletions: number
  readonly hunks: readonly Hunk[]
  readonly truncated: boolean
  /** False when what a rollback needs is not kept; then for all entries of the review. */
  readonly reversible: boolean
  /** byteDigests; absent where no file was. */
  readonly beforeDigest?: string
  readonly afterDigest?: string
}

export interface Resolution {
  readonly anchorLine: number
  readonly start: number
  readonly end: number
  readonly op: 'cut' | 'replace' | 'insertAfter'
}

export interface Review {
  readonly reviewId: string
  readonly operation: 'write' | 'edit' | 'delete' | 'move'
  readonly state: 'active' | 'rolledBack'
  readonly createdAt: number
  readonly promptId?: string
  readonly entries: readonly ReviewEntry[]
  readonly ops: readonly string[]
  readonly warnings: readonly Warning[]
  readonly resolutions: readonly Resolution[]
}

/** What a rollback needs beside the evidence, one per entry of the review and in its order; kept within the bounds of reading §8 and never shown. */
export interface ReviewRestore {
  readonly canonical: string
  readonly root: 'workspace' | 'scratch' | 'external'
  /** Bytes to put back; absent for a file that did not exist, and for one whose bytes are not kept. */
  readonly before?: Uint8Array
  readonly mode?: number
  readonly owner?: { readonly uid: number; readonly gid: number }
  /** Folders that the call created, outermost first. */
  readonly createdParents: readonly string[]
}

export interface StoredReview {
  readonly review: Review
  readonly workspace: string
  readonly restore: readonly ReviewRestore[]
}

/** A review and where it belongs. */
export interface ListedReview extends Review {
  readonly workspace: string
}

export interface ReviewPage {
  readonly reviews: readonly ListedReview[]
  readonly nextCursor?: string
}

// — idempotency (reading §8.8) —

export interface Answer {
  readonly status: number
  /** The JSON body as it was sent. */
  readonly body: string
}

export type Claim =
  | { readonly status: 'mine' }
  | { readonly status: 'answered'; readonly answer: Answer }
  | { readonly status: 'reused' }
  | { readonly status: 'busy' }

// — the repeat guard (contract §9.3) —

export interface GuardCount {
  /** Counted failures so far; 0 on a grace. */
  readonly attempt: number
  readonly grace: boolean
}

// — events —

export const eventTypes = [
  'opened',
  'read',
  'searched',
  'written',
  'edited',
  'refused',
  'rolledBack',
  'terminated',
  'closed',
] as const

export interface NewEvent {
  readonly type: (typeof eventTypes)[number]
  readonly data: Record<string, unknown>
}

export interface StoredEvent extends NewEvent {
  readonly id: string
  readonly at: number
}

// — permits and intent (reading §8.3–8.5) —

/**
 * What commit will publish, staged before the rename so that a crash after it loses nothing. `files` tell by byteDigest whether it landed: absent means
 * that no file is there. Everything is JSON but the texts.
 */
export interface Intent {
  readonly intentId: string
  readonly files: readonly IntentFile[]
  readonly recordings: readonly Recording[]
  /** Paths whose history goes, before the recordings come (REM, MV, rollback). */
  readonly forget: readonly string[]
  /** Histories that change their path, replacing what stood there (reading §2.11); after `forget`, before the recordings. */
  readonly moves?: readonly { readonly from: string; readonly to: string }[]
  readonly registers: readonly { readonly name: string; readonly lines: readonly string[] }[]
  readonly review?: StoredReview
  /** A review whose state becomes rolledBack. */
  readonly rolledBack?: string
  readonly answer?: { readonly key: string; readonly answer: Answer }
  /** The prompt whose failures on the path are forgiven. */
  readonly clearGuard?: { readonly promptId: string; readonly path: string }
  readonly events: readonly NewEvent[]
}

export interface IntentFile {
  readonly path: string
  readonly before?: string
  readonly after?: string
}

/** An intent that its owner never committed. Its recordings carry no text: whoever settles it knows the live bytes. */
export interface Leftover {
  readonly ref: SessionRef
  readonly intent: Pick<Intent, 'intentId' | 'files' | 'answer'>
}

export interface Wanted {
  /** Canonical paths whose permits are needed, beside the session's. */
  readonly files: readonly string[]
  /** Canonical paths whose history the call needs, read under the permit. */
  readonly histories: readonly string[]
}

export type Begun =
  | {
      readonly status: 'held'
      readonly permit: Permit
      readonly histories: ReadonlyMap<string, readonly Version[]>
      readonly leftovers: readonly Leftover[]
    }
  | { readonly status: 'busy'; readonly waitedMs: number }
  | { readonly status: 'gone' }

/**
 * Permits of one session and its files under one random owner token, with leases that the store renews until the permit ends. Ends by commit or release, once;
 * later calls do nothing.
 */
export interface Permit {
  readonly token: string
  /** True while the lease has more than the margin left by the monotonic clock, as far as this process knows. */
  readonly fresh: () => boolean
}

export interface Store {
  // sessions
  /** `full`: the tenant has `maxPerTenant` sessions open. */
  create(session: NewSession, maxPerTenant: number): Promise<Session | 'full'>
  /** The session, or undefined when there is none; `slide` makes its TTL start anew. */
  open(sessionId: string, slide: boolean): Promise<Session | undefined>
  /** `open` with slide and `claim` as one wave; undefined, and nothing is claimed or slid, when there is no such session or it is not that tenant's. */
  openAndClaim(
    sessionId: string,
    key: string,
    requestDigest: string,
    waitMs: number,
    tenant?: string,
  ): Promise<{ readonly session: Session; readonly claim: Claim } | undefined>
  /** True when there was one. Bumps the epoch first, so that calls in flight are `gone`. */
  drop(sessionId: string): Promise<boolean>
  /** Drops snapshots, registers and guard counters, bumps the epoch. */
  switchWorkspace(ref: SessionRef, workspace: string): Promise<Session | undefined>
  usage(ref: SessionRef): Promise<Usage>

  // snapshots
  /** Retained versions of a path, newest first. Refreshes no recency. */
  history(ref: SessionRef, path: string): Promise<readonly Version[]>
  /**
   * Read fusion (contract §4.2): same text → promoted, seen lines united, else a new head. Refreshes the path's recency, then evicts (contract §4.4): paths
   * that only searches recorded first, then the coldest. A search that finds no room for its text is recorded without it.
   */
  record(ref: SessionRef, recording: Recording, by: Recorder): Promise<RecordAnswer>
  /** Several at once, in order; one wave. */
  recordAll(ref: SessionRef, recordings: readonly Recording[], by: Recorder): Promise<readonly RecordAnswer[]>
  /** The LF text of a version, when it is still kept. Reading is use and keeps the text from eviction, unless `peek`. */
  text(ref: SessionRef, textDigest: string, peek?: boolean): Promise<Uint8Array | undefined>
  snapshots(ref: SessionRef): Promise<readonly SnapshotEntry[]>
  /** Canonical paths that retain a version with this tag and basename (contract §9.2), sorted. */
  pathsWith(ref: SessionRef, basename: string, tag: string): Promise<readonly string[]>

  // registers
  /** Reading is use and keeps the register from eviction, unless `peek`. */
  register(ref: SessionRef, name: string, peek?: boolean): Promise<RegisterContent | undefined>
  registers(ref: SessionRef): Promise<readonly RegisterSummary[]>

  // mutation
  /**
   * Waits at most `waitMs` for the session's permit and then the files' in key order, fair among waiters. Rejects with the signal's reason when it aborts
   * first; nothing is held then.
   */
  begin(ref: SessionRef, wanted: Wanted, waitMs: number, signal?: AbortSignal): Promise<Begun>
  /**
   * Stages the intent and confirms that every permit still holds this token with enough lease, in one step right before the rename; so does the claim of
   * `answer.key`. Staging again replaces. A register beyond its bounds is a RangeError: whoever captures checks first (contract §12).
   */
  stage(permit: Permit, intent: Intent): Promise<'staged' | 'lost' | 'gone'>
  /**
   * Publishes the staged intent and ends the permit. `gone`: nothing was published, because the session ended or the store lost what was staged. When it throws,
   * the intent stays behind for whoever takes the permits next; a release after it discards nothing.
   */
  commit(permit: Permit): Promise<'recorded' | 'gone'>
  /** Ends the permit and discards what it staged. Never throws; a store that cannot be reached lets the lease run out. */
  release(permit: Permit): Promise<void>
  /**
   * Publishes a leftover that landed or discards it. `texts` gives the LF text that lies on disk at a path, so that its recordings have texts. Needs the permit
   * that `begin` returned it with, and comes before anything is staged under it. `absent`: somebody else has settled it, this call did nothing and `landed` is not
   * what became of it.
   */
  settle(
    permit: Permit,
    leftover: Leftover,
    landed: boolean,
    texts: (path: string) => Uint8Array | undefined,
  ): Promise<'settled' | 'absent'>

  // idempotency
  /** `mine` obliges the caller to answer, to commit an answer or to unclaim. Waits for a concurrent duplicate at most `waitMs`. */
  claim(ref: SessionRef, key: string, requestDigest: string, waitMs: number): Promise<Claim>
  /**
   * Stores a refusal, or any answer that no intent carries. Gives the answer that stands: another one when an earlier call with the key turned out to have landed
   * meanwhile.
   */
  answer(ref: SessionRef, key: string, answer: Answer): Promise<Answer>
  /** Gives a claim back whose answer is not stored (reading §8.8). */
  unclaim(ref: SessionRef, key: string): Promise<void>

  // guard
  countFailure(ref: SessionRef, promptId: string, path: string, code: string, hasGrace: boolean): Promise<GuardCount>

  // reviews
  /** True when bytes to restore are not too many to be kept at all. */
  keeps(before: Uint8Array): Promise<boolean>
  review(ref: SessionRef, reviewId: string): Promise<StoredReview | undefined>
  /** Newest first; empty when the session is gone. A cursor that this store did not make is undefined. */
  reviews(ref: SessionRef, limit: number, cursor?: string): Promise<ReviewPage | undefined>

  // events
  append(ref: SessionRef, event: NewEvent): Promise<void>
  /**
   * Retained events after `lastId` (all of them without one, or when it is none of ours), then live ones until the signal or the end of the session; a workspace
   * switch ends nothing. Ids are consecutive integers, so that a reader can tell a gap.
   */
  events(ref: SessionRef, lastId: string | undefined, signal: AbortSignal): AsyncIterable<StoredEvent>

  /** True when the store answers now. */
  ping(): Promise<boolean>
  close(): Promise<void>
}
