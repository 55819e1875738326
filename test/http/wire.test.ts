/**
 * What happens before a route is reached or a body is read: malformed HTTP, headers that Node's server would answer itself, media types and codings,
 * pages that do not exist. Whatever is wrong, the answer is a problem with a request id.
 */
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Test } from 'tap'
import t from 'tap'
import type { App } from '../../src/http/provider.js'
import { appUnderTest } from './app-under-test.js'

interface Problem {
  code: string
  status: number
  detail: string
  traceId: string
  issues?: { path: string }[]
}

const read = '/v1/sessions/s1/read'
const problemType = 'application/problem+json; charset=utf-8'
/** A server that waits for bytes that never come is a failure of the test, not of the machine. */
const patienceMs = 20_000

/** Everything that the service sends before it closes the connection. */
async function exchange(app: App, bytes: string | Buffer): Promise<string> {
  const { port } = app.server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.setTimeout(patienceMs, () => socket.destroy(new Error(`no end after ${JSON.stringify(text)}`)))
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
}

function problemIn(t: Test, answer: string): Problem {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  t.match(head.toLowerCase(), `\r\ncontent-type: ${problemType}`, head)
  const id = /\r\nx-request-id: ([A-Za-z0-9_-]+)/i.exec(head)?.[1]
  t.ok(id, 'it carries a request id')
  const problem = JSON.parse(body) as Problem
  t.equal(problem.traceId, id)
  t.ok(head.startsWith(`HTTP/1.1 ${problem.status} `))
  return problem
}

