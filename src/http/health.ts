/**
 * Probes and metrics. They need no token, take no share of the concurrency bound, and show no path, session or tenant.
 *
 * `/livez` says that the process answers; `/readyz` asks whatever a call needs, and is false from the first signal on.
 */
import { Type } from '@sinclair/typebox'
import { ToolError } from '../errors/tool-error.js'
import { oneOf, strict } from '../schemas/parts.js'
import { answers } from './answers.js'
import type { Lifecycle } from './lifecycle.js'
import type { HttpMetrics } from './metrics.js'
import { sendRefusal } from './problems.js'
import type { App } from './provider.js'

/** What a call needs, and whether it is there. */
export type Check = 'ok' | 'starting' | 'failed'
export type Checks = Readonly<Record<'store' | 'workspaces' | 'grammars', Check>>

export interface HealthDeps {
  readonly lifecycle: Lifecycle
  /** Undefined: no /metrics. */
  readonly metrics?: HttpMetrics
  /** Never throws. */
  readonly checks: () => Promise<Checks>
}

const LiveAnswer = strict({ status: Type.Literal('ok') }, { title: 'Liveness' })
const CheckWord = oneOf(['ok', 'starting', 'failed'])
const ReadyAnswer = strict(
  {
    status: Type.Literal('ready'),
    checks: strict({ store: CheckWord, workspaces: CheckWord, grammars: CheckWord }),
  },
  { title: 'Readiness' },
)
const ready = { status: 'ready', checks: { store: 'ok', workspaces: 'ok', grammars: 'ok' } }

export function healthRoutes(app: App, { lifecycle, metrics, checks }: HealthDeps): void {
  app.get(
    '/livez',
    {
      config: { probe: true },
      schema: {
        operationId: 'livez',
        summary: 'Does the process answer',
        tags: ['Health'],
        response: answers(
          'other',
          {
            200: {
              schema: LiveAnswer,
              description: 'It does.',
              examples: { example: { summary: 'Alive', value: { status: 'ok' } } },
            },
          },
          ['INVALID_ARGUMENT', 'INTERNAL'],
        ),
      },
    },
    async () => ({ status: 'ok' as const }),
  )

  app.get(
    '/readyz',
    {
      config: { probe: true },
      schema: {
        operationId: 'readyz',
        summary: 'Can the process take calls',
        tags: ['Health'],
        response: answers(
          'other',
          {
            200: {
              schema: ReadyAnswer,
              description: 'It can.',
              examples: { example: { summary: 'Ready', value: ready } },
            },
          },
          ['INVALID_ARGUMENT', 'STORE_UNAVAILABLE', 'SHUTTING_DOWN', 'OVERLOADED', 'TOOL_FAILED', 'INTERNAL'],
        ),
      },
    },
    async (request, reply) => {
      const found = await checks()
      const refusal = notReady(lifecycle.draining, found)
      if (refusal) return sendRefusal(request, reply, refusal, { checks: found })
      return { status: 'ready' as const, checks: found }
    },
  )

  if (!metrics) return
  app.get(
    '/metrics',
    {
      config: { probe: true },
      schema: {
        operationId: 'metrics',
        summary: 'Figures for Prometheus',
        tags: ['Health'],
        produces: ['text/plain'],
        response: answers(
          'other',
          {
            200: {
              schema: Type.String(),
              mediaType: 'text/plain',
              description: 'Text exposition format.',
              examples: {
                example: { summary: 'One series', value: 'anchorline_requests_total{operation="edit",code="OK"} 12\n' },
              },
            },
          },
          ['INVALID_ARGUMENT', 'INTERNAL'],
        ),
      },
    },
    async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()),
  )
}

/** The first reason why calls would fail, or undefined when none would. */
function notReady(draining: boolean, { store, workspaces, grammars }: Checks): ToolError | undefined {
  if (draining) return new ToolError('SHUTTING_DOWN', {})
  if (store !== 'ok') return new ToolError('STORE_UNAVAILABLE', {})
  if (workspaces !== 'ok') return new ToolError('TOOL_FAILED', { path: 'WORKSPACES_DIR', cause: 'cannot be written' })
  if (grammars === 'starting') return new ToolError('OVERLOADED', { what: 'start-up steps' })
  return grammars === 'failed' ? new ToolError('INTERNAL', {}) : undefined
}
