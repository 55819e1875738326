/**
 * The closed table of everything the service refuses: code → status, title, retriable, the detail sentence and the public fields.
 *
 * No message text stands at a throw site; a throw names a code and its parameters. The OpenAPI enum and the documentation are
 * compared with this table in a test. Says nothing about HTTP bodies: `http/problem.ts` renders these entries.
 */
import type { LineRow } from '../text/rows.js'
import type { DeclineReason } from './declines.js'
import { declineText } from './declines.js'
import type { BlockReason } from './blocks.js'
import { blockReasonText } from './blocks.js'
import type { ParseProblem } from './parse-problems.js'
import { parseProblemText } from './parse-problems.js'
import type { RepairTie } from './repair-ties.js'
import { repairTieText } from './repair-ties.js'
import { clipText, quoteText } from './clip.js'

export interface Issue {
  readonly path: string
  readonly message: string
}

/** What a refusal hands back so that the honest retry needs no Read (reading §3.6). */
export interface RevealFields {
  readonly liveTag?: string
  readonly lines: readonly LineRow[]
  readonly revealComplete: boolean
  /** The range to read when the reveal is not complete: first and last line. */
  readonly readRange?: { readonly start: number; readonly end: number }
}

export interface LineSpan {
  readonly start: number
  readonly end: number
}

type DeniedReason =
  | 'read-only session'
  | 'read-only grant'
  | 'workspace not granted'
  | 'deny-read rule'
  | 'deny-write rule'
  | 'no permission on disk'
  | 'external root not approved'

interface Entry<P> {
  readonly status: number
  readonly retriable: boolean
  readonly title: string
  readonly detail: (params: P) => string
  /** Public members of the problem document beside the common ones. */
  readonly fields?: (params: P) => Record<string, unknown>
}

const entry = <P>(e: Entry<P>): Entry<P> => e
const at = (span: LineSpan): string =>
  span.start === span.end ? `line ${span.start}` : `lines ${span.start}-${span.end}`
const readHint = (range: LineSpan): string =>
  `Read it with offset ${range.start} and limit ${range.end - range.start + 1}`
const retryAfterReveal = (p: RevealFields, retry: string): string =>
  p.revealComplete
    ? `${retry}; no Read is needed`
    : p.readRange
      ? `${readHint(p.readRange)}, then retry with the tag it returns`
      : 'Read the file, then retry with the tag it returns'
const revealOf = (p: RevealFields): Record<string, unknown> => ({
  ...(p.liveTag === undefined ? {} : { liveTag: p.liveTag }),
  lines: p.lines,
  revealComplete: p.revealComplete,
})

const deniedText: Record<DeniedReason, string> = {
  'read-only session': 'this session is read-only; open a session with access "read-write" to change files',
  'read-only grant': 'your token may only read this workspace; ask the operator for a read-write grant',
  'workspace not granted': 'your token has no grant for this workspace; GET /v1/workspaces lists those it may open',
  'deny-read rule': 'a DENY_READ rule of the operator covers this path; choose another file',
  'deny-write rule': 'a DENY_WRITE rule of the operator covers this path; choose another file',
  'no permission on disk':
    'the service has no permission on disk for this file; ask the operator or choose another file',
  'external root not approved':
    'an external root must lie inside the EXTERNAL_ROOTS of the operator; leave it out or ask the operator',
}

