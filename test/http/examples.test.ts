/**
 * The examples of the document are played against the real service on a copy of the demo workspace: each runs as it stands, answers what the document shows,
 * and every answer fits its schema.
 */
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import t from 'tap'
import { examples } from '../../src/http/examples.js'
import { documentText } from '../../src/openapi.js'
import { packageRoot } from '../../src/package-root.js'
import type { Reply, Service } from '../service.js'
import { closeServices, service } from '../service.js'

t.teardown(closeServices)

interface Response {
  content?: Record<string, { schema: object }>
}
interface Document {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, Response> }>>
}

const document = JSON.parse(await documentText()) as Document
const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema(document, 'document')

/** What is wrong with an answer by the schema of its operation and status; empty when nothing is. */
function misfit(operationId: string, reply: Reply): string {
  const operation = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .find((each) => each.operationId === operationId)
  const response = operation?.responses[String(reply.status)]
  if (!response) return `${operationId} has no status ${reply.status}: ${reply.text}`
  if (reply.status === 204) return reply.text
  const type = String(reply.headers['content-type']).split(';')[0] ?? ''
  const schema = response.content?.[type]?.schema
  if (!schema) return `${operationId} ${reply.status} has no ${type}`
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object)
  return validate(reply.body) ? '' : `${operationId} ${JSON.stringify(validate.errors)} ${reply.text}`
}

async function onDemo(t: Parameters<typeof service>[0]): Promise<Service> {
  const s = await service(t)
  await cp(join(packageRoot(import.meta.url), 'workspaces/demo'), join(s.root, 'workspaces/demo'), { recursive: true })
  return s
}

/** The members of an example that do not differ from call to call. */
function steady(value: object): object {
  return JSON.parse(
    JSON.stringify(value, (key, member: unknown) =>
      ['sessionId', 'reviewId', 'scratchRoot', 'createdAt', 'expiresAt', 'recordedAt', 'updatedAt'].includes(key)
        ? undefined
        : member,
    ),
  ) as object
}

t.test('a first visit goes as the document shows it', async (t) => {
  const s = await onDemo(t)
  const opened = await s.call('POST', '/v1/sessions', examples.openSession.example.value)
  t.equal(misfit('createSession', opened), '')
  t.same(steady(opened.body), steady(examples.session.example.value))
  const url = `/v1/sessions/${String(opened.body['sessionId'])}`
  const play = async (
    operationId: string,
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body?: unknown,
  ): Promise<Reply> => {
    const reply = await s.call(method, url + path, body)
    t.equal(misfit(operationId, reply), '')
    return reply
  }
  const shows = (reply: Reply, example: object): void => {
    t.same(steady(reply.body), steady(example))
  }
  shows(await play('read', 'POST', '/read', examples.read.window.value), examples.readAnswer.example.value)
  shows(await play('listSnapshots', 'GET', '/snapshots'), examples.snapshots.example.value)
  t.equal((await play('read', 'POST', '/read', examples.read.whole.value)).status, 200)
  shows(await play('grep', 'POST', '/grep', examples.grep.content.value), examples.grepAnswer.example.value)
  const files = await play('grep', 'POST', '/grep', examples.grep.files.value)
  t.match(files.body, { files: [{ path: String }] })
  t.equal((await play('grep', 'POST', '/grep', { pattern: 'e', outputMode: 'count' })).status, 200)
  const dry = await play('edit', 'POST', '/edit', examples.edit.replaceBlock.value)
  t.match(dry.body, { resolutions: [{ anchorLine: 15, op: 'replace' }] })
  const edited = await play('edit', 'POST', '/edit', examples.edit.insert.value)
  shows(edited, examples.editAnswer.example.value)
  const review = (edited.body['review'] as { reviewId: string }).reviewId
  shows(await play('listReviews', 'GET', '/reviews'), examples.reviews.example.value)
  shows(await play('getReview', 'GET', `/reviews/${review}`), examples.review.example.value)
  shows(await play('rollback', 'POST', `/reviews/${review}/rollback`, {}), examples.rolledBack.example.value)
  shows(await play('write', 'POST', '/write', examples.write.example.value), examples.writeAnswer.example.value)
  shows(
    await play('reportFailure', 'POST', '/failures', examples.failure.example.value),
    examples.failureAnswer.example.value,
  )
  t.equal(
    (await play('registerSnapshot', 'POST', '/snapshots', examples.registerSnapshot.unknown.value)).body['seen'],
    null,
  )
  t.equal((await play('getSession', 'GET', '')).status, 200)
  t.equal((await play('switchWorkspace', 'PUT', '/workspace', examples.switchWorkspace.example.value)).status, 200)
  const registered = await play('registerSnapshot', 'POST', '/snapshots', examples.registerSnapshot.lines.value)
  shows(registered, examples.snapshot.example.value)
  t.equal(misfit('deleteSession', await s.call('DELETE', url)), '')
  t.match(await s.call('GET', '/v1/workspaces'), {
    body: { workspaces: [{ name: 'demo', access: 'read-write' }, { name: 'w' }] },
  })
})

