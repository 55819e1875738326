/**
 * Turns whatever goes wrong into a problem document: refusals of the tools, faults of a request that Fastify finds, unknown routes and methods,
 * bytes that are no HTTP, and faults of ours.
 *
 * Writes no message text; that stands in the error table. Called by app.
 */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '../errors/problem.js'
import { problemOf } from '../errors/problem.js'
import { isToolError, ToolError } from '../errors/tool-error.js'
import type { Outcome } from '../tools/tools.js'
import { badHttp, badRequest, slowRequest } from '../errors/transport.js'
import type { RouteTable } from './route-table.js'

export const problemType = 'application/problem+json; charset=utf-8'

/** Seconds after which a caller may try again, when the refusal itself does not say. */
const retrySeconds = 1

/** The refusal that an error stands for. Everything that nobody foresaw is INTERNAL. */
export function refusalOf(error: unknown, bodyBytes: number, contentType = ''): ToolError {
  if (isToolError(error)) return error
  const { code, statusCode } = detailsOf(error)
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ToolError('PAYLOAD_TOO_LARGE', { limitBytes: bodyBytes }, { cause: error })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ToolError('UNSUPPORTED_MEDIA_TYPE', { found: contentType.slice(0, 100) }, { cause: error })
    case 'FST_ERR_BAD_URL':
      return badRequest('url')
    default:
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return badRequest('request')
  return new ToolError('INTERNAL', {}, { cause: error })
}

function detailsOf(error: unknown): { code?: unknown; statusCode?: number } {
  if (!(error instanceof Error)) return {}
  const { code, statusCode } = error as Error & { code?: unknown; statusCode?: unknown }
  return { code, ...(typeof statusCode === 'number' ? { statusCode } : {}) }
}

/** Sends a refusal; the route's tool decides whether it speaks to a model and says that nothing was written. `extra`: further members. */
export function sendRefusal(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: ToolError,
  extra: Record<string, unknown> = {},
): FastifyReply {
  const operation: Operation = request.routeOptions.config.tool ?? 'other'
  request.state.code = refusal.code
  if (refusal.is('METHOD_NOT_ALLOWED')) reply.header('allow', refusal.params.allowed.join(', '))
  if (refusal.is('UNAUTHORIZED')) reply.header('www-authenticate', 'Bearer')
  if (refusal.is('UNSUPPORTED_MEDIA_TYPE') && refusal.params.what === 'content coding')
    reply.header('accept-encoding', 'identity')
  const retryAfter = retryAfterOf(refusal)
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  return reply
    .code(refusal.status)
    .type(problemType)
    .send({ ...problemOf(refusal, { traceId: request.state.traceId, operation, ...pathOf(request) }), ...extra })
}

function retryAfterOf(refusal: ToolError): number | undefined {
  if (refusal.is('RATE_LIMITED')) return Math.max(1, Math.ceil(refusal.params.retryAfterSeconds))
  return refusal.status === 503 ? retrySeconds : undefined
}

function pathOf(request: FastifyRequest): { path?: string } {
  const body: unknown = request.body
  if (typeof body !== 'object' || body === null || !('path' in body)) return {}
  return typeof body.path === 'string' ? { path: body.path } : {}
}

/** Sends what a mutation answered, success or refusal, as it is. */
export function sendOutcome(request: FastifyRequest, reply: FastifyReply, outcome: Outcome): FastifyReply {
  if (outcome.status >= 400) {
    reply.type(problemType)
    if (typeof outcome.body['code'] === 'string') request.state.code = outcome.body['code']
    if (outcome.status === 503 || outcome.status === 429) reply.header('retry-after', retrySeconds)
  }
  if (outcome.replayed) reply.header('idempotent-replayed', 'true')
  return reply.code(outcome.status).send(outcome.body)
}

/**
 * What a URL without a handler is: a method that its path does not take, or no route at all. A page's handler may find nothing itself, at a path and
 * method that the table knows.
 */
export function noRoute(request: FastifyRequest, routes: RouteTable): ToolError {
  const path = request.url.split('?', 1)[0] ?? request.url
  const allowed = routes.methodsOf(path)
  return allowed.length > 0 && !allowed.includes(request.method)
    ? new ToolError('METHOD_NOT_ALLOWED', { method: request.method, allowed })
    : new ToolError('NOT_FOUND', { what: 'route', name: `${request.method} ${path.slice(0, 200)}` })
}

/** Answers bytes that are no request; there is no request object yet. Closes the connection. */
export function answerBadHttp(
  error: Error & { code?: string },
  socket: Socket,
  requestId: string,
  receiveTimeoutMs: number,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const refusal = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? slowRequest(receiveTimeoutMs) : badHttp(error.code ?? '')
  const body = JSON.stringify(problemOf(refusal, { traceId: requestId, operation: 'other' }))
  socket.end(
    [
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`,
      `content-type: ${problemType}`,
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
