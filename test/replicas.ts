/**
 * Three real services on one Redis and one workspace, agents that edit shared files through them, services killed and Redis restarted meanwhile, and a look at what is
 * left (reading §8.3–8.5). Not a test itself.
 *
 * Every edit adds a line that nobody else writes, or replaces the agent's own line by a new one. An edit that was answered with success is in its file exactly once,
 * a refused one not at all, one without an answer at most once.
 */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import type { RedisServer } from './redis-server.js'
import { freePort, startRedis } from './redis-server.js'

const program = fileURLToPath(new URL('../src/main.js', import.meta.url))
const files = ['a.txt', 'b.txt', 'c.txt', 'd.txt']
const firstLine = 'the first line stays'
const lastLine = 'the last line stays'

export interface ReplicasOptions {
  readonly services: number
  readonly agents: number
  readonly editsPerAgent: number
  /** A service is killed this long after the one before it has come back. */
  readonly killEveryMs: number
  /** Redis is restarted, empty, when this share of the edits is done. */
  readonly redisRestartAt: number
  /** Numbers in [0, 1). */
  readonly chance: () => number
}

export interface ReplicasReport {
  readonly succeeded: number
  readonly refused: Readonly<Record<string, number>>
  readonly unanswered: number
  /** Repeated with their key after no answer came, and answered then. */
  readonly resolved: number
  readonly notRecorded: number
  readonly kills: number
  readonly sessionsLost: number
  readonly seconds: number
  readonly latencyMs: { readonly p50: number; readonly p99: number }
  readonly faults: readonly string[]
}

export async function runReplicas(options: ReplicasOptions): Promise<ReplicasReport> {
  const top = mkdtempSync(join(tmpdir(), 'anchorline-replicas-'))
  const dir = join(top, 'workspaces', 'w')
  mkdirSync(dir, { recursive: true })
  for (const file of files) writeFileSync(join(dir, file), `${firstLine}\n${lastLine}\n`)
  const redis = await startRedis()
  const fleet = await Fleet.start(top, redis.url, options.services)
  const world = new World(options, fleet)
  const started = performance.now()
  try {
    const agents = Array.from({ length: options.agents }, (_, i) => new Agent(i, world))
    const chaos = new AbortController()
    const troubles = [killNowAndThen(world, chaos.signal), restartRedisOnce(world, redis, chaos.signal)]
    await Promise.all(agents.map(async (agent) => agent.work()))
    chaos.abort()
    await Promise.all(troubles)
    const seconds = Math.round((performance.now() - started) / 1_000)
    // A last edit by every session and of every file settles whatever the dead left behind.
    await Promise.all(agents.map(async (agent) => agent.finish()))
    await fleet.stop()
    await sweepOnce(top, redis.url)
    checkFiles(dir, agents, world)
    await checkRedis(redis.url, world)
    return world.report(seconds)
  } finally {
    fleet.kill()
    await redis.stop()
    rmSync(top, { recursive: true, force: true })
  }
}

// — processes —

interface Running {
  readonly child: ChildProcess
  readonly url: string
}

async function startService(top: string, redisUrl: string, port: number): Promise<Running> {
  const child = spawn(process.execPath, [program], {
    env: {
      PATH: process.env['PATH'] ?? '',
      PORT: String(port),
      WORKSPACES_DIR: join(top, 'workspaces'),
      SCRATCH_DIR: join(top, 'scratch'),
      STORE: 'redis',
      REDIS_URL: redisUrl,
      SYNTAX_WORKERS: '1',
      DOCS: 'off',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const url = `http://127.0.0.1:${port}`
  let out = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      if (out.length < 100_000) out += String(chunk)
      if (out.includes('listening at')) resolve()
    })
    child.stderr.on('data', (chunk) => {
      if (out.length < 100_000) out += String(chunk)
    })
    child.once('exit', (code, signal) =>
      reject(new Error(`the service ended (${code ?? signal}) before it listened: ${out}`)),
    )
  })
  return { child, url }
}

class Fleet {
  static async start(top: string, redisUrl: string, count: number): Promise<Fleet> {
    const ports = await Promise.all(Array.from({ length: count }, async () => freePort()))
    return new Fleet(
      top,
      redisUrl,
      await Promise.all(ports.map(async (port) => startService(top, redisUrl, port))),
      ports,
    )
  }

  private constructor(
    private readonly top: string,
    private readonly redisUrl: string,
    private readonly running: Running[],
    private readonly ports: readonly number[],
  ) {}

  url(index: number): string {
    return `http://127.0.0.1:${this.ports[index % this.ports.length] ?? 0}`
  }

  get size(): number {
    return this.ports.length
  }

  /** SIGKILL, and another process in its place. */
  async replace(index: number): Promise<void> {
    const victim = this.running[index]
    const port = this.ports[index]
    if (!victim || port === undefined) return
    victim.child.kill('SIGKILL')
    await once(victim.child, 'close')
    this.running[index] = await startService(this.top, this.redisUrl, port)
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.running.map(async ({ child }) => {
        const closed = once(child, 'close')
        child.kill('SIGTERM')
        await closed
      }),
    )
  }

  kill(): void {
    for (const { child } of this.running) child.kill('SIGKILL')
  }
}

