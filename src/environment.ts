/**
 * Every environment variable of the process as one schema: its type, bounds, default and meaning.
 *
 * Says what a variable is, not what it leads to; that is config. The README's table and `--help` are made from it. Called by config and main.
 */
import type { Static, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { ErrorObject } from 'ajv'
import { Ajv } from 'ajv'
import { limits } from './limits.js'
import { oneOf } from './schemas/parts.js'

const text = (description: string, value: string) => Type.String({ description, default: value })
const optional = (description: string) => Type.Optional(Type.String({ description }))
const count = (description: string, value: number, bounds: { minimum?: number; maximum?: number } = {}) =>
  Type.Integer({ minimum: 1, description, default: value, ...bounds })
const rate = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }))
const flag = (description: string) => oneOf(['on', 'off'], { description, default: 'on' })

/** In the order of the README. What a list is, `listRule` says. */
export const EnvironmentSchema = Type.Object({
  HOST: text('Address to listen on. Anything but loopback needs tokens.', '127.0.0.1'),
  PORT: count('Port to listen on; 0 takes a free one.', 8080, { minimum: 0, maximum: 65_535 }),
  WORKSPACES_DIR: text('Every directory directly below it is a workspace.', './workspaces'),
  SCRATCH_DIR: optional(
    'Holds one private folder per session; outside WORKSPACES_DIR, and for services of one store alone. Default: a folder for this user, address and port below the temporary directory.',
  ),
  EXTERNAL_ROOTS: text('List of directories that sessions may ask for as further roots.', ''),
  DENY_READ: text('List of globs of paths whose content is never shown.', ''),
  DENY_WRITE: text('List of globs of paths that are never changed.', '**/.git,**/.git/**'),
  SAVE_HOOKS: optional(
    'JSON, for example [{"glob": "**/*.ts", "command": ["prettier", "--stdin-filepath", "{path}"], "timeoutMs": 5000}]: the text goes through the command before it is written.',
  ),
  STORE: oneOf(['memory', 'redis'], {
    description: 'Where sessions live: memory for one process, redis for any number.',
    default: 'memory',
  }),
  REDIS_URL: optional(
    'redis://, redis-sentinel:// or redis-cluster:// URL, rediss… with TLS; needed with STORE=redis.',
  ),
  REDIS_NAMESPACE: Type.String({
    description: 'Beginning of every key, for services that share a server.',
    default: 'anchorline',
    pattern: '^[A-Za-z0-9._-]{1,64}$',
  }),
  TOKENS: optional(
    'JSON, for example [{"sha256": "64 hex digits", "tenant": "acme", "workspaces": [{"name": "demo", "access": "read-only"}]}]; "workspaces": "*" grants every workspace, read-write; the name "*" in the list stands for every workspace that is not in it.',
  ),
  TOKENS_FILE: optional('File with the JSON of TOKENS, in place of it.'),
  SESSION_TTL: count('Seconds without a tool call after which a session ends.', limits.sessionTtlSeconds),
  SESSION_MAX_TTL: count('Most seconds that a session may ask for.', limits.sessionMaxTtlSeconds),
  SESSIONS_PER_TENANT: count('Sessions that a tenant may have open.', limits.sessionsPerTenant),
  MAX_FILE_BYTES: count('Bytes of a file that Edit and Write accept.', limits.maxFileBytes, { maximum: 268_435_456 }),
  MAX_READ_BYTES: count('Bytes of a file that Read accepts.', limits.maxReadBytes),
  MAX_BODY_BYTES: count('Bytes of an HTTP body.', limits.bodyBytes, { minimum: 1_048_576, maximum: 536_870_912 }),
  RETAINED_BYTES: count(
    'Bytes of texts that one process keeps for recovery, all sessions together.',
    limits.retainedBytesPerProcess,
  ),
  PERMIT_WAIT_MS: count('Milliseconds that a mutation waits for its session and files.', limits.permitWaitMs, {
    minimum: 0,
    maximum: 60_000,
  }),
  REQUEST_TIMEOUT_MS: count('Milliseconds after which a call is stopped.', 30_000, { minimum: 100, maximum: 100_000 }),
  RECEIVE_TIMEOUT_MS: count('Milliseconds within which a request must have arrived.', 60_000, { minimum: 1_000 }),
  MAX_CONCURRENCY: count('Calls at work at once; the next one is OVERLOADED.', 256),
  MAX_INFLIGHT_BYTES: count('Bytes of request bodies at work at once.', 268_435_456, { minimum: 1_048_576 }),
  MAX_EVENT_STREAMS: count('Event streams open at once.', 1_000, { minimum: 0 }),
  RATE_LIMIT_TENANT: rate(
    'Requests per minute and tenant in one process, 0 for no bound. Default: 6000 with tokens, 0 without.',
  ),
  RATE_LIMIT_ADDRESS: rate(
    'Requests per minute and client address in one process, 0 for no bound. Default: 12000 with tokens, 0 without.',
  ),
  TRUST_PROXY: text('List of addresses or ranges of proxies whose X-Forwarded-For is believed.', ''),
  CORS_ORIGINS: text('List of origins that browsers may call from; none turns CORS off.', ''),
  SYNTAX_WORKERS: count('Threads that parse.', 2, { maximum: 64 }),
  METRICS: flag('Whether /metrics is served.'),
  DOCS: flag('Whether /docs and /openapi.json are served.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      description: 'Base URL of an OpenTelemetry collector that takes traces as OTLP over HTTP; none turns traces off.',
      pattern: '^https?://[^\\s@/]+(/[^\\s@]*)?$',
    }),
  ),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    description: 'What is logged; one line per request at info.',
    default: 'info',
  }),
  SHUTDOWN_GRACE_MS: count('Milliseconds that calls in flight may take after the first signal.', 25_000, {
    minimum: 0,
  }),
})

