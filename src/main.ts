/**
 * The process: environment → config → ports → tools → app → listen → close with grace. The only reader of process.env and the only place that names
 * concrete ports.
 *
 * The first signal turns readiness off, refuses new calls and lets those in flight finish; the second one ends the process. Exit status 78 means that the
 * configuration was refused.
 */
import { readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import { pino } from 'pino'
import { buildApp } from './app.js'
import type { Config } from './config.js'
import { ConfigError, configOf } from './config.js'
import { helpText, shownVariables } from './environment.js'
import { Lifecycle } from './http/lifecycle.js'
import type { HttpMetrics } from './http/metrics.js'
import { createMetrics } from './http/metrics.js'
import type { App } from './http/provider.js'
import { limits } from './limits.js'
import { randomText } from './random.js'
import { readiness } from './readiness.js'
import { createMemoryStore } from './sessions/memory.js'
import type { Store } from './sessions/store.js'
import { createSyntax } from './syntax/pool.js'
import { createTools } from './tools/create-tools.js'
import { measuredStore } from './tools/measured-store.js'
import { tracedPorts } from './tools/tracer.js'
import type { Tracing } from './tracing.js'
import { createWorkspace } from './workspace/disk.js'
import { createSaveHooks } from './workspace/hooks.js'
import type { WorkspacePort } from './workspace/port.js'
import { createSearch } from './workspace/search.js'
import { thisInstance } from './workspace/temp-names.js'

const usageRefused = 64
const configRefused = 78
/** Milliseconds between two looks for orphaned temporary files and scratch folders. */
const sweepEveryMs = 600_000
/** Milliseconds past the grace after which connections that are still open are cut. */
const cutAfterMs = 2_000

/**
 * How much a WebAssembly function must have run before V8 optimizes it. With its default the samples that prove the grammars at start trigger the optimization of
 * huge parser tables: half a minute of CPU that a process cannot even exit from. Grammars that are really used still get there; parsing is as fast.
 */
const wasmTieringBudget = 200_000_000

const now = (): number => Date.now()
const monotonic = (): number => performance.now()
const randomId = (): string => randomText(16, 'base64url')
const randomName = (): string => randomText(12, 'hex')

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    console.log(helpText())
    return
  }
  const unknown = process.argv.slice(2).find((argument) => argument !== '--print-config')
  if (unknown !== undefined) {
    console.error(`${unknown} is no argument of this program; --help tells what is`)
    process.exitCode = usageRefused
    return
  }
  const config = readConfig()
  if (config === undefined) return
  if (process.argv.includes('--print-config')) {
    console.log(JSON.stringify(inForce(config), null, 2))
    return
  }
  await serve(config)
}

/** What variables are, and what those became whose defaults follow from others. */
function inForce({ environment, scratchDir, app }: Config): Record<string, unknown> {
  const derived = { RATE_LIMIT_TENANT: app.ratePerTenant, RATE_LIMIT_ADDRESS: app.ratePerAddress }
  return { ...shownVariables(environment), SCRATCH_DIR: scratchDir, ...derived }
}

