/**
 * Builds the HTTP service from its parts: the same in production and in tests.
 *
 * Everything it needs is an argument; it opens no file, reads no environment and listens nowhere. Called by main, by openapi and by the tests.
 */
import cors from '@fastify/cors'
import rateLimit from '@fastify/rate-limit'
import type { FastifyBaseLogger } from 'fastify'
import fastify, { LogController } from 'fastify'
import type { IncomingMessage } from 'node:http'
import { addBodyRules, addJsonParser } from './http/body.js'
import { definitionRoutes } from './http/definitions.js'
import { addDocument, docsRoutes } from './http/docs.js'
import { eventRoutes } from './http/events.js'
import type { Checks } from './http/health.js'
import { healthRoutes } from './http/health.js'
import type { AdmissionBounds } from './http/hooks.js'
import { addAdmission, addContext, operationOf } from './http/hooks.js'
import type { TokenGrant } from './http/identity.js'
import { identity } from './http/identity.js'
import type { Lifecycle } from './http/lifecycle.js'
import type { HttpMetrics } from './http/metrics.js'
import { smallBodyBytes } from './http/parameters.js'
import { answerBadHttp, noRoute, refusalOf, sendRefusal } from './http/problems.js'
import type { App, Provider } from './http/provider.js'
import { recordRoutes } from './http/records.js'
import { reviewRoutes } from './http/reviews.js'
import { RouteTable } from './http/route-table.js'
import { sessionRoutes } from './http/sessions.js'
import { toolRoutes } from './http/tools.js'
import { requestIdOf } from './http/trace.js'
import type { RequestTracing } from './http/tracing.js'
import { addTracing } from './http/tracing.js'
import { validatorCompiler } from './http/validation.js'
import type { Tools } from './tools/tools.js'

export interface AppOptions extends AdmissionBounds {
  readonly tokens: readonly TokenGrant[]
  /** Bytes of the largest body; only Write takes that much. */
  readonly maxBodyBytes: number
  /** Milliseconds within which a request must have arrived. */
  readonly receiveTimeoutMs: number
  readonly heartbeatMs: number
  /** Origins that browsers may call from; none turns CORS off. */
  readonly corsOrigins: readonly string[]
  /** Proxies whose X-Forwarded-For is believed: addresses or ranges. */
  readonly trustProxy: readonly string[]
  readonly exposeMetrics: boolean
  readonly docs: boolean
}

export interface AppDeps {
  readonly tools: Tools
  readonly options: AppOptions
  readonly lifecycle: Lifecycle
  readonly metrics: HttpMetrics
  readonly checks: () => Promise<Checks>
  /** Undefined: no log. */
  readonly logger?: FastifyBaseLogger
  /** Undefined: no traces. */
  readonly tracing?: RequestTracing
}

/** Bytes of all request headers; Node answers larger ones itself. */
const maxHeaderBytes = 16_384
/** Milliseconds within which the headers of a request must have arrived. */
const headersTimeoutMs = 10_000
/** Milliseconds without a byte after which a connection is cut; longer than any call may take. */
const silenceMs = 180_000
/** Milliseconds between two looks for idle connections while closing. */
const idleLookMs = 50

export async function buildApp(deps: AppDeps): Promise<App> {
  const { tools, options, lifecycle, metrics, checks } = deps
  const app = createServer(deps)
  const routes = new RouteTable()
  app.setValidatorCompiler(validatorCompiler())
  app.setSerializerCompiler(() => JSON.stringify)
  app.addHook('onRoute', (route) => routes.add(route.url, route.method))
  addJsonParser(app)
  addContext(app, { lifecycle, metrics })
  if (deps.tracing) addTracing(app, deps.tracing, operationOf)
  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error, request.routeOptions.bodyLimit, request.headers['content-type'])
    if (refusal.is('INTERNAL')) request.log.error({ err: error }, 'a fault of this service')
    return sendRefusal(request, reply, refusal)
  })
  app.setNotFoundHandler((request, reply) => sendRefusal(request, reply, noRoute(request, routes)))

  if (options.corsOrigins.length > 0)
    await app.register(cors, {
      origin: [...options.corsOrigins],
      exposedHeaders: ['x-request-id', 'retry-after', 'idempotent-replayed'],
      maxAge: 600,
    })
  await app.register(rateLimit, { global: false })
  await addDocument(app)
  healthRoutes(app, { lifecycle, checks, ...(options.exposeMetrics ? { metrics } : {}) })
  await app.register(async (api: App) => {
    addAdmission(api, { identify: identity(options.tokens), bounds: options, lifecycle, metrics })
    addBodyRules(api)
    sessionRoutes(api, tools)
    toolRoutes(api, tools, { bodyBytes: options.maxBodyBytes })
    recordRoutes(api, tools)
    reviewRoutes(api, tools)
    eventRoutes(api, tools, { heartbeatMs: options.heartbeatMs })
    definitionRoutes(api)
  })
  if (options.docs) await docsRoutes(app)
  closeIdleConnections(app)
  answerExpectations(app)
  return app
}

/** A connection that becomes idle only after closing began would otherwise keep the server open until its keep-alive ends. */
function closeIdleConnections(app: App): void {
  let timer: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    timer = setInterval(() => app.server.closeIdleConnections(), idleLookMs)
  })
  app.addHook('onClose', async () => clearInterval(timer))
}

/** Node answers an expectation that it does not know with a bare 417; here it becomes a request like any other, which the first hook refuses. */
function answerExpectations(app: App): void {
  const { server } = app
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

function createServer({ options, logger }: AppDeps): App {
  return fastify({
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    requestIdHeader: false,
    genReqId: (request: IncomingMessage) => requestIdOf(request.headers),
    bodyLimit: Math.min(options.maxBodyBytes, smallBodyBytes),
    // An id of any length is the tool's to answer; the bound on headers is the bound on the URL.
    routerOptions: { maxParamLength: maxHeaderBytes },
    trustProxy: options.trustProxy.length === 0 ? false : [...options.trustProxy],
    requestTimeout: options.receiveTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    connectionTimeout: silenceMs,
    http: {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: Math.min(headersTimeoutMs, options.receiveTimeoutMs),
      connectionsCheckingInterval: 1_000,
      // Node would answer with a bare 400; the first hook refuses such a request with a problem.
      requireHostHeader: false,
    },
    frameworkErrors: (error, request, reply) => {
      request.state = { traceId: request.id, startedAt: performance.now() }
      void reply.header('x-request-id', request.id)
      void sendRefusal(request, reply, refusalOf(error, options.maxBodyBytes))
    },
    clientErrorHandler(error, socket) {
      answerBadHttp(error, socket, requestIdOf({}), options.receiveTimeoutMs)
    },
  }).withTypeProvider<Provider>()
}
