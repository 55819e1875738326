/**
 * What the environment means: a frozen Config, or every problem with it at once.
 *
 * Pure: the variables, the working directory and the token file come in as arguments. Refuses anything but loopback without tokens (http-api "Identity and
 * tenancy"). Called by main and by tests.
 */
import { isIP } from 'node:net'
import { resolve, sep } from 'node:path'
import { Type } from '@sinclair/typebox'
import type { Static, TSchema } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import type { AppOptions } from './app.js'
import type { Environment, Variables } from './environment.js'
import { environmentOf } from './environment.js'
import type { TokenGrant } from './http/identity.js'
import { AccessMode, arrayOf, strict } from './schemas/parts.js'
import { parseRedisUrl } from './sessions/redis/url.js'
import type { ToolSettings } from './tools/deps.js'
import type { HookConfig } from './workspace/hooks.js'

export interface Config {
  readonly environment: Environment
  readonly host: string
  readonly port: number
  readonly workspacesDir: string
  readonly scratchDir: string
  readonly externalRoots: readonly string[]
  readonly denyRead: readonly string[]
  readonly denyWrite: readonly string[]
  readonly saveHooks: readonly HookConfig[]
  readonly store:
    { readonly kind: 'memory' } | { readonly kind: 'redis'; readonly url: string; readonly namespace: string }
  readonly retainedBytes: number
  readonly syntaxWorkers: number
  readonly logLevel: string
  readonly shutdownGraceMs: number
  readonly settings: ToolSettings
  readonly app: AppOptions
}

/** What the process stands in, beside its variables. */
export interface Surroundings {
  readonly cwd: string
  readonly tmpDir: string
  /** Keeps the default folders of different users apart. */
  readonly uid: number
  /** Keeps those of processes apart that are given a free port. */
  readonly pid: number
  /** Throws when there is no such file. */
  readonly readFile: (path: string) => string
  readonly isDirectory: (path: string) => boolean
}

export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
  }
}

/** Throws ConfigError with every problem. */
export function configOf(variables: Variables, surroundings: Surroundings): Config {
  const problems: string[] = []
  const environment = environmentOf(variables, problems)
  // What does not have its type cannot be looked at any closer.
  if (problems.length > 0) throw new ConfigError(problems)
  const { cwd } = surroundings
  const tokens = tokensOf(environment, surroundings, problems)
  const workspacesDir = resolve(cwd, environment.WORKSPACES_DIR)
  const scratchDir = resolve(cwd, environment.SCRATCH_DIR ?? defaultScratch(environment, surroundings))
  const config: Config = {
    environment,
    host: environment.HOST,
    port: environment.PORT,
    workspacesDir,
    scratchDir,
    externalRoots: listed('EXTERNAL_ROOTS', environment, problems).map((root) => resolve(cwd, root)),
    denyRead: listed('DENY_READ', environment, problems),
    denyWrite: listed('DENY_WRITE', environment, problems),
    saveHooks: hooksOf(environment, problems),
    store: storeOf(environment, problems),
    retainedBytes: environment.RETAINED_BYTES,
    syntaxWorkers: environment.SYNTAX_WORKERS,
    logLevel: environment.LOG_LEVEL,
    shutdownGraceMs: environment.SHUTDOWN_GRACE_MS,
    settings: {
      maxFileBytes: environment.MAX_FILE_BYTES,
      maxReadBytes: environment.MAX_READ_BYTES,
      sessionTtlSeconds: environment.SESSION_TTL,
      sessionMaxTtlSeconds: environment.SESSION_MAX_TTL,
      sessionsPerTenant: environment.SESSIONS_PER_TENANT,
      permitWaitMs: environment.PERMIT_WAIT_MS,
    },
    app: appOptions(environment, tokens, problems),
  }
  if (tokens.length === 0 && !isLoopback(config.host))
    problems.push(
      `HOST ${config.host} is reachable by others, which needs TOKENS or TOKENS_FILE; without them use 127.0.0.1`,
    )
  for (const root of config.externalRoots)
    if (!surroundings.isDirectory(root)) problems.push(`EXTERNAL_ROOTS ${root} is no directory`)
  for (const name of ['DENY_READ', 'DENY_WRITE'] as const)
    for (const glob of listOf(environment[name]) ?? [])
      if (!isClosed(glob)) problems.push(`${name} ${glob} is no glob: a bracket or brace in it is not closed`)
  for (const proxy of config.app.trustProxy)
    if (!isAddresses(proxy)) problems.push(`TRUST_PROXY ${proxy} is neither an address nor a range such as 10.0.0.0/8`)
  if (!surroundings.isDirectory(workspacesDir)) problems.push(`WORKSPACES_DIR ${workspacesDir} is no directory`)
  if (contains(workspacesDir, scratchDir) || contains(scratchDir, workspacesDir))
    problems.push(`SCRATCH_DIR ${scratchDir} and WORKSPACES_DIR ${workspacesDir} must not lie in each other`)
  if (environment.SESSION_TTL > environment.SESSION_MAX_TTL)
    problems.push('SESSION_TTL must not be above SESSION_MAX_TTL')
  if (environment.MAX_BODY_BYTES <= environment.MAX_FILE_BYTES)
    problems.push('MAX_BODY_BYTES must be above MAX_FILE_BYTES, so that a file of that size can be sent')
  if (problems.length > 0) throw new ConfigError(problems)
  return deepFreeze(config)
}

