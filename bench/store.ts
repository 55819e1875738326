/**
 * What sessions cost in each store: milliseconds of a Read and of a direct Edit over the real service, waves of commands, and bytes in Redis for sessions of several sizes.
 * Needs redis-server. Prints; asserts nothing.
 *
 *     npm run build && node dist/bench/store.js [calls per figure, 300 by default]
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { packageRoot } from '../src/package-root.js'
import { createMemoryStore } from '../src/sessions/memory.js'
import { createRedisStore } from '../src/sessions/redis.js'
import type { Store } from '../src/sessions/store.js'
import { startRedis } from '../test/redis-server.js'
import type { Client, Service } from '../test/service.js'
import { closeServices, serve } from '../test/service.js'

const calls = Number(process.argv[2] ?? 300)
const server = await startRedis()
const direct = new Redis(server.url)
const spans: { from: number; to: number }[] = []
let namespaces = 0

function memoryStore(): Store {
  return createMemoryStore({ now: Date.now, monotonic: () => performance.now(), random: randomUUID })
}

function redisStore(): Store {
  return createRedisStore({
    url: server.url,
    namespace: `bench${++namespaces}`,
    monotonic: () => performance.now(),
    random: randomUUID,
    log: { warn: () => undefined, error: console.error },
    onRoundTrip: (_, ms) => {
      const to = performance.now()
      spans.push({ from: to - ms, to })
    },
  })
}

function wavesOf(): number {
  let [waves, end] = [0, -Infinity]
  for (const span of spans.sort((a, b) => a.from - b.from)) {
    if (span.from > end) waves++
    end = Math.max(end, span.to)
  }
  return waves
}

interface Timing {
  readonly p50: number
  readonly p99: number
  readonly waves: number
}

async function timed(work: (i: number) => Promise<unknown>): Promise<Timing> {
  for (let i = 0; i < 20; i++) await work(i)
  const ms: number[] = []
  let waves = 0
  for (let i = 0; i < calls; i++) {
    spans.length = 0
    const started = performance.now()
    await work(20 + i)
    ms.push(performance.now() - started)
    waves = Math.max(waves, wavesOf())
  }
  ms.sort((a, b) => a - b)
  const at = (share: number): number => ms[Math.min(ms.length - 1, Math.floor(ms.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99), waves }
}

async function withService<T>(store: Store, work: (service: Service) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), 'anchorline-bench-'))
  mkdirSync(join(root, 'workspaces', 'w'), { recursive: true })
  mkdirSync(join(root, 'scratch'))
  const service = await serve({ root, store })
  try {
    return await work(service)
  } finally {
    await service.close()
    await store.close()
    rmSync(root, { recursive: true, force: true })
  }
}

function textOf(kilobytes: number): string {
  const lines = Math.round((kilobytes * 1_024) / 40)
  return Array.from({ length: lines }, (_, i) => `line ${i} `.padEnd(39, 'abcdefgh') + '\n').join('')
}

function expect(status: number, reply: { status: number; text: string }): void {
  if (reply.status !== status) throw new Error(reply.text.slice(0, 500))
}

console.log(`ms of a call over the whole service without a socket, ${calls} calls each, one session\n`)
console.log('| store | file | Read p50 | p99 | waves | Edit p50 | p99 | waves |\n|---|---|---|---|---|---|---|---|')
for (const [name, make] of [
  ['memory', memoryStore],
  ['redis', redisStore],
] as const)
  for (const kilobytes of [10, 120, 1_200]) {
    const [read, edit] = await withService(make(), async (service) => {
      await service.put('f.txt', textOf(kilobytes))
      const session = await service.session()
      const readTiming = await timed(async () => expect(200, await session.read('f.txt', { limit: 200 })))
      const editTiming = await timed(async (i) =>
        expect(200, await session.edit('f.txt', `PUT ${1 + (i % 200)}.=${1 + (i % 200)}:\n+edit ${i}`)),
      )
      return [readTiming, editTiming]
    })
    const figures = [read, edit].flatMap(({ p50, p99, waves }) => [p50.toFixed(2), p99.toFixed(2), waves])
    console.log(`| ${name} | ${kilobytes} KB | ${figures.join(' | ')} |`)
  }

/** Source files of this package, over and over, each a little different. */
function sources(count: number): string[] {
  const dir = join(packageRoot(import.meta.url), 'src')
  const found = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(dir, file), 'utf8'))
  return Array.from({ length: count }, (_, i) => `// ${i}\n${found[i % found.length] ?? ''}`)
}

async function bytesInRedis(): Promise<number> {
  const keys = await direct.keys(`bench${namespaces}:*`)
  const sizes = await Promise.all(keys.map(async (key) => direct.memory('USAGE', key, 'SAMPLES', 0)))
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
}

async function editFiles(session: Client, count: number): Promise<void> {
  for (let i = 0; i < count; i++) expect(200, await session.edit(`f${i}.ts`, 'PUT 1.=1:\n+// edited'))
}

console.log('\nbytes in Redis of one session that reads source files whole, then edits some of them\n')
console.log(
  '| files read | plain bytes read | retained plain | in Redis | after edits | in Redis |\n|---|---|---|---|---|---|',
)
for (const count of [10, 64, 200]) {
  await withService(redisStore(), async (service) => {
    const texts = sources(count)
    const session = await service.session()
    for (const [i, text] of texts.entries()) {
      await service.put(`f${i}.ts`, text)
      expect(200, await session.read(`f${i}.ts`))
    }
    const plain = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    const usage = (await session.get('')).body['usage'] as { retainedBytes: number }
    const afterReads = await bytesInRedis()
    const edited = Math.min(count, 10)
    for (let i = 0; i < edited; i++) expect(200, await session.read(`f${i}.ts`))
    await editFiles(session, edited)
    const afterEdits = await bytesInRedis()
    const row = [count, plain, usage.retainedBytes, afterReads, edited, afterEdits]
    console.log(`| ${row.map((n) => n.toLocaleString('en')).join(' | ')} |`)
  })
}

async function usedMemory(): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await direct.info('memory'))?.[1] ?? 0)
}

const many = 200
await direct.flushall()
const before = await usedMemory()
await withService(redisStore(), async (service) => {
  const texts = sources(10)
  for (const [i, text] of texts.entries()) await service.put(`f${i}.ts`, text)
  for (let n = 0; n < many; n++) {
    const session = await service.session()
    for (const i of texts.keys()) expect(200, await session.read(`f${i}.ts`))
  }
  const perSession = Math.round(((await usedMemory()) - before) / many)
  console.log(`\n${many} sessions of 10 files: ${perSession.toLocaleString('en')} bytes of used_memory each`)
})
await closeServices()
direct.disconnect()
await server.stop()