async function killNowAndThen(world: World, signal: AbortSignal): Promise<void> {
  for (let i = 0; ; i++) {
    try {
      await sleep(world.options.killEveryMs * (0.5 + world.options.chance()), undefined, { signal })
    } catch {
      return
    }
    await world.fleet.replace(i % world.fleet.size)
    world.kills++
  }
}

async function restartRedisOnce(world: World, redis: RedisServer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && world.done < world.total * world.options.redisRestartAt) await sleep(20)
  if (signal.aborted) return
  await redis.kill()
  await sleep(300)
  await redis.restart()
}

/** What a crashed process left on disk goes with the next start. */
async function sweepOnce(top: string, redisUrl: string): Promise<void> {
  const service = await startService(top, redisUrl, await freePort())
  await sleep(1_000)
  const closed = once(service.child, 'close')
  service.child.kill('SIGTERM')
  await closed
}

// — agents —

interface Answer {
  /** A repetition of a call that had no answer. */
  readonly repeated?: boolean
  readonly status: number
  readonly code: string
  readonly body: Record<string, unknown>
}

/** Undefined when no answer came. */
async function post(url: string, body: unknown, key?: string): Promise<Answer | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    })
    const answer = (await response.json()) as Record<string, unknown>
    const code = answer['code']
    return { status: response.status, code: typeof code === 'string' ? code : '', body: answer }
  } catch {
    return undefined
  }
}

/** What may be in the file for one line of an agent: one of these, exactly once; nothing is allowed when it may never have landed. */
interface Slot {
  readonly file: string
  candidates: string[]
  mayBeAbsent: boolean
}

class World {
  readonly latencies: number[] = []
  readonly faults: string[] = []
  readonly refused = new Map<string, number>()
  /** Texts of lines that must not be anywhere, and why. */
  readonly absent = new Map<string, string>()
  readonly total: number
  kills = 0
  done = 0
  succeeded = 0
  unanswered = 0
  resolved = 0
  notRecorded = 0
  sessionsLost = 0

  constructor(
    readonly options: ReplicasOptions,
    readonly fleet: Fleet,
  ) {
    this.total = options.agents * options.editsPerAgent
  }

  report(seconds: number): ReplicasReport {
    const sorted = [...this.latencies].sort((a, b) => a - b)
    const at = (share: number): number => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)
    const { succeeded, unanswered, resolved, notRecorded, kills, sessionsLost, faults } = this
    return {
      succeeded,
      refused: Object.fromEntries([...this.refused].sort()),
      unanswered,
      resolved,
      notRecorded,
      kills,
      sessionsLost,
      seconds,
      latencyMs: { p50: at(0.5), p99: at(0.99) },
      faults: faults.slice(0, 20),
    }
  }
}

interface Plan {
  readonly ops: string
  readonly text: string
  /** The line that is replaced; none for a new one. */
  readonly slot: Slot | undefined
}

class Agent {
  readonly slots: Slot[] = []
  private session: string | undefined
  private attempts = 0

  constructor(
    private readonly index: number,
    private readonly world: World,
  ) {}

  async work(): Promise<void> {
    for (let i = 0; i < this.world.options.editsPerAgent; i++) {
      await this.succeed(files[Math.floor(this.world.options.chance() * files.length)] ?? 'a.txt')
      this.world.done++
    }
  }

  async finish(): Promise<void> {
    await this.succeed(files[this.index % files.length] ?? 'a.txt')
  }

  /** Tries with fresh lines until one is answered with success; every attempt is accounted for. */
  private async succeed(file: string): Promise<void> {
    const end = performance.now() + 120_000
    while (performance.now() < end) {
      if (await this.attempt(file)) return
      await sleep(20 + 80 * this.world.options.chance())
    }
    this.world.faults.push(`agent ${this.index} did not get an edit through in two minutes`)
  }

  private async attempt(file: string): Promise<boolean> {
    const base = this.world.fleet.url(Math.floor(this.world.options.chance() * this.world.fleet.size))
    if (this.session === undefined) {
      const opened = await post(`${base}/v1/sessions`, { workspace: 'w' })
      if (opened?.status !== 201) return false
      this.session = String(opened.body['sessionId'])
    }
    const read = await post(`${base}/v1/sessions/${this.session}/read`, { path: file, limit: 5_000 })
    if (read?.status !== 200) {
      if (read?.code === 'SESSION_NOT_FOUND') this.lost()
      return false
    }
    const lines = String(read.body['content']).split('\n').slice(1)
    const plan = this.plan(
      file,
      lines.map((line) => line.replace(/^\d+:/, '')),
    )
    const body = { path: file, tag: read.body['tag'], ops: plan.ops }
    return this.account(file, plan, await this.send(base, this.session, body, plan.text))
  }

