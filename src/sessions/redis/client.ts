/**
 * The connection to Redis: runs scripts by SHA with a deadline, listens to channels, and turns every failure into STORE_UNAVAILABLE.
 *
 * Queues nothing while there is no connection and resends nothing that may have run. Called by the parts of the Redis store.
 */
import type { ClusterOptions, RedisOptions } from 'ioredis'
import { Cluster, Redis } from 'ioredis'
import { ToolError } from '../../errors/tool-error.js'
import type { Reply } from './reply.js'
import { parseReply } from './reply.js'
import type { Script, ScriptName } from './scripts.js'
import { loadScripts } from './scripts.js'
import type { RedisTarget } from './url.js'

export interface StoreLog {
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export interface ClientOptions {
  readonly target: RedisTarget
  readonly log: StoreLog
  readonly monotonic: () => number
  /** After this many milliseconds without an answer a command has failed. */
  readonly commandTimeoutMs: number
  readonly onRoundTrip?: (name: string, ms: number) => void
}

type Argument = string | number | Uint8Array

/** More commands than this without an answer mean that the server hangs. */
const maxInFlight = 10_000
const maxReconnectMs = 1_000
const maxConnectWaitMs = 250

class NotConnected extends Error {}

export class RedisClient {
  private readonly scripts: Readonly<Record<ScriptName, Script>> = loadScripts()
  /** SHAs that the server has heard since the connection was made. */
  private readonly loaded = new Set<string>()
  private readonly commands: Redis | Cluster
  private readonly listener: Redis | Cluster
  private readonly channels = new Map<string, Set<(message: string) => void>>()
  private readonly firstReady: Promise<void>
  private inFlight = 0
  private down: string | undefined
  private closed = false

  constructor(private readonly options: ClientOptions) {
    this.commands = connect(options)
    // A Cluster listens on connections of its own.
    this.listener = this.commands instanceof Cluster ? this.commands : connect(options)
    this.firstReady = this.watch()
    this.listener.on('message', (channel: string, message: string) => {
      for (const listener of this.channels.get(channel) ?? []) listener(message)
    })
    this.listener.on('ready', () => {
      for (const channel of this.channels.keys()) this.subscribe(channel)
    })
  }

  /** Runs a script on the slot of `key`. Throws STORE_UNAVAILABLE for whatever goes wrong. */
  async run(name: ScriptName, key: string, ...args: readonly Argument[]): Promise<Reply> {
    return this.runOn(name, [key], ...args)
  }

  /** The same on several keys: in a Cluster they must share a slot. */
  async runOn(name: ScriptName, keys: readonly string[], ...args: readonly Argument[]): Promise<Reply> {
    const started = this.options.monotonic()
    try {
      const raw = await this.guarded(async () => this.evaluate(this.scripts[name], keys, args))
      const { notes, reply } = parseReply(raw)
      if (notes.length > 0)
        this.options.log.warn({ script: name, notes: notes.slice(0, 20) }, 'values that are not ours count as absent')
      return reply
    } catch (error) {
      throw this.unavailable(error, name)
    } finally {
      this.options.onRoundTrip?.(name, this.options.monotonic() - started)
    }
  }

  /** Whether keys of different slots may meet in one script. */
  get hasOneSlot(): boolean {
    return !(this.commands instanceof Cluster)
  }

  /** Those of the keys that exist. */
  async existing(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const started = this.options.monotonic()
    try {
      const found = await Promise.all(keys.map(async (key) => this.guarded(async () => this.commands.exists(key))))
      return new Set(keys.filter((_, i) => found[i] === 1))
    } catch (error) {
      throw this.unavailable(error, 'exists')
    } finally {
      this.options.onRoundTrip?.('exists', this.options.monotonic() - started)
    }
  }

  /** Messages of a channel until the returned function is called. A message may be lost: whoever listens also looks from time to time. */
  listen(channel: string, listener: (message: string) => void): () => void {
    const listeners = this.channels.get(channel) ?? new Set()
    if (listeners.size === 0) {
      this.channels.set(channel, listeners)
      this.subscribe(channel)
    }
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      if (listeners.size > 0 || this.channels.get(channel) !== listeners) return
      this.channels.delete(channel)
      if (!this.closed) this.listener.unsubscribe(channel).catch(() => undefined)
    }
  }

  async ping(): Promise<boolean> {
    try {
      await this.guarded(async () => this.commands.ping())
      return true
    } catch {
      return false
    }
  }

  close(): void {
    this.closed = true
    this.channels.clear()
    this.commands.disconnect()
    this.listener.disconnect()
  }

