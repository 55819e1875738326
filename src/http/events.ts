/**
 * The event stream of a session as server-sent events; it goes on after `Last-Event-ID` and ends with the session, the client or the process.
 *
 * A comment line every few seconds keeps idle connections open and shows a dead client. Called by app.
 */
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { PassThrough } from 'node:stream'
import { Type } from '@sinclair/typebox'
import type { Tools } from '../tools/tools.js'
import { anyCall, inSession, answers } from './answers.js'
import { EventHeaders, SessionParams } from './parameters.js'
import type { App } from './provider.js'
import { callOf } from './provider.js'

type StoredEvent = Awaited<ReturnType<Tools['events']>> extends AsyncIterable<infer E> ? E : never

const streamExample = [
  'retry: 2000',
  '',
  'id: 7',
  'event: edited',
  'data: {"workspace":"demo","path":"src/inventory.ts","tag":"6E06","ops":["PUT >23:"],"hunks":[],"resolutions":[],"warnings":[],"at":"2026-11-30T12:00:00.000Z"}',
  '',
  '',
].join('\n')

export interface EventOptions {
  readonly heartbeatMs: number
}

export function eventRoutes(app: App, tools: Tools, { heartbeatMs }: EventOptions): void {
  app.get(
    '/v1/sessions/:sessionId/events',
    {
      config: { stream: true },
      exposeHeadRoute: false,
      schema: {
        operationId: 'streamEvents',
        summary: 'Follow what happens in a session',
        description:
          'Server-sent events, without an end: follow them with `curl -N`, a page that waits for the whole answer shows nothing. Types: opened, read, searched, written, edited, refused, rolledBack, terminated, closed. Ids are consecutive; a stream goes on after `Last-Event-ID`. ' +
          'Every event has `workspace` and `at`. `written` and `edited` carry `path`, `ops` (headers, verbatim), `hunks` with `hunksTruncated`, `resolutions`, `warnings`, `additions`, `deletions`, ' +
          'tags and, where one was made, `reviewId`; `refused` carries `operation`, `code`, `detail` and `guard`; `terminated` carries `promptId`, `path` and `guard`; `rolledBack` carries `reviewId` and `paths`.',
        tags: ['Events'],
        params: SessionParams,
        headers: EventHeaders,
        produces: ['text/event-stream'],
        response: answers(
          'other',
          {
            200: {
              schema: Type.Unsafe<Readable>({ type: 'string' }),
              mediaType: 'text/event-stream',
              description: 'The stream.',
              examples: { example: { summary: 'One event', value: streamExample } },
            },
          },
          [...inSession, ...anyCall],
        ),
      },
    },
    async (request, reply) => {
      const call = callOf(request)
      const events = await tools.events(call, request.headers['last-event-id'])
      const stream = framed(events, heartbeatMs)
      return reply.type('text/event-stream; charset=utf-8').header('x-accel-buffering', 'no').send(stream)
    },
  )
}

/**
 * Frames of `text/event-stream`. Ends when the events do, which the call's signal makes them; a store that fails in between ends the stream too, and
 * the client comes back with the last id it has.
 */
function framed(events: AsyncIterable<StoredEvent>, heartbeatMs: number): Readable {
  const out = new PassThrough()
  const heartbeat = setInterval(() => {
    if (out.writableLength === 0) out.write(':\n\n')
  }, heartbeatMs)
  out.once('close', () => clearInterval(heartbeat))
  out.write('retry: 2000\n\n')
  void pump(events, out).then(
    () => out.end(),
    () => out.end(),
  )
  return out
}

async function pump(events: AsyncIterable<StoredEvent>, out: PassThrough): Promise<void> {
  for await (const event of events) {
    if (out.destroyed) return
    if (!out.write(frameOf(event))) await Promise.race([once(out, 'drain'), once(out, 'close')])
  }
}

/** `data` is one line of JSON, so no frame can be broken by what a file holds. */
const frameOf = ({ id, type, at, data }: StoredEvent): string =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ ...data, at: new Date(at).toISOString() })}\n\n`
