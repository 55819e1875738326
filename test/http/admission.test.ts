/**
 * Who may call, how much at once and for how long: identity, rates, concurrency, deadlines, draining, readiness, event streams.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Agent, get, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { ToolError } from '../../src/errors/tool-error.js'
import type { Checks } from '../../src/http/health.js'
import type { App } from '../../src/http/provider.js'
import type { StoredEvent } from '../../src/sessions/store.js'
import type { Call } from '../../src/tools/tools.js'
import { appUnderTest } from './app-under-test.js'
import { callIn } from './stub-tools.js'

const sha256 = (token: string): string => createHash('sha256').update(token).digest('hex')
const codeOf = (answer: { json(): unknown }): string => (answer.json() as { code: string }).code
const read = { method: 'POST' as const, url: '/v1/sessions/s1/read', payload: { path: 'a' } }

/** A promise and what settles it. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

async function listening(app: App): Promise<string> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
}

t.test('without tokens everybody is the local tenant', async (t) => {
  const { app, stub } = await appUnderTest(t)
  t.equal((await app.inject({ url: '/v1/workspaces' })).statusCode, 200)
  t.same(stub.calls[0]!.args[0], { tenant: 'local' })
})

t.test('with tokens a call needs one that is known, and is its tenant', async (t) => {
  const grants = new Map([['demo', 'read-only' as const]])
  const tokens = [
    { sha256: sha256('alpha'), tenant: 'a', grants },
    { sha256: sha256('beta'), tenant: 'b' },
  ]
  const { app, stub } = await appUnderTest(t, { tokens })
  const call = (authorization?: string) =>
    app.inject({ url: '/v1/workspaces', ...(authorization === undefined ? {} : { headers: { authorization } }) })
  for (const wrong of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic alpha',
    'alpha',
    'Bearer alph',
    'Bearer alpha beta',
    `Bearer ${sha256('alpha')}`,
  ]) {
    const answer = await call(wrong)
    t.equal(answer.statusCode, 401, String(wrong))
    t.equal(codeOf(answer), 'UNAUTHORIZED')
    t.equal(answer.headers['www-authenticate'], 'Bearer')
  }
  t.same(stub.calls, [])
  t.equal((await call('Bearer alpha')).statusCode, 200)
  t.same(stub.calls.at(-1)!.args[0], { tenant: 'a', grants })
  t.equal((await call('bearer  beta')).statusCode, 200)
  t.same(stub.calls.at(-1)!.args[0], { tenant: 'b' })
  for (const url of ['/livez', '/readyz', '/openapi.json', '/docs/'])
    t.equal((await app.inject({ url })).statusCode, 200, `${url} needs none`)
})

t.test('identity comes before the body is looked at', async (t) => {
  const { app } = await appUnderTest(t, { tokens: [{ sha256: sha256('alpha'), tenant: 'a' }] })
  t.equal((await app.inject({ ...read, payload: { typo: 1 } })).statusCode, 401)
})

t.test('rates are bounded per tenant and per address, and say when to come back', async (t) => {
  const tokens = ['alpha', 'beta'].map((token) => ({ sha256: sha256(token), tenant: token }))
  const { app } = await appUnderTest(t, { tokens, ratePerTenant: 3, ratePerAddress: 8 })
  const call = (token: string) => app.inject({ url: '/v1/workspaces', headers: { authorization: `Bearer ${token}` } })
  for (let i = 0; i < 3; i++) t.equal((await call('alpha')).statusCode, 200)
  const refused = await call('alpha')
  t.equal(refused.statusCode, 429)
  t.equal(codeOf(refused), 'RATE_LIMITED')
  t.ok(Number(refused.headers['retry-after']) >= 1 && Number(refused.headers['retry-after']) <= 60)
  t.equal((await call('beta')).statusCode, 200, 'another tenant is not held back')
  for (let i = 0; i < 3; i++) t.equal((await call('wrong')).statusCode, 401)
  t.equal((await call('wrong')).statusCode, 429, 'guessing tokens is bounded by address')
  t.equal((await app.inject({ url: '/livez' })).statusCode, 200)
})

t.test('more calls than the bound are OVERLOADED, and the bound is free again afterwards', async (t) => {
  const { app, stub, lifecycle } = await appUnderTest(t, { maxConcurrency: 2 })
  const { opened, open } = gate()
  stub.set('read', async () => {
    await opened
    throw new ToolError('SESSION_NOT_FOUND', {})
  })
  const held = [app.inject(read), app.inject(read)]
  while (lifecycle.inFlight < 2) await sleep(5)
  const refused = await app.inject(read)
  t.equal(refused.statusCode, 503)
  t.equal(codeOf(refused), 'OVERLOADED')
  t.equal(refused.headers['retry-after'], '1')
  t.equal((await app.inject({ url: '/livez' })).statusCode, 200, 'probes are no calls')
  open()
  for (const answer of held) t.equal((await answer).statusCode, 404)
  while (lifecycle.inFlight > 0) await sleep(5)
  t.equal((await app.inject({ url: '/v1/workspaces' })).statusCode, 200)
})

t.test('bodies at work are bounded in bytes', async (t) => {
  const { app, stub, lifecycle } = await appUnderTest(t, { maxInFlightBytes: 1_000 })
  const { opened, open } = gate()
  stub.set('write', async () => {
    await opened
    return { status: 200, body: {}, replayed: false }
  })
  const write = (content: string) =>
    app.inject({ method: 'POST', url: '/v1/sessions/s1/write', payload: { path: 'a', content } })
  const first = write('x'.repeat(2_000))
  while (lifecycle.inFlight < 1) await sleep(5)
  t.equal(codeOf(await write('x'.repeat(2_000))), 'OVERLOADED')
  open()
  t.equal((await first).statusCode, 200, 'one call alone may be as large as it likes')
  while (lifecycle.inFlight > 0) await sleep(5)
  t.equal(lifecycle.inFlightBytes, 0)
})

t.test('past the deadline the signal of a call aborts with TIMEOUT', async (t) => {
  const { app, stub } = await appUnderTest(t, { requestTimeoutMs: 100 })
  stub.set('grep', async ({ signal }: Call) => {
    await once(signal, 'abort')
    signal.throwIfAborted()
    throw new Error('unreachable')
  })
  const answer = await app.inject({ method: 'POST', url: '/v1/sessions/s1/grep', payload: { pattern: 'a' } })
  t.equal(answer.statusCode, 504)
  t.equal(codeOf(answer), 'TIMEOUT')
})

t.test('a call whose work ended in time is not disturbed by its deadline', async (t) => {
  const { app, stub } = await appUnderTest(t, { requestTimeoutMs: 100 })
  await app.inject(read)
  await sleep(200)
  t.notOk(callIn(stub).signal.aborted)
})

t.test('a client that leaves aborts the signal; its work counts until it is done', async (t) => {
  const { app, stub, lifecycle } = await appUnderTest(t)
  const { opened, open } = gate()
  stub.set('edit', async () => {
    await opened
    return { status: 200, body: {}, replayed: false }
  })
  const base = await listening(app)
  const client = httpRequest(`${base}/v1/sessions/s1/edit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  })
  client.on('error', () => undefined)
  client.end(JSON.stringify({ path: 'a', ops: 'x' }))
  while (stub.calls.length < 1) await sleep(5)
  const { signal } = callIn(stub)
  t.notOk(signal.aborted)
  client.destroy()
  if (!signal.aborted) await once(signal, 'abort')
  t.ok(signal.reason instanceof ToolError && signal.reason.is('TIMEOUT'))
  t.equal(lifecycle.inFlight, 1, 'the handler has not ended')
  open()
  await lifecycle.idle()
  t.equal(lifecycle.inFlight, 0)
  const metrics = await app.inject({ url: '/metrics' })
  t.match(metrics.body, /anchorline_requests_total\{operation="edit",code="CLIENT_GONE"\} 1/)
})

t.test('a client that leaves in the middle of its body gives its share back', async (t) => {
  const { app, stub, lifecycle } = await appUnderTest(t)
  const base = await listening(app)
  const client = httpRequest(`${base}/v1/sessions/s1/write`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': '1000' },
  })
  client.on('error', () => undefined)
  client.write('{"path":')
  while (lifecycle.inFlight < 1) await sleep(5)
  client.destroy()
  await lifecycle.idle()
  t.equal(lifecycle.inFlight, 0)
  t.same(stub.calls, [])
})

t.test('a request that does not arrive in time is answered with a problem, and gives its share back', async (t) => {
  const { app, stub, lifecycle } = await appUnderTest(t, { receiveTimeoutMs: 1_000 })
  const { port } = new URL(await listening(app))
  for (const head of [
    'POST /v1/sessions/s1/write HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
    'GET /livez HTTP/1.1\r\nhost:',
  ]) {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(head))
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await once(socket, 'close')
    t.match(text, /^HTTP\/1\.1 400 Bad Request\r\ncontent-type: application\/problem\+json/)
    t.match(text, /"code":"INVALID_ARGUMENT"/)
  }
  await lifecycle.idle()
  t.same(stub.calls, [])
})

t.test('while draining new calls are refused, those in flight finish, and connections close', async (t) => {
  const { app, stub, lifecycle } = await appUnderTest(t)
  const { opened, open } = gate()
  const answer = { status: 200, body: { landed: true }, replayed: false }
  stub.set('edit', async () => {
    await opened
    return answer
  })
  const base = await listening(app)
  const agent = new Agent({ keepAlive: true })
  const post = (path: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' }
      const client = httpRequest(base + path, { method: 'POST', agent, headers }, resolve)
      client.on('error', reject)
      client.end(JSON.stringify({ path: 'a', ops: 'x' }))
    })
  const inFlight = post('/v1/sessions/s1/edit')
  while (lifecycle.inFlight < 1) await sleep(5)
  lifecycle.drain()
  t.match(await app.inject({ url: '/readyz' }), { statusCode: 503, headers: { 'content-type': /problem\+json/ } })
  t.equal((await app.inject({ url: '/livez' })).statusCode, 200)
  const refused = await post('/v1/sessions/s1/edit')
  refused.resume()
  t.equal(refused.statusCode, 503)
  t.equal(refused.headers['connection'], 'close')
  t.equal(refused.headers['retry-after'], '1')
  const started = performance.now()
  open()
  const finished = await inFlight
  t.equal(finished.statusCode, 200)
  t.equal(finished.headers['connection'], 'close')
  finished.resume()
  await lifecycle.idle()
  await app.close()
  t.ok(performance.now() - started < 5_000, 'no kept-alive connection holds the close up')
  agent.destroy()
})

t.test('a connection that was answered before draining and kept alive does not hold the close up', async (t) => {
  const { app } = await appUnderTest(t)
  const base = await listening(app)
  const agent = new Agent({ keepAlive: true })
  const [answer] = (await once(get(`${base}/livez`, { agent }), 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
  const started = performance.now()
  await app.close()
  t.ok(performance.now() - started < 5_000)
  agent.destroy()
})

t.test('readiness names the first thing that calls would fail on, as a problem', async (t) => {
  const fine: Checks = { store: 'ok', workspaces: 'ok', grammars: 'ok' }
  const cases: [Partial<Checks>, number, string][] = [
    [{ store: 'failed' }, 503, 'STORE_UNAVAILABLE'],
    [{ workspaces: 'failed' }, 500, 'TOOL_FAILED'],
    [{ grammars: 'starting' }, 503, 'OVERLOADED'],
    [{ grammars: 'failed' }, 500, 'INTERNAL'],
  ]
  for (const [broken, status, code] of cases) {
    const checks = { ...fine, ...broken }
    const { app } = await appUnderTest(t, {}, { checks: async () => checks })
    const answer = await app.inject({ url: '/readyz' })
    t.equal(answer.statusCode, status)
    t.match(answer.json(), { code, checks })
  }
})

// — events —

async function* endless(events: readonly StoredEvent[], signal: AbortSignal): AsyncGenerator<StoredEvent> {
  yield* events
  if (!signal.aborted) await once(signal, 'abort')
}

const event = (id: string, data: Record<string, unknown>): StoredEvent => ({
  id,
  at: Date.UTC(2026, 10, 30, 12),
  type: 'edited',
  data,
})

function follow(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ answer: IncomingMessage; text: () => string }> {
  return new Promise((resolve, reject) => {
    const client = get(url, { headers }, (answer) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.on('error', () => undefined)
      resolve({ answer, text: () => text })
    })
    client.on('error', reject)
  })
}

t.test('events are server-sent events, go on after the last id, and stay open with heartbeats', async (t) => {
  const { app, stub, lifecycle } = await appUnderTest(t, { heartbeatMs: 20 })
  stub.set('events', async ({ signal }) => endless([event('7', { path: 'a\n\nid: 9', tag: 'A1B2' })], signal))
  const base = await listening(app)
  const { answer, text } = await follow(`${base}/v1/sessions/s1/events`, { 'last-event-id': '6' })
  t.equal(answer.statusCode, 200)
  t.match(answer.headers['content-type'], /^text\/event-stream/)
  t.equal(stub.calls[0]!.args[1], '6')
  while (!text().includes(':\n\n:\n\n')) await sleep(10)
  t.ok(
    text().startsWith(
      'retry: 2000\n\nid: 7\nevent: edited\ndata: {"path":"a\\n\\nid: 9","tag":"A1B2","at":"2026-11-30T12:00:00.000Z"}\n\n',
    ),
    text(),
  )
  t.equal(lifecycle.inFlight, 0, 'a stream takes no share of the concurrency bound')
  lifecycle.drain()
  await once(answer, 'end')
})

t.test('a client that leaves its event stream ends the events', async (t) => {
  const { app, stub } = await appUnderTest(t, { maxEventStreams: 1 })
  stub.set('events', async ({ signal }) => endless([], signal))
  const base = await listening(app)
  const { answer } = await follow(`${base}/v1/sessions/s1/events`)
  const second = await follow(`${base}/v1/sessions/s1/events`)
  t.equal(second.answer.statusCode, 503, 'streams are bounded')
  answer.destroy()
  const { signal } = callIn(stub)
  if (!signal.aborted) await once(signal, 'abort')
  let third = await follow(`${base}/v1/sessions/s1/events`)
  for (let i = 0; i < 50 && third.answer.statusCode === 503; i++) {
    await sleep(20)
    third = await follow(`${base}/v1/sessions/s1/events`)
  }
  t.equal(third.answer.statusCode, 200)
  third.answer.destroy()
})

t.test('a stream of a session that does not exist is a problem, one that breaks simply ends', async (t) => {
  const { app, stub } = await appUnderTest(t)
  t.equal(codeOf(await app.inject({ url: '/v1/sessions/none/events' })), 'SESSION_NOT_FOUND')
  stub.set('events', async () =>
    (async function* () {
      yield event('1', {})
      throw new ToolError('STORE_UNAVAILABLE', {})
    })(),
  )
  const broken = await app.inject({ url: '/v1/sessions/s1/events' })
  t.equal(broken.statusCode, 200)
  t.match(broken.body, /id: 1\n/)
})

t.test('one line is logged per request, without token, body or query', async (t) => {
  const lines: string[] = []
  const logger = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) })
  const tokens = [{ sha256: sha256('top-secret'), tenant: 'acme' }]
  const { app, stub } = await appUnderTest(t, { tokens }, { logger })
  stub.set('edit', async () => ({ status: 409, body: { code: 'EDIT_TAG_UNKNOWN' }, replayed: false }))
  const headers = { authorization: 'Bearer top-secret', 'x-request-id': 'r1' }
  await app.inject({
    method: 'POST',
    url: '/v1/sessions/s1/edit',
    headers,
    payload: { path: 'hidden.ts', ops: 'PUT hidden' },
  })
  await app.inject({ url: '/v1/sessions/s1/reviews?cursor=hidden', headers })
  await sleep(20)
  const requests = lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line['msg'] === 'request')
  t.match(requests, [
    {
      requestId: 'r1',
      session: 's1',
      tenant: 'acme',
      operation: 'edit',
      status: 409,
      code: 'EDIT_TAG_UNKNOWN',
      ms: Number,
    },
    { operation: 'listReviews', status: 200, code: 'OK' },
  ])
  t.notMatch(lines.join(''), /hidden|top-secret/)
})