function appOptions(environment: Environment, tokens: readonly TokenGrant[], problems: string[]): AppOptions {
  const open = tokens.length === 0
  return {
    tokens,
    maxBodyBytes: environment.MAX_BODY_BYTES,
    receiveTimeoutMs: environment.RECEIVE_TIMEOUT_MS,
    requestTimeoutMs: environment.REQUEST_TIMEOUT_MS,
    heartbeatMs: 15_000,
    maxConcurrency: environment.MAX_CONCURRENCY,
    maxInFlightBytes: environment.MAX_INFLIGHT_BYTES,
    maxEventStreams: environment.MAX_EVENT_STREAMS,
    ratePerTenant: environment.RATE_LIMIT_TENANT ?? (open ? 0 : 6_000),
    ratePerAddress: environment.RATE_LIMIT_ADDRESS ?? (open ? 0 : 12_000),
    corsOrigins: listed('CORS_ORIGINS', environment, problems),
    trustProxy: listed('TRUST_PROXY', environment, problems),
    exposeMetrics: environment.METRICS === 'on',
    docs: environment.DOCS === 'on',
  }
}

/** Two services of one user on one machine must not sweep each other's folders. A port that is yet to be found names nobody. */
function defaultScratch({ HOST, PORT }: Environment, { tmpDir, uid, pid }: Surroundings): string {
  const host = HOST.replaceAll(/[^A-Za-z0-9.]/g, '_')
  return resolve(tmpDir, `anchorline-${uid}-${host}-${PORT === 0 ? `process-${pid}` : PORT}`, 'scratch')
}

/** 127.0.0.0/8, ::1 and the name that stands for them. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

const contains = (dir: string, path: string): boolean =>
  path === dir || path.startsWith(dir.endsWith(sep) ? dir : dir + sep)

type ListName = 'EXTERNAL_ROOTS' | 'DENY_READ' | 'DENY_WRITE' | 'CORS_ORIGINS' | 'TRUST_PROXY'

function listed(name: ListName, environment: Environment, problems: string[]): readonly string[] {
  const list = listOf(environment[name])
  if (list === undefined) problems.push(`${name} begins like a JSON array and is none of strings`)
  return list ?? []
}

/**
 * A JSON array of strings, or words separated by commas outside of braces; blanks around them are dropped. Undefined for what begins like an array and is none: taken as a
 * word it would be a rule that covers nothing.
 */
export function listOf(value: string): readonly string[] | undefined {
  if (value.trimStart().startsWith('[')) {
    const parsed = jsonOf(value)
    if (Array.isArray(parsed)) return parsed.every((each) => typeof each === 'string') ? parsed : undefined
    if (/^\s*\[\s*"/.test(value)) return undefined
  }
  const words: string[] = []
  let word = ''
  let depth = 0
  for (const char of value) {
    if (char === '{') depth++
    if (char === '}') depth = Math.max(0, depth - 1)
    if (char === ',' && depth === 0) {
      words.push(word)
      word = ''
    } else word += char
  }
  return [...words, word].map((each) => each.trim()).filter((each) => each !== '')
}

/** Every bracket and brace of a glob ends. */
function isClosed(glob: string): boolean {
  const plain = glob.replaceAll(/\\./gs, '').replaceAll(/\[[!^]?\]?[^\]]*\]/g, '')
  if (plain.includes('[')) return false
  let depth = 0
  for (const char of plain) {
    if (char === '{') depth++
    if (char === '}' && depth > 0) depth--
  }
  return depth === 0
}