t.test('registers are answered as the document shows them', async (t) => {
  const s = await onDemo(t)
  const a = await s.session({ workspace: 'demo' })
  await a.read('src/inventory.ts')
  t.equal((await a.edit('src/inventory.ts', 'CUT 24.=25 @take')).status, 200)
  const one = await a.get('/registers/take')
  t.equal(misfit('getRegister', one), '')
  t.same(steady(one.body), steady(examples.register.example.value))
  const list = await a.get('/registers')
  t.equal(misfit('listRegisters', list), '')
  t.match(list.body, { registers: [{ name: 'take', lineCount: 2, bytes: examples.register.example.value.bytes }] })
})

t.test('every kind of edit answers what its schema says, and so does every refusal', async (t) => {
  const s = await onDemo(t)
  const a = await s.session({ workspace: 'demo' })
  const path = 'src/inventory.ts'
  await a.read(path, { offset: 1, limit: 12 })
  const edits: [ops: string, fields?: Record<string, unknown>][] = [
    ['PUT 1.=1:\n+export interface Thing {'],
    ['PUT 40.=40:\n+x'],
    ['CUT 5'],
    ['PUT 2.=2:\n+  sku: string'],
    ['PUT 3*:\n+x'],
    ['PUT >3 @none'],
    ['CUT 2.=2\nCUT 3.=3\nPUT >9'],
    ['PUT <1:\n+// head', { tag: '0000' }],
    ['PUT 2.=2:\n+x', { tag: 'FFFF' }],
    ['REM', { tag: undefined }],
    ['MV docs/handbook.md'],
    ['MV src/stock.ts', { dryRun: true }],
    ['MV src/stock.ts'],
  ]
  for (const [ops, fields] of edits) {
    const reply = await a.edit(path, ops, { ...fields, promptId: 'p' })
    t.equal(misfit('edit', reply), '', ops)
  }
  await a.read('src/stock.ts')
  t.equal(misfit('edit', await a.edit('src/stock.ts', 'REM')), '')
  for (const [operationId, reply] of [
    ['read', await a.read('src/stock.ts')],
    ['read', await a.read('../x')],
    ['read', await a.read('src')],
    ['grep', await a.grep('(')],
    ['write', await a.write('docs', 'x')],
    ['write', await a.write('docs/handbook.md', 'x', { tag: '12' })],
    ['getReview', await a.get('/reviews/none')],
    ['getRegister', await a.get('/registers/none')],
    ['listReviews', await a.get('/reviews?cursor=none')],
    ['rollback', await a.post('/reviews/none/rollback')],
    ['getSession', await s.call('GET', '/v1/sessions/none')],
    ['createSession', await s.call('POST', '/v1/sessions', { workspace: 'none' })],
  ] as const)
    t.equal(misfit(operationId, reply), '', operationId)
})
