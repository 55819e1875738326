/**
 * Starts and ends what the load test talks to: processes of the service, of the floor server, and a Redis. All on loopback, on free ports, in a temporary folder.
 */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export interface Group {
  readonly name: string
  /** Addresses of its processes. */
  readonly urls: readonly string[]
  /** Any process takes any call of a session. */
  readonly shared: boolean
  /** Milliseconds of processor time that its processes took until now; undefined where the system does not tell. */
  readonly cpuMs: () => number | undefined
  readonly stop: () => Promise<void>
}

export interface ServiceOptions {
  readonly workspaces: string
  readonly scratch: string
  readonly processes: number
  /** Absent: the memory store. */
  readonly redisUrl?: string
  readonly nodeArgs?: readonly string[]
}

const programOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
/** Milliseconds until a started process answers. */
const patienceMs = 120_000

export async function startService({
  workspaces,
  scratch,
  processes,
  redisUrl,
  nodeArgs = [],
}: ServiceOptions): Promise<Group> {
  const env = redisUrl === undefined ? { STORE: 'memory' } : { STORE: 'redis', REDIS_URL: redisUrl }
  return startGroup(redisUrl === undefined ? 'memory' : 'redis', processes, redisUrl !== undefined, (port, at) => {
    const scratchDir = join(scratch, `${env.STORE}-${redisUrl === undefined ? at : 'all'}`)
    mkdirSync(scratchDir, { recursive: true })
    const variables = { ...env, PORT: String(port), WORKSPACES_DIR: workspaces, SCRATCH_DIR: scratchDir }
    return start([...nodeArgs, programOf('../src/main.js')], variables)
  })
}

export async function startFloor(workspaces: string, processes: number): Promise<Group> {
  return startGroup('floor', processes, true, (port) =>
    start([programOf('./floor.js')], { PORT: String(port), WORKSPACES_DIR: workspaces }),
  )
}

/** A Redis that keeps nothing on disk; undefined where there is no redis-server. */
export async function startRedis(): Promise<{ readonly url: string; readonly stop: () => Promise<void> } | undefined> {
  const port = await freePort()
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    {
      stdio: 'ignore',
    },
  )
  const ready = sleep(500, true)
  const failed = once(child, 'error').then(() => false)
  if (!(await Promise.race([ready, failed]))) return undefined
  return { url: `redis://127.0.0.1:${port}`, stop: () => end(child) }
}

async function startGroup(
  name: string,
  processes: number,
  shared: boolean,
  make: (port: number, at: number) => ChildProcess,
): Promise<Group> {
  const ports: number[] = []
  for (let at = 0; at < processes; at++) ports.push(await freePort())
  const children = ports.map(make)
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  for (const [at, url] of urls.entries()) await untilReady(url, children[at])
  return {
    name,
    urls,
    shared,
    cpuMs: () =>
      children
        .map(cpuMsOf)
        .reduce((sum, each) => (sum === undefined || each === undefined ? undefined : sum + each), 0),
    stop: async () => {
      await Promise.all(children.map(end))
    },
  }
}

/** The service logs as in production; nobody reads it. */
function start(args: readonly string[], variables: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], ...variables },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

async function untilReady(url: string, child: ChildProcess | undefined): Promise<void> {
  const until = performance.now() + patienceMs
  for (;;) {
    if (child === undefined || child.exitCode !== null) throw new Error('a server ended before it was ready')
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return
    if (performance.now() > until) throw new Error(`${url} is not ready`)
    await sleep(100)
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const late = sleep(60_000, undefined, { ref: false }).then(() => child.kill('SIGKILL'))
  await Promise.race([ended, late])
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Linux counts in ticks of 10 ms. */
function cpuMsOf({ pid }: ChildProcess): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return undefined
  }
}