/** Says every problem at once and sets the exit status. */
function readConfig(): Config | undefined {
  try {
    return configOf(process.env, {
      cwd: process.cwd(),
      tmpDir: tmpdir(),
      uid: process.getuid?.() ?? 0,
      pid: process.pid,
      readFile: (path) => readFileSync(path, 'utf8'),
      isDirectory: (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false,
    })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(['The configuration is refused:', ...error.problems.map((problem) => `- ${problem}`)].join('\n'))
    process.exitCode = configRefused
    return undefined
  }
}

async function serve(config: Config): Promise<void> {
  setFlagsFromString(`--wasm-tiering-budget=${wasmTieringBudget}`)
  const log = pino({ level: config.logLevel })
  const lifecycle = new Lifecycle()
  const metrics = createMetrics({ process: true })
  const tracing = await openTracing(config, log)
  const store = measuredStore(await openStore(config, log, metrics), metrics, monotonic)
  const syntax = createSyntax({ maxWorkers: config.syntaxWorkers })
  const workspace = createWorkspace({
    ...config,
    instance: await thisInstance(),
    random: randomName,
    now,
    maxFileBytes: config.settings.maxFileBytes,
  })
  const tools = createTools({
    ...(tracing
      ? { ...tracedPorts({ store, workspace, syntax }, tracing.tracer), tracer: tracing.tracer }
      : { store, workspace, syntax }),
    search: createSearch({ denyRead: config.denyRead, maxFileBytes: config.settings.maxFileBytes }),
    hooks: createSaveHooks(config.saveHooks, limits.binaryProbeBytes),
    metrics,
    log,
    settings: config.settings,
    now,
    randomId,
  })
  const grammars = syntax.ready()
  grammars.catch((error: unknown) => {
    if (!lifecycle.draining) log.error({ err: error }, 'a grammar cannot be used')
  })
  measure(metrics, lifecycle, syntax)
  const app = await buildApp({
    tools,
    options: config.app,
    lifecycle,
    metrics,
    checks: readiness({ store: () => store.ping(), workspaces: () => workspace.writable(), grammars, monotonic }),
    logger: log,
    ...(tracing ? { tracing: tracing.requests } : {}),
  })
  const timers: NodeJS.Timeout[] = []
  const release = async (): Promise<void> => {
    for (const timer of timers) clearInterval(timer)
    await store.close()
    await syntax.close()
    await tracing?.close()
  }
  const graceful = closeGracefully(config, log, app, lifecycle, release)
  try {
    await app.listen({ host: config.host, port: config.port })
  } catch (error) {
    const words = whyNotListening(error, config)
    if (words === undefined) throw error
    console.error(words)
    process.exitCode = 1
    graceful.uninstall()
    await app.close()
    await release()
    return
  }
  // Not before: what lies in the default folders of a port belongs to whoever listens on it.
  timers.push(sweepOften(workspace, store, log))
}

/** What the operator can do about an address that is not to be had; undefined for any other fault. */
function whyNotListening(error: unknown, { host, port }: Config): string | undefined {
  const notHere = `${host} is no address of this machine; set HOST to one that is`
  return new Map([
    ['EADDRINUSE', `port ${port} on ${host} is taken; set PORT to another one`],
    ['EACCES', `port ${port} on ${host} may not be taken by this user; set PORT to one above 1023`],
    ['EADDRNOTAVAIL', notHere],
    ['ENOTFOUND', notHere],
  ]).get((error as NodeJS.ErrnoException).code ?? '')
}

async function openTracing({ environment }: Config, log: Logger): Promise<Tracing | undefined> {
  const endpoint = environment.OTEL_EXPORTER_OTLP_ENDPOINT
  if (endpoint === undefined) return undefined
  // Only here, so that a process without traces loads no SDK.
  const { startTracing } = await import('./tracing.js')
  return startTracing(endpoint, log)
}

async function openStore(config: Config, log: Logger, metrics: HttpMetrics): Promise<Store> {
  const common = { monotonic, random: randomId, bounds: { retainedBytesPerProcess: config.retainedBytes } }
  if (config.store.kind === 'memory') return createMemoryStore({ ...common, now })
  // Only here, so that a process with the memory store loads no Redis client.
  const { createRedisStore } = await import('./sessions/redis.js')
  const { url, namespace } = config.store
  const onRoundTrip = (name: string, ms: number): void => metrics.storeRoundTrip(name, ms / 1000)
  return createRedisStore({ ...common, url, namespace, log, onRoundTrip })
}

function measure(metrics: HttpMetrics, lifecycle: Lifecycle, syntax: ReturnType<typeof createSyntax>): void {
  metrics.gauge('calls_in_flight', 'Calls at work.', () => lifecycle.inFlight)
  metrics.gauge('body_bytes_in_flight', 'Bytes of the bodies of calls at work.', () => lifecycle.inFlightBytes)
  metrics.gauge('syntax_workers', 'Threads that parse.', () => syntax.stats().workers)
  metrics.gauge('syntax_queued', 'Parsing jobs that wait for a thread.', () => syntax.stats().queued)
  metrics.gauge('syntax_completed', 'Parsing jobs done.', () => syntax.stats().completed)
  metrics.gauge('syntax_replaced', 'Threads that were lost and replaced.', () => syntax.stats().replaced)
}

/** Removes what crashed processes left behind, now and then. */
function sweepOften(workspace: WorkspacePort, store: Store, log: Logger): NodeJS.Timeout {
  const live = async (sessionId: string): Promise<boolean> => (await store.open(sessionId, false)) !== undefined
  const sweep = (): void => {
    workspace.sweep(live).then(
      (swept) => log.debug(swept, 'swept'),
      (error: unknown) => log.warn({ err: error }, 'the sweep did not end'),
    )
  }
  sweep()
  return setInterval(sweep, sweepEveryMs).unref()
}

function closeGracefully(
  config: Config,
  log: Logger,
  app: App,
  lifecycle: Lifecycle,
  release: () => Promise<void>,
): ReturnType<typeof closeWithGrace> {
  return closeWithGrace({ delay: config.shutdownGraceMs + 2 * cutAfterMs, logger: log }, async ({ signal, err }) => {
    if (err) log.fatal({ err }, 'a fault of this service')
    log.info({ signal, inFlight: lifecycle.inFlight }, 'draining')
    lifecycle.drain()
    await Promise.race([lifecycle.idle(), sleep(config.shutdownGraceMs, undefined, { ref: false })])
    setTimeout(() => app.server.closeAllConnections(), cutAfterMs).unref()
    await app.close()
    await release()
    log.info({ signal }, 'closed')
  })
}

await main()
