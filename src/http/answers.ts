/**
 * The `response` of a route's schema: its success with an example, and every refusal it can answer, grouped by status, each code with its example.
 *
 * Describes only; answers are not validated or reshaped by it. Called by the route files.
 */
import type { TSchema } from '@sinclair/typebox'
import type { Operation } from '../errors/problem.js'
import type { ErrorCode } from '../errors/table.js'
import { errors } from '../errors/table.js'
import { ProblemSchema } from '../schemas/problem.js'
import { problemExample } from './problem-examples.js'

export interface Success<S extends TSchema> {
  readonly schema: S
  readonly description: string
  /** Default `application/json`. */
  readonly mediaType?: string
  readonly examples: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>
}

type Schemas<R extends Readonly<Record<number, Success<TSchema>>>> = {
  [K in keyof R]: R[K] extends Success<infer S> ? S : never
}

/** What every route of the versioned API can answer. */
export const anyCall = [
  'INVALID_ARGUMENT',
  'UNAUTHORIZED',
  'RATE_LIMITED',
  'INTERNAL',
  'STORE_UNAVAILABLE',
  'OVERLOADED',
  'SHUTTING_DOWN',
  'TIMEOUT',
] as const
/** What a call in a session can answer besides: the caller's grant may have gone since. */
export const inSession = ['SESSION_NOT_FOUND', 'TOOL_DENIED'] as const
/** What a route with a body can answer besides. */
export const withBody = ['INVALID_ARGUMENT', 'UNSUPPORTED_MEDIA_TYPE', 'PAYLOAD_TOO_LARGE'] as const
/** What a call about a file can answer besides. */
export const aboutFile = ['TOOL_DENIED', 'PATH_OUTSIDE_WORKSPACE', 'NOT_FOUND', 'TOOL_FAILED'] as const
/** What a call that needs a file's text can answer besides. */
export const aboutText = ['FILE_TOO_LARGE', 'TOOL_BINARY_CONTENT', 'ENCODING_UNSUPPORTED'] as const

/** The type tells of successes only, so that a handler's answer is checked against them. */
export function answers<R extends Readonly<Record<number, Success<TSchema>>>>(
  operation: Operation,
  success: R,
  codes: readonly ErrorCode[],
): Schemas<R> {
  const response: Record<string, unknown> = {}
  for (const [status, { schema, description, mediaType = 'application/json', examples }] of Object.entries(success))
    response[status] = { description, content: { [mediaType]: { schema, examples } } }
  for (const [status, group] of byStatus(codes)) response[status] = refusals(operation, group)
  return response as Schemas<R>
}

function byStatus(codes: readonly ErrorCode[]): ReadonlyMap<number, readonly ErrorCode[]> {
  const groups = new Map<number, ErrorCode[]>()
  for (const code of new Set(codes)) {
    const { status } = errors[code]
    groups.set(status, [...(groups.get(status) ?? []), code])
  }
  return groups
}

function refusals(operation: Operation, codes: readonly ErrorCode[]): unknown {
  const examples = codes.map((code) => [code, { summary: errors[code].title, value: problemExample(code, operation) }])
  const retry = codes.some((code) => code === 'RATE_LIMITED' || errors[code].status === 503)
  return {
    description: codes.join(', '),
    ...(retry ? { headers: { 'retry-after': { type: 'integer', description: 'Seconds to wait.' } } } : {}),
    content: {
      'application/problem+json': { schema: ProblemSchema, examples: Object.fromEntries(examples) as unknown },
    },
  }
}
