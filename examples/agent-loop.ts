/**
 * An orchestrator in one file: it opens a session, lets a model call the tools, shows it every answer's `content`, and rolls a change back.
 *
 *     npm run example -- [http://127.0.0.1:8080] [token]
 *
 * The model is a script, so that the run can be asserted; it still sees nothing but `content`, takes its tags and lines from there, makes two mistakes and mends them as the
 * refusals say. Works on the `demo` workspace, in a file of its own, and leaves no trace. The client's types come from openapi/openapi.json (`npm run example:types`).
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'

type Schemas = components['schemas']
type ToolCall =
  | { readonly tool: 'read'; readonly input: Schemas['ReadRequest'] }
  | { readonly tool: 'grep'; readonly input: Schemas['GrepRequest'] }
  | { readonly tool: 'edit'; readonly input: Schemas['EditRequest'] }
interface ToolAnswer {
  /** What the model is shown, for success and refusal alike. */
  readonly content: string
  readonly code: string
  readonly terminate: boolean
  readonly reviewId?: string
}
/** One turn of a model: from what the last call showed to the next call. */
type Turn = (shown: string) => ToolCall

const before = `export interface Line {
  price: number
  count: number
}

/** What an order costs. */
export function total(lines: readonly Line[]): number {
  let sum = 0
  for (const line of lines) {
    sum += line.price
  }
  return sum
}

export const empty = (lines: readonly Line[]): boolean => lines.length == 0
`
const after = before.replace('sum += line.price', 'sum += line.price * line.count').replace('== 0', '=== 0')

const tagIn = (shown: string): string => /^\[.*#([0-9A-F]{4})\]$/m.exec(shown)?.[1] ?? ''
const lineOf = (text: string, shown: string): number =>
  Number(
    shown
      .split('\n')
      .find((row) => row.includes(text))
      ?.split(':')[0],
  )

/** Searches, edits a line it never saw, retries with what the refusal showed, forgets a colon, and corrects it. */
function scriptFor(path: string): readonly Turn[] {
  let loop = ''
  return [
    () => ({ tool: 'grep', input: { pattern: 'sum += line.price', path, literal: true } }),
    (shown) => {
      const hit = lineOf('sum +=', shown)
      loop = `PUT ${hit - 1}.=${hit}:\n+  for (const line of lines) {\n+    sum += line.price * line.count`
      return { tool: 'edit', input: { path, tag: tagIn(shown), ops: loop } }
    },
    (shown) => ({ tool: 'edit', input: { path, tag: tagIn(shown), ops: loop } }),
    () => ({ tool: 'read', input: { path, offset: 13 } }),
    (shown) => {
      const line = lineOf('== 0', shown)
      const row = '+export const empty = (lines: readonly Line[]): boolean => lines.length === 0'
      loop = `PUT ${line}.=${line}:\n${row}`
      return { tool: 'edit', input: { path, tag: tagIn(shown), ops: loop.replace(':\n', '\n') } }
    },
    () => ({ tool: 'read', input: { path, offset: 13 } }),
    (shown) => ({ tool: 'edit', input: { path, tag: tagIn(shown), ops: loop } }),
  ]
}

/** Plays the script against a running service and returns what the model was shown. Throws when an answer is not the expected one. */
export async function agentLoop(baseUrl: string, token?: string): Promise<string[]> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const client = createClient<paths>({ baseUrl, headers })

  async function openSession(label: string): Promise<{ path: { sessionId: string } }> {
    const { data, error } = await client.POST('/v1/sessions', { body: { workspace: 'demo', label } })
    if (!data) throw new Error(error.detail)
    return { path: { sessionId: data.sessionId } }
  }

  /** Only what the transport may mend is sent again, with the same key; anything else is for the model to see. */
  async function call(
    session: { path: { sessionId: string } },
    promptId: string,
    { tool, input }: ToolCall,
  ): Promise<ToolAnswer> {
    const header = { 'idempotency-key': randomUUID() }
    for (let attempt = 1; ; attempt++) {
      const { data, error, response } =
        tool === 'edit'
          ? await client.POST('/v1/sessions/{sessionId}/edit', {
              params: { ...session, header },
              body: { ...input, promptId },
            })
          : tool === 'read'
            ? await client.POST('/v1/sessions/{sessionId}/read', { params: session, body: input })
            : await client.POST('/v1/sessions/{sessionId}/grep', { params: session, body: input })
      if (data) {
        const review = 'review' in data ? data.review : undefined
        return { content: data.content, code: 'OK', terminate: false, ...(review ? { reviewId: review.reviewId } : {}) }
      }
      const again = [429, 503].includes(response.status) || error.code === 'MUTATION_IN_PROGRESS'
      if (!again || attempt === 5)
        return { content: error.content ?? error.detail, code: error.code, terminate: error.terminate === true }
      await sleep(Number(response.headers.get('retry-after') ?? 1) * 1000)
    }
  }

  async function fileText(session: { path: { sessionId: string } }, path: string): Promise<string> {
    const { data, error } = await client.POST('/v1/sessions/{sessionId}/read', {
      params: session,
      body: { path, raw: true },
    })
    if (!data) throw new Error(error.code)
    return data.content
  }

  async function rollBack(session: { path: { sessionId: string } }, reviewId: string | undefined): Promise<void> {
    assert.ok(reviewId !== undefined)
    const params = { path: { ...session.path, reviewId } }
    const { data, error } = await client.POST('/v1/sessions/{sessionId}/reviews/{reviewId}/rollback', {
      params,
      body: {},
    })
    assert.equal(data?.state, 'rolledBack', error?.detail)
  }

  const path = `agent-loop-${randomUUID()}.ts`
  const owner = await openSession('whose file it is')
  const seeded = await client.POST('/v1/sessions/{sessionId}/write', { params: owner, body: { path, content: before } })
  assert.ok(seeded.data, seeded.error?.detail)

  const agent = await openSession('agent')
  const promptId = randomUUID()
  const answers: ToolAnswer[] = []
  try {
    for (const turn of scriptFor(path)) {
      const answer = await call(agent, promptId, turn(answers.at(-1)?.content ?? ''))
      answers.push(answer)
      if (answer.terminate) break
    }
    const codes = answers.map(({ code }) => code)
    assert.deepEqual(codes, ['OK', 'EDIT_LINES_UNSEEN', 'OK', 'OK', 'EDIT_PARSE_FAILED', 'OK', 'OK'])
    assert.equal(await fileText(agent, path), after)

    // The user wants none of it: newest change first.
    for (const { reviewId } of answers.filter((answer) => answer.reviewId !== undefined).reverse())
      await rollBack(agent, reviewId)
    assert.equal(await fileText(agent, path), before)
  } finally {
    await client.DELETE('/v1/sessions/{sessionId}', { params: agent })
    await rollBack(owner, seeded.data.review?.reviewId)
    await client.DELETE('/v1/sessions/{sessionId}', { params: owner })
  }
  return answers.map(({ content }) => content)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [baseUrl = 'http://127.0.0.1:8080', token] = process.argv.slice(2)
  try {
    for (const content of await agentLoop(baseUrl, token)) console.log(`${content}\n`)
  } catch (error) {
    // What fetch throws when nobody answers.
    if (!(error instanceof TypeError && error.cause instanceof Error)) throw error
    console.error(`${baseUrl} cannot be reached; start the service with npm start, or name its URL`)
    process.exitCode = 1
  }
}
