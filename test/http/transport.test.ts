/**
 * Everything that is true of every route, whatever the tools do: problems, ids, strict bodies, methods, media types, sizes, headers.
 */
import fc from 'fast-check'
import t from 'tap'
import { ToolError } from '../../src/errors/tool-error.js'
import { appUnderTest } from './app-under-test.js'
import { callIn } from './stub-tools.js'

interface Problem {
  code: string
  status: number
  detail: string
  traceId: string
  content?: string
  issues?: { path: string; message: string }[]
}

const json = { 'content-type': 'application/json' }
const session = '/v1/sessions/s1'
const problemType = 'application/problem+json; charset=utf-8'

t.test('a body is taken as it is or refused by the name of what is wrong', async (t) => {
  const { app, stub } = await appUnderTest(t)
  const refused: [string, unknown, string][] = [
    ['/read', { path: 5 }, 'path'],
    ['/read', { path: 'a', typo: 1 }, 'typo'],
    ['/read', {}, 'path'],
    ['/read', { path: 'a', offset: '5' }, 'offset'],
    ['/read', { path: 'a', offset: 0 }, 'offset'],
    ['/read', { path: 'a', limit: 5_001 }, 'limit'],
    ['/read', { path: 'a', limit: 1.5 }, 'limit'],
    ['/read', { path: 'a', raw: 'true' }, 'raw'],
    ['/read', { path: null }, 'path'],
    ['/read', [], ''],
    ['/read', 'text', ''],
    ['/read', null, ''],
    ['/grep', { pattern: 'a', outputMode: 'files' }, 'outputMode'],
    ['/write', { path: 'a' }, 'content'],
    ['/write', { path: 'a', content: 'x', promptId: 'a\u0000b' }, 'promptId'],
    ['/write', { path: 'a', content: 'x', promptId: 'a\ud800' }, 'promptId'],
    ['/edit', { path: 'a', tag: 1234, ops: 'REM' }, 'tag'],
    ['/edit', { path: 'a', tag: '1234' }, 'ops'],
    ['/edit', { path: 'a', tag: '1234', ops: ['REM'] }, 'ops'],
    ['/edit', { path: 'a', tag: '1234', ops: 'REM', old_string: 'x' }, 'old_string'],
    ['/snapshots', { path: 'a', seenLines: [{ start: 1, end: 2, more: 3 }] }, 'seenLines.0.more'],
    ['/failures', { path: 'a', promptId: 'p', kind: 'edit' }, 'kind'],
  ]
  for (const [route, payload, name] of refused) {
    const answer = await app.inject({
      method: 'POST',
      url: session + route,
      headers: json,
      payload: JSON.stringify(payload),
    })
    const problem = answer.json<Problem>()
    t.equal(answer.statusCode, 400, `${route} ${JSON.stringify(payload)}`)
    t.equal(answer.headers['content-type'], problemType)
    t.equal(problem.code, 'INVALID_ARGUMENT')
    t.equal(problem.issues?.[0]?.path, name, problem.detail)
  }
  t.same(stub.calls, [], 'no tool was called')
})

t.test('an edit without a tag or with any text as one reaches the tool', async (t) => {
  const { app, stub } = await appUnderTest(t)
  for (const payload of [
    { path: 'a', ops: 'REM' },
    { path: 'a', ops: '', tag: 'anything at all' },
  ])
    t.equal((await app.inject({ method: 'POST', url: `${session}/edit`, payload })).statusCode, 200)
  t.equal(stub.calls.length, 2)
})