export type Environment = Static<typeof EnvironmentSchema>
export type Variables = Readonly<Record<string, string | undefined>>

const properties: Readonly<Record<string, TSchema>> = EnvironmentSchema.properties
const names = Object.keys(properties)

/** The variables after defaults. Unknown ones are not looked at, empty ones count as unset. Every problem is added to `problems`. */
export function environmentOf(variables: Variables, problems: string[]): Environment {
  const given: Record<string, unknown> = {}
  for (const name of names) if (variables[name] !== undefined && variables[name] !== '') given[name] = variables[name]
  const ajv = new Ajv({ allErrors: true, coerceTypes: true, useDefaults: true, strict: true })
  const validate = ajv.compile<Environment>(EnvironmentSchema)
  if (!validate(given)) for (const error of validate.errors ?? []) problems.push(problemOf(error))
  return given as Environment
}

function problemOf({ instancePath, keyword, params, message }: ErrorObject): string {
  const name = instancePath.slice(1)
  const allowed = (params as { allowedValues?: readonly string[] }).allowedValues
  return keyword === 'enum' && allowed ? `${name} must be one of ${allowed.join(', ')}` : `${name} ${message ?? ''}`
}

/** The text of a variable as `--print-config` shows it; what could let somebody in is hidden. */
export function shownVariables(environment: Environment): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => {
      if (name === 'TOKENS') return [name, '(hidden)']
      return [name, name === 'REDIS_URL' ? withoutSecrets(String(value)) : value]
    }),
  )
}

/** Neither user nor parameters, which may hold passwords. */
const withoutSecrets = (url: string): string => url.replace(/\?.*$/, '?(hidden)').replace(/\/\/.*@/, '//(hidden)@')

function defaultOf(schema: TSchema): string {
  const value: unknown = schema['default']
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** The table of the README: one row per variable. */
export function environmentTable(): string {
  const rows = Object.entries(properties).map(
    ([name, schema]) => `| \`${name}\` | ${code(defaultOf(schema))} | ${escaped(meaningOf(schema))} |`,
  )
  return ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n')
}

/** A text with the table between its two configuration marks, whatever stood there before. */
export const withEnvironmentTable = (markdown: string): string =>
  markdown.replace(
    /(<!-- configuration -->\n)[^]*?(<!-- \/configuration -->)/,
    (_all, before: string, after: string) => `${before}\n${environmentTable()}\n\n${after}`,
  )

const code = (value: string): string => (value === '' ? '' : `\`${value}\``)
const escaped = (value: string): string => value.replaceAll('|', '\\|').replaceAll('*', '\\*')

function meaningOf(schema: TSchema): string {
  const words: unknown = schema['enum']
  return `${schema.description ?? ''}${Array.isArray(words) ? ` One of ${words.join(', ')}.` : ''}`
}

const listRule = 'Lists are separated by commas outside of braces, or are JSON arrays of strings.'

/** What `--help` prints. */
export function helpText(): string {
  return [
    'anchorline: an edit service for agents, configured by environment variables.',
    '',
    '  --help          print this text',
    '  --print-config  print the configuration that would be used, secrets hidden, and every problem with it',
    '',
    listRule,
    '',
    ...Object.entries(properties).flatMap(([name, schema]) => [
      `${name}${defaultOf(schema) === '' ? '' : ` (${defaultOf(schema)})`}`,
      `  ${meaningOf(schema)}`,
    ]),
  ].join('\n')
}