export const errors = {
  INVALID_ARGUMENT: entry<{ issues: readonly Issue[]; totalLines?: number; limitBytes?: number }>({
    status: 400,
    retriable: false,
    title: 'The request is not valid',
    detail: (p) => p.issues.map((i) => (i.path === '' ? i.message : `${i.path}: ${i.message}`)).join('; '),
    fields: (p) => ({
      issues: p.issues,
      ...(p.totalLines === undefined ? {} : { totalLines: p.totalLines }),
      ...(p.limitBytes === undefined ? {} : { limitBytes: p.limitBytes }),
    }),
  }),
  UNAUTHORIZED: entry<Record<string, never>>({
    status: 401,
    retriable: false,
    title: 'A valid token is required',
    detail: () => 'the request carries no valid token; send Authorization: Bearer <token>',
  }),
  TOOL_DENIED: entry<{ reason: DeniedReason; path?: string }>({
    status: 403,
    retriable: false,
    title: 'The operation is not allowed',
    detail: (p) => (p.path === undefined ? deniedText[p.reason] : `${p.path}: ${deniedText[p.reason]}`),
  }),
  PATH_OUTSIDE_WORKSPACE: entry<{ path: string }>({
    status: 403,
    retriable: false,
    title: 'The path leads outside the workspace',
    detail: (p) => `${p.path} leads outside the roots of this session; use a path relative to the workspace root`,
  }),
  SESSION_NOT_FOUND: entry<Record<string, never>>({
    status: 404,
    retriable: false,
    title: 'No such session',
    detail: () => 'this session is unknown or has ended; open a new one with POST /v1/sessions and read the file again',
  }),
  NOT_FOUND: entry<{
    what: 'file' | 'route' | 'workspace' | 'review' | 'register'
    name: string
    suggestions?: readonly string[]
  }>({
    status: 404,
    retriable: false,
    title: 'Not found',
    detail: (p) => {
      const near = p.suggestions && p.suggestions.length > 0 ? `; near names: ${p.suggestions.join(', ')}` : ''
      switch (p.what) {
        case 'file':
          return `${p.name} does not exist${near || '; check the path with Grep, or create the file with Write'}`
        case 'route':
          return `${p.name} is no route of this service; /docs lists them`
        case 'workspace':
          return `workspace ${p.name} does not exist${near || '; GET /v1/workspaces lists those you may open'}`
        case 'review':
          return `review ${p.name} does not exist in this session; GET the reviews of the session for those it has`
        case 'register':
          return `register @${p.name} is not set in this session; CUT with @${p.name} fills it`
      }
    },
    fields: (p) => (p.suggestions ? { suggestions: p.suggestions } : {}),
  }),
  METHOD_NOT_ALLOWED: entry<{ method: string; allowed: readonly string[] }>({
    status: 405,
    retriable: false,
    title: 'Method not allowed',
    detail: (p) => `${p.method} is not allowed here; use ${p.allowed.join(' or ')}`,
  }),
  UNSUPPORTED_MEDIA_TYPE: entry<{ found: string }>({
    status: 415,
    retriable: false,
    title: 'Unsupported media type',
    detail: (p) => `${p.found || 'a missing content type'} is not supported; send application/json`,
  }),
  CONFLICT: entry<{
    reason: 'destination exists' | 'changed since' | 'moved away' | 'appeared since' | 'not kept'
    path: string
  }>({
    status: 409,
    retriable: false,
    title: 'Conflict',
    detail: (p) => {
      switch (p.reason) {
        case 'destination exists':
          return `${p.path} exists already; choose another destination, or remove it first`
        case 'changed since':
          return `${p.path} has changed since this review, rolling back would lose that change; read it and edit it instead`
        case 'moved away':
          return `${p.path} no longer exists, so this review cannot be rolled back; write the file instead`
        case 'not kept':
          return `the bytes of ${p.path} before this review are no longer kept, so it cannot be rolled back; edit the file instead`
        case 'appeared since':
          return `${p.path} exists again, rolling back would overwrite it; move it away first`
      }
    },
  }),
  MUTATION_IN_PROGRESS: entry<{ path: string; waitedMs: number }>({
    status: 409,
    retriable: true,
    title: 'Another mutation is in progress',
    detail: (p) =>
      `another call is changing ${p.path} or using this session, and ${p.waitedMs} ms of waiting were not enough; send the same call again`,
  }),
  PAYLOAD_TOO_LARGE: entry<{ limitBytes: number }>({
    status: 413,
    retriable: false,
    title: 'The request body is too large',
    detail: (p) => `the request body is larger than ${p.limitBytes} bytes; send a smaller one`,
    fields: (p) => ({ limitBytes: p.limitBytes }),
  }),
  FILE_TOO_LARGE: entry<{ path: string; bytes: number; limitBytes: number }>({
    status: 413,
    retriable: false,
    title: 'The file is too large',
    detail: (p) =>
      `${p.path} has ${p.bytes} bytes, the limit of this operation is ${p.limitBytes}; work on a smaller file, or ask the operator to raise the limit`,
    fields: (p) => ({ limitBytes: p.limitBytes }),
  }),
  TOOL_BINARY_CONTENT: entry<{ path: string; offset: number }>({
    status: 415,
    retriable: false,
    title: 'The file is binary',
    detail: (p) => `${p.path} holds a NUL byte at offset ${p.offset} and is not text; choose a text file`,
    fields: (p) => ({ offset: p.offset }),
  }),
  ENCODING_UNSUPPORTED: entry<{ path: string; offset: number; encoding?: string }>({
    status: 415,
    retriable: false,
    title: 'The file is not valid UTF-8',
    detail: (p) =>
      p.encoding === undefined
        ? `${p.path} is not valid UTF-8 at byte offset ${p.offset}; convert it to UTF-8 outside this service first`
        : `${p.path} is ${p.encoding}, not UTF-8; convert it to UTF-8 outside this service first`,
    fields: (p) => ({ offset: p.offset, ...(p.encoding === undefined ? {} : { encoding: p.encoding }) }),
  }),
  IDEMPOTENCY_KEY_REUSED: entry<Record<string, never>>({
    status: 422,
    retriable: false,
    title: 'The idempotency key belongs to another request',
    detail: () => 'this Idempotency-Key was used with another request; send a new key with a new request',
  }),
  RATE_LIMITED: entry<{ what: 'requests' | 'sessions'; limit: number; retryAfterSeconds: number }>({
    status: 429,
    retriable: true,
    title: 'Too many requests',
    detail: (p) =>
      p.what === 'sessions'
        ? `${p.limit} sessions are open, which is the limit; delete one, or wait ${p.retryAfterSeconds} s`
        : `more than ${p.limit} requests in the window; wait ${p.retryAfterSeconds} s and send the call again`,
    fields: () => ({}),
  }),
  TOOL_FAILED: entry<{ path: string; cause: string }>({
    status: 500,
    retriable: false,
    title: 'The file system refused',
    detail: (p) => `${p.path}: ${p.cause}; ask the operator to look at the volume`,
  }),
  INTERNAL: entry<Record<string, never>>({
    status: 500,
    retriable: false,
    title: 'A fault of this service',
    detail: () => 'this is a fault of the service; report it with the traceId',
  }),
  STORE_UNAVAILABLE: entry<Record<string, never>>({
    status: 503,
    retriable: true,
    title: 'The session store is unavailable',
    detail: () => 'the session store does not answer; send the same call again in a moment',
  }),
  OVERLOADED: entry<{ what: string }>({
    status: 503,
    retriable: true,
    title: 'The service is overloaded',
    detail: (p) => `too many ${p.what} are running; send the same call again in a moment`,
  }),
  SHUTTING_DOWN: entry<Record<string, never>>({
    status: 503,
    retriable: true,
    title: 'The service is shutting down',
    detail: () => 'this instance is shutting down; send the same call again, another instance takes it',
  }),
  TIMEOUT: entry<{ afterMs: number; hint: string }>({
    status: 504,
    retriable: true,
    title: 'The deadline has passed',
    detail: (p) => `the work was stopped after ${p.afterMs} ms; ${p.hint}`,
  }),
  EDIT_TAG_REQUIRED: entry<{ found?: string }>({
    status: 400,
    retriable: false,
    title: 'A tag is required',
    detail: (p) =>
      `${p.found === undefined ? 'tag is missing' : `tag ${JSON.stringify(clipText(p.found, 40))} is not a tag`}; a tag is the 4 hex digits behind # in the header of the last Read, Grep, Write or Edit of this file, for example A1B2`,
  }),
  /** `suggestion` is the corrected text of that row; `example`, where the correction is not known, a worked one. */
  EDIT_PARSE_FAILED: entry<{
    opsLine: number
    found: string
    problem: ParseProblem
    suggestion?: string
    example?: string
  }>({
    status: 400,
    retriable: false,
    title: 'The ops do not parse',
    detail: (p) => {
      const fault = `row ${p.opsLine} of ops: ${parseProblemText(p.problem)}; found ${JSON.stringify(quoteText(p.found, 80))}`
      if (p.suggestion !== undefined) return `${fault}; write ${p.suggestion}`
      return p.example === undefined ? fault : `${fault}; for example ${p.example}`
    },
    fields: (p) => {
      const suggestion = p.suggestion ?? p.example
      return {
        opsLine: p.opsLine,
        found: clipText(p.found, 200),
        ...(suggestion === undefined ? {} : { suggestion }),
      }
    },
  }),
  EDIT_TAG_MISMATCH: entry<RevealFields & { expectedTag: string; anchors: readonly number[]; reason: DeclineReason }>({
    status: 409,
    retriable: true,
    title: 'The tag does not match the file',
    detail: (p) =>
      p.liveTag === undefined
        ? `tag ${p.expectedTag} names a version, but ${declineText(p.reason)}; leave the tag out to create the file`
        : `the file is at #${p.liveTag}, not #${p.expectedTag}, and ${declineText(p.reason)}; ${retryAfterReveal(p, `correct the numbers to the rows shown here and retry with tag ${p.liveTag}`)}`,
    fields: (p) => ({ ...revealOf(p), expectedTag: p.expectedTag, anchors: p.anchors, reason: declineText(p.reason) }),
  }),
  EDIT_TAG_UNKNOWN: entry<RevealFields & { expectedTag: string; anchors: readonly number[]; reason: DeclineReason }>({
    status: 409,
    retriable: true,
    title: 'The tag is unknown to this session',
    detail: (p) =>
      `tag ${p.expectedTag} was not issued to this session for this file (tags are never made up or borrowed); ${retryAfterReveal(p, `check the rows shown here and retry with tag ${p.liveTag ?? ''}`)}`,
    fields: (p) => ({ ...revealOf(p), expectedTag: p.expectedTag, anchors: p.anchors, reason: declineText(p.reason) }),
  }),
  WRITE_STALE: entry<RevealFields & { expectedTag?: string; anchors: readonly number[]; reason: DeclineReason }>({
    status: 409,
    retriable: true,
    title: 'The file has changed since it was last seen',
    detail: (p) =>
      `${declineText(p.reason)}; look at the rows shown here, then write again with tag ${p.liveTag ?? ''} to overwrite, or edit the changed lines`,
    fields: (p) => ({
      ...revealOf(p),
      ...(p.expectedTag === undefined ? {} : { expectedTag: p.expectedTag }),
      anchors: p.anchors,
      reason: declineText(p.reason),
    }),
  }),
  EDIT_LINES_UNSEEN: entry<RevealFields & { unseen: readonly LineSpan[] }>({
    status: 409,
    retriable: true,
    title: 'The edit names lines that were never shown',
    detail: (p) =>
      `${p.unseen.slice(0, 5).map(at).join(', ')}${p.unseen.length > 5 ? ' and more' : ''} ${p.unseen.length === 1 && p.unseen[0]?.start === p.unseen[0]?.end ? 'was' : 'were'} not shown to this session; ${retryAfterReveal(p, 'check the rows shown here and send the same call again')}`,
    fields: (p) => ({ ...revealOf(p), unseen: p.unseen }),
  }),
  EDIT_RANGE_INVALID: entry<{
    problem: 'reversed' | 'out of bounds' | 'number too long' | 'conflict' | 'past the end gap' | 'empty file'
    opsLine: number
    line?: number
    totalLines?: number
    ops?: readonly [string, string]
    suggestion?: string
  }>({
    status: 422,
    retriable: false,
    title: 'A range is not valid',
    detail: (p) => {
      const next = p.suggestion === undefined ? '' : `; ${p.suggestion}`
      switch (p.problem) {
        case 'reversed':
          return `row ${p.opsLine} of ops: the range ends before it starts${next}`
        case 'out of bounds':
          return `row ${p.opsLine} of ops: line ${p.line ?? 0} does not exist, the file has ${p.totalLines ?? 0} lines${next}`
        case 'number too long':
          return `row ${p.opsLine} of ops: a line number has at most 7 digits${next || '; use the numbers that Read shows'}`
        case 'past the end gap':
          return `row ${p.opsLine} of ops: there is no line ${p.line ?? 0} to insert before, the file has ${p.totalLines ?? 0} lines${next}`
        case 'empty file':
          return `row ${p.opsLine} of ops: line ${p.line ?? 0} does not exist, the file is empty${next}`
        case 'conflict':
          return `"${p.ops?.[0] ?? ''}" and "${p.ops?.[1] ?? ''}" touch the same lines or the same gap${next || '; put both changes into one op'}`
      }
    },
    fields: (p) => ({
      opsLine: p.opsLine,
      ...(p.line === undefined ? {} : { line: p.line }),
      ...(p.totalLines === undefined ? {} : { totalLines: p.totalLines }),
      ...(p.ops === undefined ? {} : { ops: p.ops }),
      ...(p.suggestion === undefined ? {} : { suggestion: p.suggestion }),
    }),
  }),
  EDIT_BLOCK_UNRESOLVED: entry<{
    opsLine: number
    line: number
    reason: BlockReason
    suggestion: string
    enclosing?: LineSpan
  }>({
    status: 422,
    retriable: false,
    title: 'No block opens at this line',
    detail: (p) =>
      `line ${p.line}: ${blockReasonText(p.reason)}${p.enclosing === undefined ? '' : `; the enclosing construct is ${at(p.enclosing)}`}; use ${p.suggestion}`,
    fields: (p) => ({
      opsLine: p.opsLine,
      line: p.line,
      reason: p.reason.kind,
      suggestion: p.suggestion,
      ...(p.enclosing === undefined ? {} : { enclosing: p.enclosing }),
      ...('errorLine' in p.reason ? { errorLine: p.reason.errorLine } : {}),
    }),
  }),
  EDIT_REGISTER_EMPTY: entry<{ opsLine: number; register: string; known: readonly string[] }>({
    status: 422,
    retriable: false,
    title: 'The register is empty',
    detail: (p) =>
      `row ${p.opsLine} of ops: ${p.register === '' ? 'nothing was cut above this paste in this call' : `register @${p.register} holds nothing, neither from above in this call nor from this session`}; ${p.known.length === 0 ? 'this session has no registers, CUT the lines first' : `this session has ${p.known.map((k) => `@${k}`).join(', ')}`}`,
    fields: (p) => ({ register: p.register, known: p.known }),
  }),
  EDIT_REGISTER_AMBIGUOUS: entry<{ opsLine: number; captures: number; known: readonly string[] }>({
    status: 422,
    retriable: false,
    title: 'The paste has more than one source',
    detail: (p) =>
      `row ${p.opsLine} of ops: ${p.captures} anonymous CUTs above are not pasted yet, so this paste could mean any of them; name them, for example CUT 5.=7 @a and PUT >9 @a`,
    fields: (p) => ({ register: '', known: p.known }),
  }),
  EDIT_REPAIR_AMBIGUOUS: entry<{
    opsLine: number
    problem?: RepairTie
    candidates: readonly { readonly label: string; readonly rows: readonly LineRow[] }[]
    suggestion: string
  }>({
    status: 422,
    retriable: false,
    title: 'The replacement has more than one reading',
    detail: (p) =>
      `row ${p.opsLine} of ops: ${repairTieText[p.problem ?? 'restated']}; ${p.candidates.length} readings are equally good; use ${p.suggestion}`,
    fields: (p) => ({ candidates: p.candidates, suggestion: p.suggestion }),
  }),
  EDIT_NO_CHANGE: entry<{ path: string; tag: string }>({
    status: 422,
    retriable: false,
    title: 'The edit changes nothing',
    detail: (p) =>
      `${p.path} at #${p.tag} already holds exactly this text; go on with the next change, or send rows that differ`,
  }),
  EDIT_AMPLIFICATION_LIMIT: entry<{ limit: number }>({
    status: 422,
    retriable: false,
    title: 'The edit expands to too many lines',
    detail: (p) => `the ops insert and delete more than ${p.limit} lines together; split the change into several calls`,
    fields: (p) => ({ limit: p.limit }),
  }),
} as const

export type ErrorCode = keyof typeof errors
export type ErrorParams<C extends ErrorCode> = Parameters<(typeof errors)[C]['detail']>[0]
export const errorCodes = Object.keys(errors) as readonly ErrorCode[]