t.test('keys that could become a prototype are refused by name', async (t) => {
  const { app, stub } = await appUnderTest(t)
  for (const key of ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString'])
    for (const value of ['{"polluted":true}', '1', 'null', '{"prototype":{"polluted":true}}']) {
      const answer = await app.inject({
        method: 'POST',
        url: `${session}/read`,
        headers: json,
        payload: `{"path":"a","${key}":${value}}`,
      })
      t.equal(answer.statusCode, 400)
      t.equal(answer.json<Problem>().issues?.[0]?.path, key)
    }
  t.equal(({} as Record<string, unknown>)['polluted'], undefined)
  t.same(stub.calls, [])
  const named = await app.inject({ method: 'POST', url: `${session}/read`, payload: { path: '__proto__' } })
  t.equal(named.statusCode, 200, 'as a file name they are only a name')
})

t.test('bytes that are no UTF-8 are refused before they could become replacement characters', async (t) => {
  const { app, stub } = await appUnderTest(t)
  const payload = Buffer.concat([Buffer.from('{"path":"a","content":"'), Buffer.from([0xff, 0xc3]), Buffer.from('"}')])
  const answer = await app.inject({ method: 'POST', url: `${session}/write`, headers: json, payload })
  t.equal(answer.statusCode, 400)
  t.match(answer.json<Problem>().detail, /^nothing was written: .*UTF-8/)
  t.same(stub.calls, [])
  const bom = await app.inject({ method: 'POST', url: `${session}/read`, headers: json, payload: '\ufeff{"path":"a"}' })
  t.equal(bom.statusCode, 200, 'a byte order mark before the JSON is transport')
})

t.test('any body at all is answered 2xx or a problem, never 5xx', async (t) => {
  const { app } = await appUnderTest(t)
  const anything = fc.oneof(fc.json(), fc.string(), fc.constant('{"path":"a","ops":"'), fc.constant(''))
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('/read', '/grep', '/write', '/edit', '/snapshots'),
      anything,
      async (route, payload) => {
        const answer = await app.inject({ method: 'POST', url: session + route, headers: json, payload })
        return answer.statusCode < 500 && (answer.statusCode < 400 || answer.headers['content-type'] === problemType)
      },
    ),
    { numRuns: 300, seed: Number(process.hrtime.bigint() % 2_147_483_647n) },
  )
})

t.test('bad JSON says where', async (t) => {
  const { app } = await appUnderTest(t)
  for (const payload of ['{', '{"path":}', '[1,]', "{'path':'a'}", 'undefined']) {
    const answer = await app.inject({ method: 'POST', url: `${session}/read`, headers: json, payload })
    t.equal(answer.statusCode, 400)
    t.match(answer.json<Problem>().detail, /not valid JSON/)
  }
})

t.test(
  'a route that does not exist is NOT_FOUND, a method that its path does not take METHOD_NOT_ALLOWED with Allow',
  async (t) => {
    const { app } = await appUnderTest(t)
    for (const url of ['/', '/v1', '/v2/sessions', `${session}/nothing`, `${session}/read/more`, '/v1/sessions/']) {
      const answer = await app.inject({ method: 'POST', url, headers: json, payload: '{}' })
      t.equal(answer.statusCode, 404, url)
      t.equal(answer.json<Problem>().code, 'NOT_FOUND')
      t.equal(answer.headers['content-type'], problemType)
    }
    const allowed: [string, string, string][] = [
      ['GET', '/v1/sessions', 'POST'],
      ['PATCH', session, 'DELETE, GET, HEAD'],
      ['GET', `${session}/read`, 'POST'],
      ['POST', `${session}/workspace`, 'PUT'],
      ['DELETE', `${session}/snapshots`, 'GET, HEAD, POST'],
      ['POST', `${session}/events`, 'GET'],
      ['HEAD', `${session}/events`, 'GET'],
      ['POST', '/livez', 'GET, HEAD'],
      ['OPTIONS', '/v1/sessions', 'POST'],
    ]
    for (const [method, url, allow] of allowed) {
      const answer = await app.inject({ method: method as 'GET', url })
      t.equal(answer.statusCode, 405, `${method} ${url}`)
      t.equal(answer.headers['allow'], allow)
      if (method !== 'HEAD') t.equal(answer.json<Problem>().code, 'METHOD_NOT_ALLOWED')
    }
  },
)

t.test('every answer carries a request id; a given one of the agreed form is kept', async (t) => {
  const { app } = await appUnderTest(t)
  const kept = await app.inject({ url: '/v1/nothing', headers: { 'x-request-id': 'my_Id-1' } })
  t.equal(kept.headers['x-request-id'], 'my_Id-1')
  t.equal(kept.json<Problem>().traceId, 'my_Id-1')
  for (const given of ['', 'a b', 'x'.repeat(65), 'é', '<script>']) {
    const { headers } = await app.inject({ url: '/livez', headers: { 'x-request-id': given } })
    t.match(headers['x-request-id'], /^[0-9a-f]{32}$/, JSON.stringify(given))
  }
})

t.test('the trace id of a valid traceparent is the trace id of problems and of the call', async (t) => {
  const { app, stub } = await appUnderTest(t)
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, 'x-request-id': 'r1' }
  const answer = await app.inject({ url: '/v1/nothing', headers })
  t.equal(answer.json<Problem>().traceId, traceId)
  t.equal(answer.headers['x-request-id'], 'r1')
  await app.inject({ url: `${session}/registers`, headers })
  t.equal(callIn(stub).requestId, traceId)
  for (const traceparent of [
    `ff-${traceId}-00f067aa0ba902b7-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-00f067aa0ba902b7-01`,
    'nonsense',
  ])
    t.equal(
      (await app.inject({ url: '/v1/x', headers: { traceparent, 'x-request-id': 'r2' } })).json<Problem>().traceId,
      'r2',
    )
})

