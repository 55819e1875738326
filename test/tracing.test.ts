/**
 * Traces: what a collector is sent by the real service, and what it is never sent.
 */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { startTracing } from '../src/tracing.js'
import { closeServices, service } from './service.js'

interface SentSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

interface Sent {
  resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[]
}

const silent = { warn: () => undefined, error: () => undefined }
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentId = '00f067aa0ba902b7'

t.teardown(closeServices)

/** A collector that keeps what it is sent. */
async function collector(t: Test): Promise<{ url: string; texts: string[]; spans: () => SentSpan[] }> {
  const texts: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.url === '/base/v1/traces') texts.push(Buffer.concat(chunks).toString())
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const spans = (): SentSpan[] =>
    texts.flatMap((text) =>
      (JSON.parse(text) as Sent).resourceSpans.flatMap((each) => each.scopeSpans.flatMap((scope) => scope.spans)),
    )
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`, texts, spans }
}

t.test('a request is a span, and what its tool does are parts of it', async (t) => {
  const { url, texts, spans } = await collector(t)
  const tracing = startTracing(url, silent)
  const s = await service(t, { tracing })
  const headers = { traceparent: `00-${traceId}-${parentId}-01` }
  const made = await s.call('POST', '/v1/sessions', { workspace: 'w' })
  const session = `/v1/sessions/${String(made.body['sessionId'])}`
  const content = 'function secretName() {\n  return 1\n}\n'
  await s.call('POST', `${session}/write`, { path: 'hidden.ts', content })
  const read = await s.call('POST', `${session}/read`, { path: 'hidden.ts' })
  const patch = { path: 'hidden.ts', tag: read.body['tag'], ops: 'PUT 1*:\n+function secretName() {\n+  return 2\n+}' }
  const edited = await s.call('POST', `${session}/edit`, patch, headers)
  t.equal(edited.status, 200, edited.text)
  await writeFile(join(s.dir, 'hidden.ts'), '// drifted\nfunction secretName() {\n  return 2\n}\n')
  const late = { path: 'hidden.ts', tag: edited.body['tag'], ops: 'PUT 2.=2:\n+  return 3' }
  t.match((await s.call('POST', `${session}/edit`, late, headers)).body, { branch: 'recovered' })
  const refused = await s.call('POST', `${session}/edit`, { ...patch, ops: 'CUT 99.=99' })
  await s.call('GET', '/livez')
  await tracing.close()

  const sent = spans()
  const named = (name: string): SentSpan[] => sent.filter((span) => span.name === name)
  const attribute = (span: SentSpan | undefined, key: string): unknown => {
    const value = span?.attributes.find((each) => each.key === key)?.value
    return value?.stringValue ?? value?.intValue
  }
  t.equal(named('livez').length, 0, 'a probe has no span')
  for (const name of ['createSession', 'write', 'read']) t.equal(named(name).length, 1, name)
  const [edit, recovered, other] = named('edit')
  t.equal(recovered?.traceId, traceId)
  t.match(edit, { traceId, parentSpanId: parentId }, 'the trace of the caller is continued')
  t.equal(attribute(edit, 'http.response.status_code'), edited.status)
  t.equal(attribute(edit, 'anchorline.code'), edited.code ?? 'OK')
  t.equal(attribute(edit, 'http.route'), '/v1/sessions/:sessionId/edit')
  t.not(other?.traceId, traceId)
  t.equal(attribute(other, 'anchorline.code'), refused.code)

  const parts = sent.filter((span) => span.traceId === traceId && span !== edit && span !== recovered)
  const known = new Set(sent.map((span) => span.spanId))
  for (const part of parts) t.ok(known.has(part.parentSpanId ?? ''), `${part.name} is a part of another span`)
  const names = new Set(parts.map((part) => part.name))
  for (const name of ['load', 'gates', 'recovery', 'blocks', 'commit', 'store.begin', 'store.stage', 'store.commit'])
    t.ok(names.has(name), `${name} in ${[...names].join(' ')}`)
  const gates = parts.find((part) => part.name === 'gates')
  t.equal(parts.find((part) => part.name === 'blocks')?.parentSpanId, gates?.spanId, 'blocks are a part of the gates')
  t.notMatch(texts.join(''), /hidden|secretName/, 'no path and no text')
  t.notOk(texts.join('').includes(String(made.body['sessionId'])), 'no session')
})

t.test('a caller that does not sample is not traced', async (t) => {
  const { url, spans } = await collector(t)
  const tracing = startTracing(url, silent)
  const s = await service(t, { tracing })
  const headers = { traceparent: `00-${traceId}-${parentId}-00` }
  t.equal((await s.call('POST', '/v1/sessions', { workspace: 'w' }, headers)).status, 201)
  await tracing.close()
  t.same(spans(), [])
})

t.test('a collector that cannot be reached changes no answer and does not keep the process', async (t) => {
  const warnings: string[] = []
  const log = { ...silent, warn: (_facts: unknown, message: string) => void warnings.push(message) }
  const tracing = startTracing('http://127.0.0.1:1', log)
  const s = await service(t, { tracing })
  t.equal((await s.call('POST', '/v1/sessions', { workspace: 'w' })).status, 201)
  await tracing.close()
  t.ok(warnings.length > 0, 'it is said in the log')
})
