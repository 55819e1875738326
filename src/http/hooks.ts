/**
 * What happens around every request, in this order: ids and headers; then, for the versioned API only, draining, the address's rate, identity, the
 * tenant's rate, bounded concurrency, the deadline. Afterwards one log line and one measurement.
 *
 * Refuses with the codes of the error table and decides nothing about files or sessions. Called by app.
 */
import type {} from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { IncomingMessage } from 'node:http'
import { ToolError } from '../errors/tool-error.js'
import { manyHosts, noHost, unknownExpectation } from '../errors/transport.js'
import type { Identify } from './identity.js'
import type { Lifecycle } from './lifecycle.js'
import type { HttpMetrics } from './metrics.js'
import { deadline } from './deadline.js'
import { onDone } from './done.js'
import { traceIdOf } from './trace.js'
import type { App } from './provider.js'

export interface AdmissionBounds {
  /** Calls at work at once; the next one is OVERLOADED. */
  readonly maxConcurrency: number
  /** Bytes of request bodies at work at once, as announced. */
  readonly maxInFlightBytes: number
  /** Event streams open at once. */
  readonly maxEventStreams: number
  /** Milliseconds after which a call is stopped. */
  readonly requestTimeoutMs: number
  /** Requests per minute; 0 is no bound. */
  readonly ratePerTenant: number
  readonly ratePerAddress: number
}

export interface HookDeps {
  readonly identify: Identify
  readonly bounds: AdmissionBounds
  readonly lifecycle: Lifecycle
  readonly metrics: HttpMetrics
}

const windowMs = 60_000

/** On every route, unknown ones included. */
export function addContext(app: App, { lifecycle, metrics }: Pick<HookDeps, 'lifecycle' | 'metrics'>): void {
  app.decorateRequest('state')
  app.addHook('onRequest', async (request, reply) => {
    request.state = { traceId: traceIdOf(request.headers) ?? request.id, startedAt: performance.now() }
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' })
    onDone(reply.raw, (sent) => finish(request, reply, metrics, sent))
    refuseBadHeaders(request.raw)
  })
  app.addHook('onSend', async (request, reply) => {
    request.state.answered?.()
    if (lifecycle.draining) reply.header('connection', 'close')
  })
}

/** What Node's server would answer itself, without a problem, or let pass; HTTP/1.0 knows neither header. */
function refuseBadHeaders({ headers, httpVersion, rawHeaders }: IncomingMessage): void {
  if (httpVersion !== '1.1') return
  if (headers.host === undefined) throw noHost()
  // Node keeps the first and drops the others, and a proxy in front may have taken another one for its rules.
  if (rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length > 1) throw manyHosts()
  const { expect } = headers
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') throw unknownExpectation(expect)
}

/** One line and one measurement per request; never a body, a token or a query. */
function finish(request: FastifyRequest, reply: FastifyReply, metrics: HttpMetrics, sent: boolean): void {
  const { state } = request
  const operation = operationOf(request)
  const code = sent ? (state.code ?? 'OK') : 'CLIENT_GONE'
  const ms = performance.now() - state.startedAt
  metrics.request(operation, code, ms / 1000)
  const level = request.routeOptions.config.probe === true ? 'debug' : 'info'
  request.log[level](
    {
      ...(state.traceId === request.id ? {} : { traceId: state.traceId }),
      tenant: state.caller?.tenant,
      session: sessionOf(request.params),
      operation,
      method: request.method,
      status: reply.statusCode,
      code,
      ms: Math.round(ms * 10) / 10,
    },
    'request',
  )
}

/** The word that logs, metrics and traces have for what was asked. */
export function operationOf(request: FastifyRequest): string {
  const { schema, url } = request.routeOptions
  const id: unknown = schema && 'operationId' in schema ? schema.operationId : undefined
  return typeof id === 'string' ? id : url === undefined ? 'unknownRoute' : 'page'
}

function sessionOf(params: unknown): string | undefined {
  if (typeof params !== 'object' || params === null || !('sessionId' in params)) return undefined
  return typeof params.sessionId === 'string' ? params.sessionId : undefined
}

/** On the versioned API. Needs the rate-limit plugin on the app. */
export function addAdmission(app: App, deps: HookDeps): void {
  const { bounds, lifecycle, identify } = deps
  const byAddress = limiter(app, bounds.ratePerAddress, (request) => request.ip)
  const byTenant = limiter(app, bounds.ratePerTenant, (request) => request.state.caller?.tenant ?? '')
  let streams = 0

  app.addHook('onRequest', async (request, reply) => {
    if (lifecycle.draining) throw new ToolError('SHUTTING_DOWN', {})
    await byAddress?.(request)
    request.state.caller = identify(request.headers.authorization)
    await byTenant?.(request)
    if (request.routeOptions.config.stream === true) {
      if (streams >= bounds.maxEventStreams) throw new ToolError('OVERLOADED', { what: 'event streams' })
      streams++
      reply.raw.once('close', () => streams--)
      request.state.signal = deadline(reply.raw, undefined, lifecycle.signal)
      return
    }
    enter(request, reply, bounds, lifecycle)
    request.state.signal = deadline(reply.raw, bounds.requestTimeoutMs)
  })
}

type Limit = (request: FastifyRequest) => Promise<void>

function limiter(app: App, max: number, keyGenerator: (request: FastifyRequest) => string): Limit | undefined {
  if (max === 0) return undefined
  const check = app.createRateLimit({ max, timeWindow: windowMs, keyGenerator })
  return async (request) => {
    const state = await check(request)
    if (!state.isAllowed && state.isExceeded)
      throw new ToolError('RATE_LIMITED', { what: 'requests', limit: max, retryAfterSeconds: state.ttlInSeconds })
  }
}

/** Takes a share of the bounds, given back when the answer was made and its connection is done with it. */
function enter(request: FastifyRequest, reply: FastifyReply, bounds: AdmissionBounds, lifecycle: Lifecycle): void {
  const bytes = announcedBytes(request)
  if (lifecycle.inFlight >= bounds.maxConcurrency) throw new ToolError('OVERLOADED', { what: 'calls' })
  if (lifecycle.inFlight > 0 && lifecycle.inFlightBytes + bytes > bounds.maxInFlightBytes)
    throw new ToolError('OVERLOADED', { what: 'large calls' })
  const leave = lifecycle.enter(bytes)
  let answered = false
  let closed = false
  const settle = (): void => {
    if (answered && closed) leave()
  }
  request.state.answered = () => {
    answered = true
    settle()
  }
  reply.raw.once('close', () => {
    closed = true
    settle()
  })
}

/** A body without a length may become as large as the route takes. */
function announcedBytes(request: FastifyRequest): number {
  const length = request.headers['content-length']
  if (length !== undefined) return Number(length) || 0
  return request.headers['transfer-encoding'] === undefined ? 0 : request.routeOptions.bodyLimit
}
