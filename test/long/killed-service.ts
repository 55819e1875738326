/**
 * Calls of every kind against a replica that is killed again and again: `node dist/test/long/killed-service.js SECONDS` (120 by default). Each call carries a key
 * and is repeated until it is answered; afterwards it must have happened exactly once. Prints what it saw and fails when a file, a folder or an answer is not as a
 * service that never dies would leave it.
 */
import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, startRedis } from '../redis-server.js'
import type { ReplicaPlan } from '../tools/replica.js'

type Kind = 'insert' | 'overwrite' | 'create' | 'remove' | 'move' | 'edited move' | 'rollback'

/** The one file of the workspace. */
interface State {
  readonly file: string
  readonly text: string | undefined
}

const seconds = Number(process.argv[2] ?? 120)
const end = Date.now() + seconds * 1_000
const root = mkdtempSync(join(tmpdir(), 'anchorline-killed-'))
const workspace = join(root, 'workspaces/w')
mkdirSync(workspace, { recursive: true })
mkdirSync(join(root, 'scratch'))
const server = await startRedis()
const plan: ReplicaPlan = { root, redis: { url: server.url, namespace: 'killed' }, port: await freePort() }
const replica = fileURLToPath(new URL('../tools/replica.js', import.meta.url))
const told = { calls: 0, kills: 0, replays: 0, faults: [] as string[] }

let child: ChildProcess = await start()
const sessionId = String((await post('/v1/sessions', { workspace: 'w' })).body['sessionId'])
const url = `/v1/sessions/${sessionId}`
const killing = killUntilTheEnd()
await callUntilTheEnd()
await killing
await kill()
await server.stop()
rmSync(root, { recursive: true, force: true })
console.log(`${told.calls} calls, ${told.kills} kills, ${told.replays} replays, ${told.faults.length} faults`)
for (const fault of told.faults) console.log(fault)
process.exitCode = told.faults.length === 0 ? 0 : 1

async function start(): Promise<ChildProcess> {
  const started = fork(replica, [JSON.stringify(plan)])
  await new Promise((resolve) => started.once('message', resolve))
  return started
}

async function kill(): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}

async function killUntilTheEnd(): Promise<void> {
  while (Date.now() < end) {
    await pause(100 + Math.random() * 900)
    await kill()
    told.kills++
    child = await start()
  }
}

async function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function post(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Record<string, unknown>; replayed: boolean }> {
  const answer = await fetch(`http://127.0.0.1:${plan.port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return {
    status: answer.status,
    body: (await answer.json()) as Record<string, unknown>,
    replayed: answer.headers.get('idempotent-replayed') === 'true',
  }
}

/** Repeats a call under its key until it is answered; a refusal is a fault and ends the run. */
async function answered(path: string, body: unknown): Promise<Record<string, unknown>> {
  const key = `call ${told.calls}`
  for (;;) {
    const reply = await post(path, body, { 'idempotency-key': key }).catch(() => undefined)
    if (reply?.status === 200) {
      if (reply.replayed) told.replays++
      return reply.body
    }
    const mayPass = !reply || reply.status >= 500 || reply.body['code'] === 'MUTATION_IN_PROGRESS'
    if (!mayPass) throw new Error(`${path} ${JSON.stringify(body)}: ${JSON.stringify(reply.body)}`)
    await pause(50)
  }
}

async function callUntilTheEnd(): Promise<void> {
  let now: State = { file: 'a.txt', text: undefined }
  let undo: { readonly reviewId: string; readonly to: State } | undefined
  let tag = ''
  while (Date.now() < end && told.faults.length === 0) {
    told.calls++
    const kind = anyOf(now, undo !== undefined)
    const before = now
    try {
      if (kind === 'rollback' && undo) {
        await answered(`${url}/reviews/${undo.reviewId}/rollback`, {})
        now = undo.to
        undo = undefined
        if (now.text !== undefined) tag = String((await answered(`${url}/read`, { path: now.file }))['tag'])
      } else {
        const [operation, body, next] = callOf(kind, now, tag)
        const answer = await answered(`${url}/${operation}`, body)
        now = next
        undo = { reviewId: (answer['review'] as { reviewId: string }).reviewId, to: before }
        tag = (answer['tag'] as string | undefined) ?? tag
      }
      compare(kind, now)
    } catch (error) {
      told.faults.push(`call ${told.calls}, ${kind}: ${String(error)}`)
    }
  }
}

function anyOf({ text }: State, mayRollBack: boolean): Kind {
  const there: Kind[] = ['insert', 'insert', 'overwrite', 'remove', 'move', 'edited move']
  const kinds: Kind[] = [
    ...(text === undefined ? (['create'] as const) : there),
    ...(mayRollBack ? (['rollback'] as const) : []),
  ]
  return kinds[Math.floor(Math.random() * kinds.length)] ?? 'create'
}

function callOf(kind: Kind, { file, text = '' }: State, tag: string): ['edit' | 'write', object, State] {
  const n = told.calls
  const row = `row ${n}\n`
  const to = `moved-${n}/file.txt`
  const made = `made-${n}/file.txt`
  switch (kind) {
    case 'overwrite':
      return ['write', { path: file, content: row }, { file, text: row }]
    case 'remove':
      return ['edit', { path: file, tag, ops: 'REM' }, { file, text: undefined }]
    case 'move':
      return ['edit', { path: file, tag, ops: `MV ${to}` }, { file: to, text }]
    case 'edited move':
      return ['edit', { path: file, tag, ops: `PUT <1:\n+${row}MV ${to}` }, { file: to, text: row + text }]
    case 'insert':
      return ['edit', { path: file, tag, ops: `PUT <1:\n+${row}` }, { file, text: row + text }]
    case 'create':
    case 'rollback':
      return ['write', { path: made, content: row }, { file: made, text: row }]
  }
}

/** The workspace holds that file and nothing else, but for empty folders that a move or removal left and temporary files of the dead. */
function compare(kind: Kind, { file, text }: State): void {
  const files = readdirSync(workspace, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.anchorline-'))
    .map((entry) => join(entry.parentPath, entry.name))
  const path = join(workspace, file)
  const wanted = text === undefined ? [] : [path]
  if (files.join() !== wanted.join()) throw new Error(`files are ${files.join(', ')}, not ${wanted.join(', ')}`)
  if (text !== undefined && readFileSync(path, 'utf8') !== text) throw new Error(`${file} has another text`)
  if (kind === 'rollback' && text === undefined && /^made-/.test(file) && existsSync(dirname(path)))
    throw new Error(`${dirname(file)} was made by the call and is still there`)
}
