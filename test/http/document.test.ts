/**
 * The OpenAPI document: it is the one that is committed, it is valid, and everything in it is true.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import t from 'tap'
import { documentPath, documentText } from '../../src/openapi.js'
import { errorCodes, errors } from '../../src/errors/table.js'
import { warningCodes } from '../../src/errors/warnings.js'
import { examples } from '../../src/http/examples.js'
import { packageRoot } from '../../src/package-root.js'

type Examples = Record<string, { summary?: string; value: unknown }>
interface Media {
  schema: object
  examples?: Examples
}
interface Operation {
  operationId?: string
  summary?: string
  tags?: string[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { description: string; headers?: object; content?: Record<string, Media> }>
}
interface Document {
  openapi: string
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, { properties: Record<string, { enum: string[] }> }>; examples: Examples }
  tags: { name: string }[]
}

const text = await documentText()
const document = JSON.parse(text) as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, ...operation })),
)

t.test('the committed document is the one that the routes make', async (t) => {
  t.ok(readFileSync(documentPath(), 'utf8') === text, 'run npm run openapi and commit the result')
})

t.test('its version is that of the package', async (t) => {
  const { version } = JSON.parse(
    readFileSync(join(packageRoot(import.meta.url), 'package.json'), 'utf8'),
  ) as Document['info']
  t.equal(document.info.version, version)
})

t.test('it is a valid OpenAPI 3.1 document', async (t) => {
  t.equal(document.openapi, '3.1.0')
  t.same(await new Validator().validate(JSON.parse(text) as Record<string, unknown>), { valid: true })
})

t.test('it holds every operation of the contract and no other', async (t) => {
  t.same(
    operations.map(({ name, operationId }) => `${name} ${operationId ?? ''}`).sort(),
    [
      'DELETE /v1/sessions/{sessionId} deleteSession',
      'GET /livez livez',
      'GET /metrics metrics',
      'GET /readyz readyz',
      'GET /v1/sessions/{sessionId} getSession',
      'GET /v1/sessions/{sessionId}/events streamEvents',
      'GET /v1/sessions/{sessionId}/registers listRegisters',
      'GET /v1/sessions/{sessionId}/registers/{name} getRegister',
      'GET /v1/sessions/{sessionId}/reviews listReviews',
      'GET /v1/sessions/{sessionId}/reviews/{reviewId} getReview',
      'GET /v1/sessions/{sessionId}/snapshots listSnapshots',
      'GET /v1/tools listTools',
      'GET /v1/workspaces listWorkspaces',
      'POST /v1/sessions createSession',
      'POST /v1/sessions/{sessionId}/edit edit',
      'POST /v1/sessions/{sessionId}/failures reportFailure',
      'POST /v1/sessions/{sessionId}/grep grep',
      'POST /v1/sessions/{sessionId}/read read',
      'POST /v1/sessions/{sessionId}/reviews/{reviewId}/rollback rollback',
      'POST /v1/sessions/{sessionId}/snapshots registerSnapshot',
      'POST /v1/sessions/{sessionId}/write write',
      'PUT /v1/sessions/{sessionId}/workspace switchWorkspace',
    ].sort(),
  )
})

t.test('every operation is named, summed up and grouped, and shows its requests and answers', async (t) => {
  const groups = document.tags.map((tag) => tag.name)
  for (const { name, summary, tags, requestBody, responses } of operations) {
    t.ok(summary, `${name} has a summary`)
    t.ok(tags?.length === 1 && groups.includes(tags[0] ?? ''), `${name} belongs to one declared group`)
    for (const media of Object.values(requestBody?.content ?? {}))
      t.ok(Object.keys(media.examples ?? {}).length > 0, `${name} has a request example`)
    for (const [status, { content }] of Object.entries(responses)) {
      if (status === '204') continue
      const [media] = Object.values(content ?? {})
      t.ok(Object.keys(media?.examples ?? {}).length > 0, `${name} ${status} has an example`)
    }
  }
})

t.test('every operation whose URL holds a parameter answers 400, since an escape in it can be invalid', async (t) => {
  for (const { name, responses } of operations) if (name.includes('{')) t.ok(responses['400'], name)
})

t.test('every refusal is a problem with an example per code, at the status of the code', async (t) => {
  const shown = new Set(Object.keys(document.components.examples))
  for (const { name, responses } of operations)
    for (const [status, { description, content, headers }] of Object.entries(responses)) {
      if (Number(status) < 400) continue
      t.same(Object.keys(content ?? {}), ['application/problem+json'], `${name} ${status}`)
      const codes = content?.['application/problem+json']?.examples ?? {}
      t.equal(description, Object.keys(codes).join(', '))
      for (const [code, { value }] of Object.entries(codes)) {
        shown.add(code)
        t.match(value, { code, status: Number(status), type: `urn:anchorline:error:${code}` }, `${name} ${code}`)
      }
      t.equal(headers !== undefined, status === '429' || status === '503', `${name} ${status} Retry-After`)
    }
  t.same([...shown].sort(), [...errorCodes].sort(), 'and no code of the table is without an example')
})

t.test('every refusal of Edit and Write says that nothing was written', async (t) => {
  for (const path of ['/v1/sessions/{sessionId}/edit', '/v1/sessions/{sessionId}/write'])
    for (const response of Object.values(document.paths[path]!['post']!.responses))
      for (const [code, { value }] of Object.entries(response.content?.['application/problem+json']?.examples ?? {})) {
        const { detail, content } = value as { detail: string; content: string }
        if (code === 'INTERNAL') t.notMatch(detail, /nothing was written/, 'a fault of ours cannot know')
        else t.match(detail, /^nothing was written: /, code)
        t.ok(content.startsWith(`${code}: ${detail}`))
      }
})

t.test('the enumerations of codes and warnings are the tables', async (t) => {
  t.same(document.components.schemas['Problem']?.properties['code']?.enum, [...errorCodes])
  t.same(document.components.schemas['Warning']?.properties['code']?.enum, [...warningCodes])
})

t.test('every example fits its schema', async (t) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema(document, 'document')
  const validators = new Map<string, ReturnType<typeof ajv.compile>>()
  const validatorOf = (schema: object): ReturnType<typeof ajv.compile> => {
    const key = JSON.stringify(schema).replaceAll('"#/', '"document#/')
    const known = validators.get(key) ?? ajv.compile(JSON.parse(key) as object)
    validators.set(key, known)
    return known
  }
  for (const { name, requestBody, responses } of operations) {
    const bodies = [requestBody, ...Object.values(responses)].flatMap((each) => Object.values(each?.content ?? {}))
    for (const { schema, examples: shown = {} } of bodies) {
      const validate = validatorOf(schema)
      for (const [example, { value }] of Object.entries(shown))
        t.ok(validate(value), `${name} ${example} ${JSON.stringify(validate.errors ?? '')}`)
    }
  }
})

t.test('the tags of the examples are those of the demo workspace', async (t) => {
  const tagOf = (path: string): string =>
    createHash('sha256')
      .update(readFileSync(join(packageRoot(import.meta.url), 'workspaces/demo', path)))
      .digest('hex')
      .slice(-4)
      .toUpperCase()
  for (const { value } of Object.values(examples.edit)) t.equal(value.tag, tagOf(value.path), value.path)
  t.equal(examples.readAnswer.example.value.tag, tagOf(examples.readAnswer.example.value.path))
})

t.test('errors have a status of 4xx or 5xx, and only what may work later is retriable', async (t) => {
  for (const code of errorCodes) {
    const { status, retriable } = errors[code]
    t.ok(status >= 400 && status < 600)
    if (retriable) t.ok([409, 429, 503, 504].includes(status), code)
  }
})
