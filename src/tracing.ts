/**
 * OpenTelemetry: spans of requests and of what the tools do, sent as OTLP over HTTP to a collector.
 *
 * The only module that knows the SDK; loaded when an endpoint is configured and not otherwise. Sending never delays a call, and what cannot be sent is dropped.
 * Called by main.
 */
import type { Context, Span, Tracer as OtelTracer } from '@opentelemetry/api'
import {
  context,
  diag,
  DiagLogLevel,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { isToolError } from './errors/tool-error.js'
import type { RequestTracing } from './http/tracing.js'
import type { ToolLog } from './tools/deps.js'
import type { Tracer } from './tools/tracer.js'

export interface Tracing {
  readonly tracer: Tracer
  readonly requests: RequestTracing
  /** Sends what is left, for at most a few seconds. */
  close(): Promise<void>
}

/** Milliseconds that one attempt to send may take; the process ends no later for it. */
const sendTimeoutMs = 2_000

/** `endpoint`: base URL of a collector. */
export function startTracing(endpoint: string, log: ToolLog): Tracing {
  logFailures(log)
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: sendTimeoutMs,
  })
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': 'anchorline' })),
    spanProcessors: [new BatchSpanProcessor(exporter, { exportTimeoutMillis: sendTimeoutMs })],
  })
  // For the propagation of contexts; spans are made by this tracer alone.
  provider.register()
  const tracer = provider.getTracer('anchorline')
  return {
    tracer: { span: (name, work) => spanOf(tracer, name, work) },
    requests: { begin: (headers) => requestSpan(tracer, propagation.extract(ROOT_CONTEXT, headers)) },
    async close() {
      await provider.shutdown().catch((error: unknown) => log.warn({ err: error }, 'the last traces were not sent'))
    },
  }
}

function logFailures(log: ToolLog): void {
  const warn = (message: string, ...rest: readonly unknown[]): void =>
    log.warn({ message, cause: rest.map(String).join(' ') }, 'traces were not sent')
  const quiet = (): void => undefined
  diag.setLogger({ error: warn, warn: quiet, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.ERROR)
}

function requestSpan(tracer: OtelTracer, parent: Context): ReturnType<RequestTracing['begin']> {
  const request = tracer.startSpan('request', { kind: SpanKind.SERVER }, parent)
  const inside = trace.setSpan(parent, request)
  return {
    within: (work) => context.with(inside, work),
    end({ operation, method, route, status, code }) {
      request.updateName(operation)
      request.setAttributes({
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        'anchorline.code': code,
      })
      if (status >= 500) request.setStatus({ code: SpanStatusCode.ERROR })
      request.end()
    },
  }
}

function spanOf<T>(tracer: OtelTracer, name: string, work: () => T): T {
  if (trace.getActiveSpan() === undefined) return work()
  return tracer.startActiveSpan(name, (part) => {
    let answer: T
    try {
      answer = work()
    } catch (error) {
      fail(part, error)
      throw error
    }
    if (answer instanceof Promise)
      answer.then(
        () => part.end(),
        (error: unknown) => fail(part, error),
      )
    else part.end()
    return answer
  })
}

/** A refusal is told by its code; messages hold paths and lines of files, so none is sent. */
function fail(part: Span, error: unknown): void {
  part.setAttribute('anchorline.code', isToolError(error) ? error.code : 'INTERNAL')
  if (!isToolError(error) || error.status >= 500) part.setStatus({ code: SpanStatusCode.ERROR })
  part.end()
}