t.test('a refusal of a tool is rendered for its operation', async (t) => {
  const { app, stub } = await appUnderTest(t)
  const refuse = async (): Promise<never> => {
    throw new ToolError('EDIT_LINES_UNSEEN', {
      liveTag: 'A1B2',
      unseen: [{ start: 3, end: 3 }],
      lines: [
        { line: 3, text: 'three', clipped: false },
        { line: 4, text: 'fo', clipped: true },
      ],
      revealComplete: true,
    })
  }
  stub.set('edit', refuse)
  stub.set('read', refuse)
  stub.set('listRegisters', refuse)
  const edited = (
    await app.inject({ method: 'POST', url: `${session}/edit`, payload: { path: 'a.ts', ops: 'x' } })
  ).json<Problem>()
  t.match(edited.detail, /^nothing was written: /)
  t.equal(edited.content, `EDIT_LINES_UNSEEN: ${edited.detail}\n[a.ts#A1B2]\n3:three\n4:fo…`)
  const read = (await app.inject({ method: 'POST', url: `${session}/read`, payload: { path: 'a.ts' } })).json<Problem>()
  t.notMatch(read.detail, /nothing was written/)
  t.match(read.content, /^EDIT_LINES_UNSEEN: /)
  t.equal((await app.inject({ url: `${session}/registers` })).json<Problem>().content, undefined)
})

t.test('whatever a tool throws that is no refusal is INTERNAL and says nothing of its cause', async (t) => {
  const { app, stub } = await appUnderTest(t)
  const faults: (() => Promise<never>)[] = [
    () => Promise.reject(new Error('secret path /etc/shadow')),
    async () => JSON.parse('secret of /etc/shadow') as never,
    async () => (undefined as unknown as { shadow: never }).shadow,
  ]
  for (const fault of faults) {
    stub.set('edit', fault)
    const answer = await app.inject({ method: 'POST', url: `${session}/edit`, payload: { path: 'a', ops: 'x' } })
    t.equal(answer.statusCode, 500)
    t.equal(answer.json<Problem>().code, 'INTERNAL')
    t.notMatch(answer.body, /shadow|nothing was written/)
  }
})

t.test('an outcome is sent as it is, with its marks', async (t) => {
  const { app, stub } = await appUnderTest(t)
  const post = () => app.inject({ method: 'POST', url: `${session}/edit`, payload: { path: 'a', ops: 'x' } })
  stub.set('edit', async () => ({ status: 200, body: { path: 'a', odd: { b: 1 } }, replayed: true }))
  const replayed = await post()
  t.same(replayed.json(), { path: 'a', odd: { b: 1 } }, 'nothing is dropped by serialisation')
  t.equal(replayed.headers['idempotent-replayed'], 'true')
  t.equal(replayed.headers['content-type'], 'application/json; charset=utf-8')
  stub.set('edit', async () => ({ status: 503, body: { code: 'STORE_UNAVAILABLE' }, replayed: false }))
  const refused = await post()
  t.equal(refused.headers['content-type'], problemType)
  t.equal(refused.headers['retry-after'], '1')
  t.equal(refused.headers['idempotent-replayed'], undefined)
})

t.test('an Idempotency-Key of 1 to 128 printable characters reaches mutations, any other is refused', async (t) => {
  const { app, stub } = await appUnderTest(t)
  const write = (key: string) =>
    app.inject({
      method: 'POST',
      url: `${session}/write`,
      payload: { path: 'a', content: '' },
      headers: { 'idempotency-key': key },
    })
  for (const key of ['k', 'a b c', '~'.repeat(128)]) {
    t.equal((await write(key)).statusCode, 200)
    t.equal((stub.calls.at(-1)!.args[0] as { idempotencyKey?: string }).idempotencyKey, key)
  }
  for (const key of ['', 'x'.repeat(129), 'é', 'a\tb']) {
    const answer = await write(key)
    t.equal(answer.statusCode, 400, JSON.stringify(key))
    t.equal(answer.json<Problem>().issues?.[0]?.path, 'idempotency-key')
  }
  await app.inject({ method: 'POST', url: `${session}/write`, payload: { path: 'a', content: '' } })
  t.notOk('idempotencyKey' in (stub.calls.at(-1)!.args[0] as object))
})

