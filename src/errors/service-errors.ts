/**
 * The half of the error table that any operation may answer: requests, sessions, paths, files, the service itself.
 */
import type { Issue } from './entry.js'
import { entry } from './entry.js'

type DeniedReason =
  | 'read-only session'
  | 'read-only grant'
  | 'workspace not granted'
  | 'deny-read rule'
  | 'deny-write rule'
  | 'no permission on disk'
  | 'external root not approved'

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

export const serviceErrors = {
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
  /** `what`: default `media type`. */
  UNSUPPORTED_MEDIA_TYPE: entry<{ found: string; what?: 'media type' | 'content coding' | 'charset' }>({
    status: 415,
    retriable: false,
    title: 'Unsupported media type',
    detail: (p) => {
      switch (p.what ?? 'media type') {
        case 'media type':
          return `${p.found || 'a missing content type'} is not supported; send application/json`
        case 'content coding':
          return `a body with content-encoding ${p.found} is not supported; send the JSON uncompressed and without content-encoding`
        case 'charset':
          return `charset ${p.found || '(empty)'} is not supported; encode the JSON as UTF-8 and send application/json; charset=utf-8`
      }
    },
  }),
  CONFLICT: entry<{
    reason: 'destination exists' | 'changed since' | 'moved away' | 'appeared since' | 'not kept' | 'outcome unknown'
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
        case 'outcome unknown':
          return `an earlier call with this Idempotency-Key was cut short, and ${p.path} has changed since, so whether it had landed cannot be told; read the file and send what is still missing with a new key`
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
} as const
