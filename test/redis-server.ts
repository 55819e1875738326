/**
 * Real Redis servers for tests: finds `redis-server` or installs it where it may, else says what to install. Servers listen on loopback, on free ports, keep nothing
 * on disk and end with the test process.
 */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { programPath } from './programs.js'

let binary: string | undefined

/** The path of redis-server. Throws with what to install where there is none and none can be installed. */
export function redisBinary(): string {
  binary ??= programPath({ names: ['redis-server'], debianPackage: 'redis-server' })
  if (binary !== undefined) return binary
  throw new Error(
    'these tests need redis-server: apt-get install redis-server, or brew install redis, and run them again',
  )
}

/** Below the range from which the system takes ports for outgoing connections, so that a server that is down for a moment finds its port free. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + randomInt(20_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
    })
    if (isFree) return port
  }
}

export interface RedisServer {
  readonly port: number
  readonly url: string
  /** SIGKILL; resolves when it is gone. */
  readonly kill: () => Promise<void>
  /** Starts it again on its port, empty. */
  readonly restart: () => Promise<void>
  readonly pid: () => number | undefined
  /** Ends it and removes its folder. */
  readonly stop: () => Promise<void>
}

/** `extra` are further arguments of redis-server; with the configuration file of a Sentinel it starts one. */
export async function startRedis(
  extra: readonly string[] = [],
  port?: number,
  sentinelFile?: string,
): Promise<RedisServer> {
  const path = redisBinary()
  const chosen = port ?? (await freePort())
  const folder = mkdtempSync(join(tmpdir(), 'anchorline-redis-'))
  let child: ChildProcess | undefined
  const start = async (): Promise<void> => {
    const common = ['--port', String(chosen), '--bind', '127.0.0.1', '--dir', folder]
    const args =
      sentinelFile === undefined
        ? [...common, '--save', '', '--appendonly', 'no', ...extra]
        : [sentinelFile, '--sentinel', ...common]
    child = spawn(path, args, { stdio: 'ignore' })
    child.unref()
    await answers(chosen)
  }
  const kill = async (): Promise<void> => {
    const ended = child
    if (!ended || ended.exitCode !== null || ended.signalCode !== null) return
    await new Promise<void>((resolve) => {
      ended.ref()
      ended.once('exit', () => resolve())
      ended.kill('SIGKILL')
    })
  }
  const onExit = (): void => void child?.kill('SIGKILL')
  process.once('exit', onExit)
  await start()
  return {
    port: chosen,
    url: `redis://127.0.0.1:${chosen}`,
    kill,
    restart: start,
    pid: () => child?.pid,
    stop: async () => {
      process.off('exit', onExit)
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Resolves when a server answers on the port. */
export async function answers(port: number, ms = 15_000): Promise<void> {
  const end = performance.now() + ms
  for (;;) {
    const client = new Redis({
      port,
      host: '127.0.0.1',
      lazyConnect: true,
      retryStrategy: null,
      maxRetriesPerRequest: 0,
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.ping()
      return
    } catch (error) {
      if (performance.now() > end) throw new Error(`redis-server does not answer on port ${port}`, { cause: error })
      await new Promise((resolve) => setTimeout(resolve, 20))
    } finally {
      client.disconnect()
    }
  }
}