  private watch(): Promise<void> {
    for (const client of new Set([this.commands, this.listener]))
      client.on('error', (error: Error) => {
        if (this.down === error.message || this.closed) return
        this.down = error.message
        this.options.log.warn({ err: error }, 'redis is not reachable')
      })
    this.commands.on('ready', () => {
      this.loaded.clear()
      if (this.down !== undefined) this.options.log.warn({}, 'redis is reachable again')
      this.down = undefined
    })
    return new Promise((resolve) => {
      this.commands.once('ready', () => resolve())
      // From then on calls fail at once while there is no connection.
      setTimeout(resolve, this.options.commandTimeoutMs).unref()
    })
  }

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.inFlight >= maxInFlight) throw new Error('too many commands wait for an answer')
    if (this.commands.status !== 'ready') await this.firstReady
    if (this.commands.status !== 'ready') throw new NotConnected(`the connection is ${this.commands.status}`)
    this.inFlight++
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('no answer within the deadline')), this.options.commandTimeoutMs)
    })
    try {
      return await Promise.race([work(), late])
    } finally {
      clearTimeout(timer)
      this.inFlight--
    }
  }

  private async evaluate(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    const rest = args.map((arg) => (typeof arg === 'object' ? asBuffer(arg) : arg))
    if (this.loaded.has(script.sha)) {
      try {
        return await this.send('evalsha', script.sha, keys.length, ...keys, ...rest)
      } catch (error) {
        // Flushed, or another node: it has not run.
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      }
    }
    const reply = await this.send('eval', script.lua, keys.length, ...keys, ...rest)
    this.loaded.add(script.sha)
    return reply
  }

  /** A Cluster refuses at once what belongs to a node that it is just connecting to. Nothing was sent then, so a short wait and another try are safe. */
  private async send(...command: readonly [string, ...(string | number | Buffer)[]]): Promise<unknown> {
    const until = this.options.monotonic() + maxConnectWaitMs
    for (;;) {
      const turn = { isOver: false }
      setImmediate(() => {
        turn.isOver = true
      })
      try {
        return await this.commands.callBuffer(...command)
      } catch (error) {
        const mayRepeat = this.commands instanceof Cluster && !turn.isOver && this.options.monotonic() < until
        if (!mayRepeat || !(error instanceof Error) || error.message !== 'Connection is closed.') throw error
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
  }

  private subscribe(channel: string): void {
    if (this.closed || this.listener.status !== 'ready') return
    this.listener.subscribe(channel).catch(() => undefined)
  }

  private unavailable(error: unknown, command: string): ToolError {
    if (error instanceof ToolError && error.is('STORE_UNAVAILABLE')) return error
    // That the connection is gone was said once.
    if (!this.closed && !(error instanceof NotConnected)) {
      const isOurs =
        error instanceof TypeError ||
        (error instanceof Error && /^(?:ERR|WRONGTYPE) .*(?:user_script|running script)/.test(error.message))
      const text = 'a command to redis failed'
      if (isOurs) this.options.log.error({ err: error, command }, text)
      else this.options.log.warn({ err: error, command }, text)
    }
    return new ToolError('STORE_UNAVAILABLE', {}, { cause: error })
  }
}

function connect({ target, commandTimeoutMs }: ClientOptions): Redis | Cluster {
  const shared = {
    connectTimeout: commandTimeoutMs,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // Later than the deadline of a command: only a connection that is dead is given up.
    socketTimeout: 3 * commandTimeoutMs,
    protocol: 2,
    ...(target.username === undefined ? {} : { username: target.username }),
    ...(target.password === undefined ? {} : { password: target.password }),
    ...(target.tls ? { tls: {} } : {}),
  } as const satisfies RedisOptions
  const retryStrategy = (times: number): number => Math.min(50 * 2 ** Math.min(times, 10), maxReconnectMs)
  // A master that became a replica answers READONLY: connect anew, to whoever is the master now.
  const reconnectOnError = (error: Error): boolean => error.message.startsWith('READONLY')
  switch (target.kind) {
    case 'standalone':
      return new Redis({ ...shared, ...target.address, db: target.db, retryStrategy, reconnectOnError })
    case 'sentinel':
      return new Redis({
        ...shared,
        sentinels: target.addresses.map((address) => ({ ...address })),
        name: target.name,
        db: target.db,
        retryStrategy,
        reconnectOnError,
        sentinelRetryStrategy: retryStrategy,
        ...(target.sentinelUsername === undefined ? {} : { sentinelUsername: target.sentinelUsername }),
        ...(target.sentinelPassword === undefined ? {} : { sentinelPassword: target.sentinelPassword }),
        ...(target.tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
      })
    case 'cluster': {
      const { enableOfflineQueue, ...redisOptions } = shared
      const options = {
        enableOfflineQueue,
        clusterRetryStrategy: retryStrategy,
        // A command whose connection closed may have run: it is never sent again.
        retryDelayOnFailover: 0,
        retryDelayOnClusterDown: 0,
        slotsRefreshTimeout: commandTimeoutMs,
        slotsRefreshInterval: 2_000,
        redisOptions,
      } as const satisfies ClusterOptions
      return new Cluster(
        target.addresses.map((address) => ({ ...address })),
        options,
      )
    }
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
