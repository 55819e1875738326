/**
 * The types of an app whose routes take their types from TypeBox schemas, and what every request carries beside Fastify's own members.
 */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { TSchema } from '@sinclair/typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { Operation } from '../errors/problem.js'
import type { Part } from '../schemas/parts.js'
import type { Call, Caller } from '../tools/tools.js'

/** The TypeBox provider, but answers are readonly: handlers return what the tools answer, without a copy. */
export interface Provider extends TypeBoxTypeProvider {
  serializer: this['schema'] extends TSchema ? Part<this['schema']> : unknown
}

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  Provider
>

/** What one request is about; lives as long as it does. */
export interface RequestState {
  /** Trace id of a given traceparent, else the request id. */
  readonly traceId: string
  readonly startedAt: number
  caller?: Caller
  signal?: AbortSignal
  /** To be called when the handler's answer is made. */
  answered?: () => void
  /** Code of the refusal that was answered, for logs and metrics. */
  code?: string
}

declare module 'fastify' {
  interface FastifyRequest {
    state: RequestState
  }
  interface FastifyContextConfig {
    /** Which of the four tools the route is; decides the words of its refusals. */
    readonly tool?: Operation
    /** A stream that stays open: no deadline, no share of the concurrency bound. */
    readonly stream?: boolean
    /** Asked so often that its log line is of level debug. */
    readonly probe?: boolean
  }
}

/** The part of a request that every tool call needs. */
export interface CallSource {
  readonly state: RequestState
  readonly params: { readonly sessionId: string }
}

/**
 * The call that a request makes. The identity and deadline hooks have run on every route that has a session; an app that lacks them is a fault of
 * ours and throws.
 */
export function callOf({ state, params }: CallSource): Call {
  const { caller, signal } = state
  if (!caller || !signal) throw new Error('a session route without caller or signal')
  return { caller, sessionId: params.sessionId, requestId: state.traceId, signal }
}

export function callerOf({ state }: Pick<CallSource, 'state'>): Caller {
  if (!state.caller) throw new Error('a route without caller')
  return state.caller
}
