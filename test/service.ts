/**
 * The real service on a temporary disk, spoken to through `inject`: everything but the socket is what production runs.
 *
 * Tests get a workspace, sessions with a memory of their newest tags, and the bytes on disk. The store is memory unless a test brings another one.
 */
import { randomBytes } from 'node:crypto'
import { lstat, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import type { AppOptions } from '../src/app.js'
import { buildApp } from '../src/app.js'
import { Lifecycle } from '../src/http/lifecycle.js'
import { createMetrics } from '../src/http/metrics.js'
import type { App } from '../src/http/provider.js'
import { limits } from '../src/limits.js'
import { createMemoryStore } from '../src/sessions/memory.js'
import type { Store } from '../src/sessions/store.js'
import { createSyntax } from '../src/syntax/pool.js'
import type { SyntaxPort } from '../src/syntax/port.js'
import { createTools } from '../src/tools/create-tools.js'
import { tracedPorts } from '../src/tools/tracer.js'
import type { ToolSettings } from '../src/tools/deps.js'
import type { Tracing } from '../src/tracing.js'
import { createWorkspace } from '../src/workspace/disk.js'
import type { HookConfig } from '../src/workspace/hooks.js'
import { createSaveHooks } from '../src/workspace/hooks.js'
import type { WorkspacePort } from '../src/workspace/port.js'
import type { SearchOptions } from '../src/workspace/search.js'
import { createSearch } from '../src/workspace/search.js'
import { thisInstance } from '../src/workspace/temp-names.js'

export interface ServiceOptions {
  readonly store?: Store
  readonly hooks?: readonly HookConfig[]
  readonly denyRead?: readonly string[]
  readonly denyWrite?: readonly string[]
  readonly externalRoots?: readonly string[]
  readonly settings?: Partial<ToolSettings>
  readonly app?: Partial<AppOptions>
  readonly search?: SearchOptions
  /** Puts something between the tools and the real workspace, to let a test act in mid-call. */
  readonly around?: (workspace: WorkspacePort) => WorkspacePort
  readonly now?: () => number
  readonly tracing?: Pick<Tracing, 'tracer' | 'requests'>
  /** The disk of another service, whose replica this one is then: a folder with `workspaces/w` and `scratch`. */
  readonly root?: string
}

export interface Reply {
  readonly status: number
  readonly headers: Record<string, unknown>
  // Answers are read member by member in assertions; their shape is what the schemas say.
  readonly body: Record<string, unknown>
  readonly code: string | undefined
  readonly text: string
}

let syntax: SyntaxPort | undefined

export async function service(t: Test, options: ServiceOptions = {}): Promise<Service> {
  const root = options.root ?? (await realpath(t.testdir({ workspaces: { w: {} }, scratch: {} })))
  const started = await serve({ ...options, root })
  t.teardown(async () => started.close())
  return started
}

/** A service that its caller closes. */
export async function serve(options: ServiceOptions & { readonly root: string }): Promise<Service> {
  const { root } = options
  const workspacesDir = join(root, 'workspaces')
  syntax ??= createSyntax({ maxWorkers: 1 })
  const now = options.now ?? Date.now
  const disk = createWorkspace({
    workspacesDir,
    scratchDir: join(root, 'scratch'),
    externalRoots: options.externalRoots ?? [],
    denyRead: options.denyRead ?? [],
    denyWrite: options.denyWrite ?? ['**/.git', '**/.git/**'],
    instance: await thisInstance(),
    random: () => randomBytes(12).toString('hex'),
    now: Date.now,
  })
  const store =
    options.store ??
    createMemoryStore({ now, monotonic: () => performance.now(), random: () => randomBytes(16).toString('base64url') })
  const metrics = createMetrics({ process: false })
  const lifecycle = new Lifecycle()
  const { tracing } = options
  const ports = { store, workspace: options.around ? options.around(disk) : disk, syntax }
  const tools = createTools({
    ...(tracing ? { ...tracedPorts(ports, tracing.tracer), tracer: tracing.tracer } : ports),
    search: createSearch({ denyRead: options.denyRead ?? [], ...options.search }),
    hooks: createSaveHooks(options.hooks ?? [], limits.binaryProbeBytes),
    metrics,
    log: { warn: () => undefined, error: () => undefined },
    settings: {
      maxFileBytes: limits.maxFileBytes,
      maxReadBytes: limits.maxReadBytes,
      sessionTtlSeconds: limits.sessionTtlSeconds,
      sessionMaxTtlSeconds: limits.sessionMaxTtlSeconds,
      sessionsPerTenant: limits.sessionsPerTenant,
      permitWaitMs: limits.permitWaitMs,
      ...options.settings,
    },
    now,
    randomId: () => randomBytes(18).toString('base64url'),
  })
  const app = await buildApp({
    tools,
    lifecycle,
    metrics,
    checks: async () => ({ store: 'ok', workspaces: 'ok', grammars: 'ok' }),
    options: { ...testAppOptions, ...options.app },
    ...(tracing ? { tracing: tracing.requests } : {}),
  })
  const close = async (): Promise<void> => {
    await app.close()
    if (!options.store) await store.close()
  }
  return new Service(app, store, join(workspacesDir, 'w'), root, close)
}

/** Ends the parser threads that the services of one test file share. */
export async function closeServices(): Promise<void> {
  await syntax?.close()
  syntax = undefined
}

export class Service {
  constructor(
    readonly app: App,
    readonly store: Store,
    /** The workspace `w`. */
    readonly dir: string,
    readonly root: string,
    readonly close: () => Promise<void>,
  ) {}

  async call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const answer = await this.app.inject({
      method,
      url,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    const isJson = String(answer.headers['content-type']).includes('json')
    const parsed = (isJson && answer.body !== '' ? JSON.parse(answer.body) : {}) as Reply['body']
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: parsed,
      code: parsed['code'] as string | undefined,
      text: answer.body,
    }
  }

  async session(fields: Record<string, unknown> = {}): Promise<Client> {
    const answer = await this.call('POST', '/v1/sessions', { workspace: 'w', ...fields })
    if (answer.status !== 201) throw new Error(`no session: ${answer.text}`)
    return new Client(this, answer.body['sessionId'] as string, answer.body)
  }

  async put(file: string, content: string | Uint8Array): Promise<void> {
    const path = join(this.dir, file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content)
  }

  async get(file: string): Promise<string> {
    return readFile(join(this.dir, file), 'utf8')
  }

  async bytes(file: string): Promise<Buffer> {
    return readFile(join(this.dir, file))
  }

  /** Every name below the root with type, mode, size, inode and times: two of them differ when anything on disk changed. */
  async tree(): Promise<string> {
    const names = (await readdir(this.root, { recursive: true })).sort()
    const stats = await Promise.all(names.map(async (name) => lstat(join(this.root, name), { bigint: true })))
    return names
      .map((name, i) => [name, stats[i]?.mode, stats[i]?.size, stats[i]?.ino, stats[i]?.ctimeNs].join(' '))
      .join('\n')
  }

  async rm(file: string): Promise<void> {
    await rm(join(this.dir, file), { recursive: true, force: true })
  }
}

/** One session, with the newest tag of every path it saw. */
export class Client {
  readonly tags = new Map<string, string>()

  constructor(
    private readonly service: Service,
    readonly id: string,
    readonly opened: Reply['body'],
  ) {}

  get url(): string {
    return `/v1/sessions/${this.id}`
  }

  async read(path: string, fields: Record<string, unknown> = {}): Promise<Reply> {
    return this.remember(path, await this.service.call('POST', `${this.url}/read`, { path, ...fields }))
  }

  async grep(pattern: string, fields: Record<string, unknown> = {}): Promise<Reply> {
    return this.service.call('POST', `${this.url}/grep`, { pattern, ...fields })
  }

  async write(
    path: string,
    content: string,
    fields: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const reply = await this.service.call('POST', `${this.url}/write`, { path, content, ...fields }, headers)
    return fields['dryRun'] === true ? reply : this.remember(path, reply)
  }

  /** With the newest tag of the path unless `tag` is given; `tag: undefined` leaves it out. */
  async edit(
    path: string,
    ops: string,
    fields: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const body = { path, tag: this.tags.get(path) ?? '0000', ops, ...fields }
    const reply = await this.service.call('POST', `${this.url}/edit`, body, headers)
    return fields['dryRun'] === true ? reply : this.remember(path, reply)
  }

  get(path: string): Promise<Reply> {
    return this.service.call('GET', `${this.url}${path}`)
  }

  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Reply> {
    return this.service.call('POST', `${this.url}${path}`, body, headers)
  }

  private remember(path: string, reply: Reply): Reply {
    const tag = reply.body['tag'] as string | undefined
    if (reply.status < 400 && typeof tag === 'string')
      this.tags.set((reply.body['movedTo'] as string | undefined) ?? path, tag)
    return reply
  }
}

/** The codes of the warnings of an answer. */
export function warned(reply: Reply): string[] {
  return ((reply.body['warnings'] ?? []) as { code: string }[]).map((warning) => warning.code)
}

const testAppOptions: AppOptions = {
  tokens: [],
  maxBodyBytes: limits.bodyBytes,
  receiveTimeoutMs: 30_000,
  heartbeatMs: 15_000,
  corsOrigins: [],
  trustProxy: [],
  exposeMetrics: true,
  docs: false,
  maxConcurrency: 1_000,
  maxInFlightBytes: 1024 * 1024 * 1024,
  maxEventStreams: 100,
  requestTimeoutMs: 60_000,
  ratePerTenant: 0,
  ratePerAddress: 0,
}