  /** Half of the agents repeat a call without an answer under its key, as often as it takes to know. */
  private async send(base: string, session: string, body: unknown, text: string): Promise<Answer | undefined> {
    const key = this.index % 2 === 0 ? text.replaceAll(' ', '-') : undefined
    const started = performance.now()
    const first = await post(`${base}/v1/sessions/${session}/edit`, body, key)
    if (first) {
      if (first.status === 200) this.world.latencies.push(performance.now() - started)
      return first
    }
    if (key === undefined) return undefined
    for (let i = 0; i < 300; i++) {
      await sleep(100)
      const url = `${this.world.fleet.url(i)}/v1/sessions/${session}/edit`
      const again = await post(url, body, key)
      // Redis may have lost the session, and with it what became of the call.
      if (again?.code === 'SESSION_NOT_FOUND') return undefined
      if (!again || again.status >= 500 || again.code === 'MUTATION_IN_PROGRESS') continue
      this.world.resolved++
      return { ...again, repeated: true }
    }
    return undefined
  }

  private account(file: string, { slot, text }: Plan, answer: Answer | undefined): boolean {
    const { world } = this
    // A repetition that is a CONFLICT says that nobody can tell what became of the first attempt.
    if (!answer || answer.code === 'CONFLICT') {
      world.unanswered++
      if (slot) slot.candidates.push(text)
      else this.slots.push({ file, candidates: [text], mayBeAbsent: true })
      return false
    }
    if (answer.status === 200) {
      world.succeeded++
      if (JSON.stringify(answer.body['warnings'] ?? []).includes('SNAPSHOT_NOT_RECORDED')) world.notRecorded++
      for (const old of slot?.candidates ?? []) world.absent.set(old, `replaced by "${text}"`)
      if (slot) slot.candidates = [text]
      else this.slots.push({ file, candidates: [text], mayBeAbsent: false })
      return true
    }
    world.refused.set(answer.code, (world.refused.get(answer.code) ?? 0) + 1)
    world.absent.set(text, `refused: ${answer.code}${answer.repeated ? ' when it was repeated' : ''}`)
    if (answer.code === 'SESSION_NOT_FOUND') this.lost()
    return false
  }

  private lost(): void {
    this.session = undefined
    this.world.sessionsLost++
  }

  private plan(file: string, lines: readonly string[]): Plan {
    const { chance } = this.world.options
    const text = `agent ${this.index} attempt ${++this.attempts} ${'x'.repeat(Math.floor(chance() * 40))}`
    const own = this.slots.filter((slot) => slot.file === file && !slot.mayBeAbsent)
    const slot = chance() < 0.5 ? own[Math.floor(chance() * own.length)] : undefined
    if (slot) {
      const found = slot.candidates.filter((candidate) => lines.includes(candidate))
      const number = lines.indexOf(found[0] ?? '') + 1
      if (found.length === 1) return { slot, text, ops: `PUT ${number}.=${number}:\n+${text}` }
      this.world.faults.push(`${found.length} of "${slot.candidates.join('", "')}" in ${file}`)
    }
    const places = ['PUT >$:', 'PUT <1:', `PUT >${1 + Math.floor(chance() * lines.length)}:`]
    const place = places[Math.floor(chance() * places.length)] ?? 'PUT >$:'
    return { slot: undefined, text, ops: `${place}\n+${text}` }
  }
}

// — what is left —

function checkFiles(dir: string, agents: readonly Agent[], world: World): void {
  const names = readdirSync(dir).sort()
  if (names.join() !== files.join()) world.faults.push(`the folder holds ${names.join()}`)
  const counts = new Map<string, Map<string, number>>()
  for (const file of files) {
    const text = readFileSync(join(dir, file), 'utf8')
    if (!text.endsWith('\n')) world.faults.push(`${file} does not end with a line`)
    const inFile = new Map<string, number>()
    for (const line of text.split('\n').slice(0, -1)) inFile.set(line, (inFile.get(line) ?? 0) + 1)
    for (const line of [firstLine, lastLine])
      if (inFile.get(line) !== 1) world.faults.push(`${file}: "${line}" is there ${inFile.get(line) ?? 0} times`)
    counts.set(file, inFile)
  }
  const known = new Set([firstLine, lastLine])
  for (const { slots } of agents)
    for (const { file, candidates, mayBeAbsent } of slots) {
      const found = candidates.map((line) => counts.get(file)?.get(line) ?? 0).reduce((a, b) => a + b)
      for (const line of candidates) known.add(line)
      if (found > 1 || (found === 0 && !mayBeAbsent))
        world.faults.push(`${file}: ${found} of "${candidates.join('", "')}"`)
    }
  for (const [file, inFile] of counts)
    for (const line of inFile.keys()) {
      const why = world.absent.get(line)
      if (why !== undefined) world.faults.push(`${file}: "${line}" is there (${why})`)
      else if (!known.has(line)) world.faults.push(`${file}: "${line}" belongs to nobody`)
    }
}

/** No permit, queue, mark or intent is left. */
async function checkRedis(url: string, world: World): Promise<void> {
  const client = new Redis(url)
  const keys = await client.keys('*')
  client.disconnect()
  const left = keys.filter((key) => key.includes('{f:') || /:(?:p|p:q|p:x|in|k:\w+)$/.test(key))
  if (left.length > 0) world.faults.push(`redis still holds ${left.slice(0, 5).join(', ')}`)
}