/** An address, a range of them, or a name that the proxy rules of the server know. */
function isAddresses(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true
  const [address = '', bits, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  if (bits === undefined || (version === 4 && isIP(bits) === 4)) return true
  return /^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128)
}

function jsonOf(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

function storeOf(environment: Environment, problems: string[]): Config['store'] {
  if (environment.STORE === 'memory') return { kind: 'memory' }
  const { REDIS_URL: url = '', REDIS_NAMESPACE: namespace } = environment
  try {
    parseRedisUrl(url)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    problems.push(url === '' ? 'REDIS_URL is needed with STORE=redis' : error.message)
  }
  return { kind: 'redis', url, namespace }
}

/** An empty list is a mistake and not the wish to do without tokens. */
const TokensSchema = Type.Array(
  strict({
    sha256: Type.String({ pattern: '^[0-9a-fA-F]{64}$' }),
    tenant: Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }),
    workspaces: Type.Union([
      Type.Literal('*'),
      arrayOf(strict({ name: Type.String({ minLength: 1 }), access: AccessMode })),
    ]),
  }),
  { minItems: 1 },
)

function tokensOf(
  environment: Environment,
  { cwd, readFile }: Surroundings,
  problems: string[],
): readonly TokenGrant[] {
  const { TOKENS, TOKENS_FILE } = environment
  if (TOKENS !== undefined && TOKENS_FILE !== undefined) problems.push('TOKENS and TOKENS_FILE exclude each other')
  let source = TOKENS
  if (TOKENS_FILE !== undefined)
    try {
      source = readFile(resolve(cwd, TOKENS_FILE))
    } catch {
      problems.push(`TOKENS_FILE ${TOKENS_FILE} cannot be read`)
      return []
    }
  if (source === undefined) return []
  const tokens = checked(TOKENS_FILE === undefined ? 'TOKENS' : 'TOKENS_FILE', source, TokensSchema, problems) ?? []
  if (new Set(tokens.map((token) => token.sha256.toLowerCase())).size < tokens.length)
    problems.push('TOKENS must not hold one sha256 twice')
  return tokens.map(({ sha256, tenant, workspaces }) => ({
    sha256: sha256.toLowerCase(),
    tenant,
    ...(workspaces === '*' ? {} : { grants: new Map(workspaces.map(({ name, access }) => [name, access])) }),
  }))
}

const HooksSchema = arrayOf(
  strict({
    glob: Type.String({ minLength: 1 }),
    command: Type.Array(Type.String(), { minItems: 1 }),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 60_000 })),
  }),
)
const hookTimeoutMs = 5_000

function hooksOf({ SAVE_HOOKS }: Environment, problems: string[]): readonly HookConfig[] {
  if (SAVE_HOOKS === undefined) return []
  const hooks = checked('SAVE_HOOKS', SAVE_HOOKS, HooksSchema, problems) ?? []
  return hooks.flatMap(({ glob, command: [program, ...args], timeoutMs = hookTimeoutMs }) =>
    program === undefined ? [] : [{ glob, command: [program, ...args], timeoutMs }],
  )
}

/** JSON that fits a schema; otherwise undefined, and one problem per thing wrong. Never quotes the value, which may be a secret. */
function checked<S extends TSchema>(
  name: string,
  source: string,
  schema: S,
  problems: string[],
): Static<S> | undefined {
  const value = jsonOf(source)
  if (value === undefined) {
    problems.push(`${name} is not valid JSON`)
    return undefined
  }
  const validate = new Ajv({ strict: true }).compile<Static<S>>(schema)
  if (validate(value)) return value
  for (const error of validate.errors ?? []) problems.push(`${name}${error.instancePath} ${error.message ?? ''}`)
  return undefined
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const each of Object.values(value)) deepFreeze(each)
  return Object.freeze(value)
}