t.test('bytes that are no HTTP are answered with a problem and the connection is closed', async (t) => {
  const { app } = await appUnderTest(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  for (const bytes of [
    'NONSENSE / HTTP/1.1\r\n\r\n',
    randomBytes(64),
    `GET / HTTP/1.1\r\nhost: x\r\nx-big: ${'a'.repeat(20_000)}\r\n\r\n`,
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: x\r\n\r\n',
  ])
    t.match(problemIn(t, await exchange(app, bytes)), { code: 'INVALID_ARGUMENT', status: 400 })
})

t.test('headers that the server underneath would refuse bare are refused with a problem that names them', async (t) => {
  const { app, stub } = await appUnderTest(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const close = 'connection: close'
  const body = ['content-type: application/json', 'content-length: 12', close, '', '{"path":"a"}']
  const cases: [string, string[], string][] = [
    ['GET /livez', [close, '', ''], 'host'],
    ['GET /v1/nothing', [close, '', ''], 'host'],
    [`POST ${read}`, body, 'host'],
    ['GET /livez', ['host: x', 'Host: y', close, '', ''], 'host'],
    [`POST ${read}`, ['host: x', 'host: x', ...body], 'host'],
    ['GET /livez', ['host: x', 'expect: foo', close, '', ''], 'expect'],
    [`POST ${read}`, ['host: x', 'expect: 200-ok', ...body], 'expect'],
    [`POST ${read}`, ['host: x', 'expect: 100-continue, foo', ...body], 'expect'],
  ]
  for (const [line, rest, name] of cases) {
    const answer = await exchange(app, [`${line} HTTP/1.1`, ...rest].join('\r\n'))
    const problem = problemIn(t, answer.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, ''))
    t.match(problem, { code: 'INVALID_ARGUMENT', status: 400, issues: [{ path: name }] }, `${line} ${name}`)
  }
  t.same(stub.calls, [], 'no tool was called')
  const continued = [`POST ${read} HTTP/1.1`, 'host: x', 'expect: 100-continue', ...body].join('\r\n')
  t.match(await exchange(app, continued), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
  t.match(await exchange(app, 'GET /livez HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 OK\r\n/, 'HTTP/1.0 needs no host')
})

t.test('a media type other than JSON is UNSUPPORTED_MEDIA_TYPE', async (t) => {
  const { app } = await appUnderTest(t)
  for (const type of [
    'text/plain',
    'text/plain; charset=latin1',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
  ]) {
    const headers = { 'content-type': type }
    const answer = await app.inject({ method: 'POST', url: read, headers, payload: 'a' })
    t.equal(answer.statusCode, 415, type)
    t.match(answer.json<Problem>(), { code: 'UNSUPPORTED_MEDIA_TYPE', detail: /send application\/json$/ })
  }
})

t.test('a body in a content coding is UNSUPPORTED_MEDIA_TYPE, whatever its bytes are', async (t) => {
  const { app, stub } = await appUnderTest(t)
  const json = '{"path":"a"}'
  const post = (coding: string, payload: string | Buffer) =>
    app.inject({
      method: 'POST',
      url: read,
      headers: { 'content-type': 'application/json', 'content-encoding': coding },
      payload,
    })
  for (const coding of ['gzip', 'GZIP', 'x-gzip', 'deflate', 'br', 'zstd', 'identity, gzip', 'nonsense'])
    for (const payload of [json, gzipSync(json), Buffer.from([0xff])]) {
      const answer = await post(coding, payload)
      t.equal(answer.statusCode, 415, coding)
      t.equal(answer.headers['content-type'], problemType)
      t.equal(answer.headers['accept-encoding'], 'identity')
      t.match(answer.json<Problem>(), { code: 'UNSUPPORTED_MEDIA_TYPE', detail: /send the JSON uncompressed/ })
    }
  t.same(stub.calls, [], 'no tool was called')
  for (const coding of ['identity', 'Identity', '', 'identity, identity'])
    t.equal((await post(coding, json)).statusCode, 200, JSON.stringify(coding))
  const headers = { 'content-encoding': 'gzip' }
  t.equal((await app.inject({ url: '/v1/workspaces', headers })).statusCode, 200, 'without a body nothing is coded')
})

t.test('a charset other than UTF-8 is UNSUPPORTED_MEDIA_TYPE, whatever the bytes are', async (t) => {
  const { app, stub } = await appUnderTest(t)
  const post = (type: string, payload: string | Buffer = '{"path":"a"}') =>
    app.inject({ method: 'POST', url: read, headers: { 'content-type': type }, payload })
  for (const charset of ['utf-16', 'UTF-16LE', 'latin1', 'iso-8859-1', '"windows-1252"', 'utf-7', 'utf-32', 'nonsense'])
    for (const type of [
      `application/json; charset=${charset}`,
      `application/json;charset=${charset}`,
      `Application/JSON; Charset=${charset}; x=y`,
      `application/json; x=y; charset=${charset}`,
    ]) {
      const answer = await post(type)
      t.equal(answer.statusCode, 415, type)
      t.match(answer.json<Problem>(), { code: 'UNSUPPORTED_MEDIA_TYPE', detail: /encode the JSON as UTF-8/ })
    }
  t.equal((await post('application/json; charset=utf-16', Buffer.from('{"path":"a"}', 'utf16le'))).statusCode, 415)
  t.same(stub.calls, [], 'no tool was called')
  for (const charset of ['utf-8', 'UTF-8', '"utf-8"', 'utf8', 'us-ascii'])
    t.equal((await post(`application/json; charset=${charset}`)).statusCode, 200, charset)
})

t.test('a refusal of Write for its coding or charset says that nothing was written', async (t) => {
  const { app } = await appUnderTest(t)
  for (const headers of [
    { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    { 'content-type': 'application/json; charset=utf-16' },
  ]) {
    const payload = '{"path":"a","content":"b"}'
    const answer = await app.inject({ method: 'POST', url: '/v1/sessions/s1/write', headers, payload })
    t.match(answer.json<Problem>(), { status: 415, detail: /^nothing was written: / })
  }
})

t.test('a page that does not exist is NOT_FOUND, and every refusal of a page is a problem', async (t) => {
  const { app } = await appUnderTest(t)
  for (const method of ['GET', 'HEAD'] as const)
    for (const url of ['/docs/static/nope.js', '/docs/static/a/b', '/docs/nope']) {
      const answer = await app.inject({ method, url })
      t.equal(answer.statusCode, 404, `${method} ${url}`)
      t.equal(answer.headers['content-type'], problemType)
      t.equal(answer.headers['allow'], undefined)
      if (method === 'GET') t.equal(answer.json<Problem>().code, 'NOT_FOUND')
    }
  t.equal((await app.inject({ method: 'POST', url: '/docs/static/nope.js' })).statusCode, 405)
  const css = '/docs/static/swagger-ui.css'
  const odd: [string, Record<string, string>][] = [
    [css, { range: 'bytes=999999999-' }],
    [css, { 'if-match': '"no"' }],
    [css, { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
    ['/docs/static/%zz', {}],
    ['/docs/static/..%2f..%2fpackage.json', {}],
    ['/docs/static/%00', {}],
    ['/docs/static/.hidden', {}],
  ]
  for (const [url, headers] of odd) {
    const answer = await app.inject({ url, headers })
    t.ok(answer.statusCode >= 400 && answer.statusCode < 500, `${url} ${answer.statusCode}`)
    t.equal(answer.headers['content-type'], problemType, `${url} ${JSON.stringify(headers)}`)
    t.ok(answer.headers['x-request-id'])
  }
})
