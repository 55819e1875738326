/**
 * One span per request, around everything its handler does. Told nothing that identifies a caller, a session or a file.
 *
 * Knows no tracing library; src/tracing.ts implements the interface. Called by app, when an endpoint is configured.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { onDone } from './done.js'
import type { App } from './provider.js'

export interface RequestFacts {
  readonly operation: string
  readonly method: string
  /** The route's pattern, never the URL. */
  readonly route: string
  readonly status: number
  readonly code: string
}

export interface RequestSpan {
  /** Runs `work` so that spans begun by it, and by what it waits for, are parts of this one. */
  within(work: () => void): void
  end(facts: RequestFacts): void
}

export interface RequestTracing {
  /** The span continues a valid `traceparent`, and keeps to its decision about sampling. */
  begin(headers: IncomingHttpHeaders): RequestSpan
}

/** Probes and streams, which stay open, get no span. Needs the context hooks on the app. */
export function addTracing(app: App, tracing: RequestTracing, operationOf: (request: FastifyRequest) => string): void {
  const spans = new WeakMap<FastifyRequest, RequestSpan>()
  app.addHook('onRequest', (request, reply, done) => {
    const { config, url } = request.routeOptions
    if (config.probe === true || config.stream === true) {
      done()
      return
    }
    const span = tracing.begin(request.headers)
    spans.set(request, span)
    onDone(reply.raw, (sent) =>
      span.end({
        operation: operationOf(request),
        method: request.method,
        route: url ?? 'unknown',
        status: reply.statusCode,
        code: sent ? (request.state.code ?? 'OK') : 'CLIENT_GONE',
      }),
    )
    done()
  })
  // Only here, after the body has come: its last byte arrives in the context of the connection, not of the request.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request)
    if (span) span.within(done)
    else done()
  })
}