t.test('a rollback takes an empty object, an empty body or none', async (t) => {
  const { app, stub } = await appUnderTest(t)
  const url = `${session}/reviews/r1/rollback`
  t.equal((await app.inject({ method: 'POST', url })).statusCode, 200)
  t.equal((await app.inject({ method: 'POST', url, headers: json, payload: '' })).statusCode, 200)
  t.equal((await app.inject({ method: 'POST', url, payload: {} })).statusCode, 200)
  t.equal((await app.inject({ method: 'POST', url, payload: { force: true } })).statusCode, 400)
  t.equal(stub.calls.length, 3)
  t.equal(stub.calls[0]!.args[1], 'r1')
})

t.test('queries are coerced and strict', async (t) => {
  const { app, stub } = await appUnderTest(t)
  await app.inject({ url: `${session}/reviews?limit=7&cursor=abc` })
  t.same(stub.calls.at(-1)!.args[1], { limit: 7, cursor: 'abc' })
  await app.inject({ url: `${session}/reviews` })
  t.same(stub.calls.at(-1)!.args[1], { limit: 20 })
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'limit=1&limit=2', 'page=2', 'cursor='])
    t.equal((await app.inject({ url: `${session}/reviews?${query}` })).statusCode, 400, query)
})

t.test('an id of any form is handed to the tool, which knows whether it exists', async (t) => {
  const { app, stub } = await appUnderTest(t)
  stub.set('getSession', async () => {
    throw new ToolError('SESSION_NOT_FOUND', {})
  })
  for (const id of ['x', '%00', '..%2f..%2fetc', 'a%20b', 'x'.repeat(400), 'x'.repeat(8_000), '__proto__']) {
    const answer = await app.inject({ url: `/v1/sessions/${id}` })
    t.equal(answer.json<Problem>().code, 'SESSION_NOT_FOUND', id)
  }
  t.equal((await app.inject({ url: '/v1/sessions/%zz' })).statusCode, 400)
})

t.test('a body over the bound of its route is PAYLOAD_TOO_LARGE and names the bound', async (t) => {
  const { app } = await appUnderTest(t, { maxBodyBytes: 2_000_000 })
  const read = await app.inject({ method: 'POST', url: `${session}/read`, payload: { path: 'a'.repeat(1_100_000) } })
  t.equal(read.statusCode, 413)
  t.match(read.json(), { code: 'PAYLOAD_TOO_LARGE', limitBytes: 1_048_576 })
  const write = await app.inject({
    method: 'POST',
    url: `${session}/write`,
    payload: { path: 'a', content: 'a'.repeat(2_100_000) },
  })
  t.match(write.json(), { code: 'PAYLOAD_TOO_LARGE', limitBytes: 2_000_000 })
  t.match(write.json<Problem>().detail, /^nothing was written/)
  const edit = await app.inject({
    method: 'POST',
    url: `${session}/edit`,
    payload: { path: 'a', ops: 'a'.repeat(300_000) },
  })
  t.equal(edit.statusCode, 200, 'an ops over the contract limit is the tool’s to refuse')
})

t.test('every answer has the cheap security headers, pages have those that pages need', async (t) => {
  const { app } = await appUnderTest(t)
  for (const url of ['/livez', '/v1/workspaces', '/v1/nothing']) {
    const { headers } = await app.inject({ url })
    t.equal(headers['x-content-type-options'], 'nosniff')
    t.equal(headers['cache-control'], 'no-store')
    t.equal(headers['access-control-allow-origin'], undefined)
  }
  const page = await app.inject({ url: '/docs/' })
  t.equal(page.statusCode, 200)
  t.match(page.headers['content-security-policy'], /script-src 'self'(;|$)/)
  t.notMatch(page.headers['content-security-policy'], /upgrade-insecure-requests/, 'the service speaks plain HTTP')
  t.equal(page.headers['x-frame-options'], 'SAMEORIGIN')
  t.notMatch(page.body, /(src|href)="https?:/, 'nothing is loaded from elsewhere')
})

t.test('CORS is off unless an origin is configured', async (t) => {
  const { app } = await appUnderTest(t, { corsOrigins: ['https://ui.example'] })
  const preflight = { origin: 'https://ui.example', 'access-control-request-method': 'POST' }
  const allowed = await app.inject({ method: 'OPTIONS', url: '/v1/sessions', headers: preflight })
  t.equal(allowed.statusCode, 204)
  t.equal(allowed.headers['access-control-allow-origin'], 'https://ui.example')
  const other = await app.inject({ url: '/v1/workspaces', headers: { origin: 'https://evil.example' } })
  t.not(other.headers['access-control-allow-origin'], 'https://evil.example')
})
