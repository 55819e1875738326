/**
 * The environment: defaults, lists, tokens, and every problem at once.
 */
import t from 'tap'
import type { Surroundings } from '../src/config.js'
import { ConfigError, configOf, isLoopback, listOf } from '../src/config.js'
import { environmentTable, EnvironmentSchema, helpText, shownVariables } from '../src/environment.js'
import { limits } from '../src/limits.js'

const digest = 'a'.repeat(64)
const token = { sha256: digest, tenant: 'acme', workspaces: '*' }

const around = (files: Record<string, string> = {}): Surroundings => ({
  cwd: '/srv/app',
  tmpDir: '/tmp',
  uid: 7,
  pid: 4711,
  isDirectory: (path) => !path.includes('missing'),
  readFile: (path) => {
    const text = files[path]
    if (text === undefined) throw new Error(`ENOENT ${path}`)
    return text
  },
})

const config = (env: Record<string, string> = {}, files?: Record<string, string>) => configOf(env, around(files))

function problems(env: Record<string, string>, files?: Record<string, string>): readonly string[] {
  try {
    config(env, files)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

t.test('an empty environment serves loopback from memory with the bounds of the contract', async (t) => {
  t.match(config(), {
    host: '127.0.0.1',
    port: 8080,
    workspacesDir: '/srv/app/workspaces',
    scratchDir: '/tmp/anchorline-7-127.0.0.1-8080/scratch',
    externalRoots: [],
    denyRead: [],
    denyWrite: ['**/.git', '**/.git/**'],
    saveHooks: [],
    store: { kind: 'memory' },
    settings: { maxFileBytes: limits.maxFileBytes, sessionTtlSeconds: 3_600 },
    app: { tokens: [], ratePerTenant: 0, ratePerAddress: 0, corsOrigins: [], exposeMetrics: true, docs: true },
  })
  t.ok(Object.isFrozen(config()) && Object.isFrozen(config().app))
})

t.test('an empty variable is an unset one, and unknown variables are not looked at', async (t) => {
  t.same(config({ PORT: '', TOKENS: '', HOST: '', PATH: '/bin', SESSION_TTLL: 'x' }), config())
})

t.test('two services of one user on one machine have scratch folders of their own', async (t) => {
  t.not(config({ PORT: '1' }).scratchDir, config({ PORT: '2' }).scratchDir)
  t.not(config({ HOST: '127.0.0.2' }).scratchDir, config().scratchDir)
  t.equal(config({ HOST: '::1', PORT: '1' }).scratchDir, '/tmp/anchorline-7-__1-1/scratch')
  t.equal(config({ PORT: '0' }).scratchDir, '/tmp/anchorline-7-127.0.0.1-process-4711/scratch', 'no port is known yet')
})

t.test('lists are separated by commas outside of braces, or are JSON arrays', async (t) => {
  t.same(listOf(''), [])
  t.same(listOf(' a , b,,c '), ['a', 'b', 'c'])
  t.same(listOf('**/*.{pem,key},secrets/**'), ['**/*.{pem,key}', 'secrets/**'])
  t.same(listOf('["a,b","c"]'), ['a,b', 'c'])
  t.same(listOf('[ab].txt,c'), ['[ab].txt', 'c'], 'a glob may begin with a bracket')
  t.same(config({ EXTERNAL_ROOTS: 'data,/mnt/x' }).externalRoots, ['/srv/app/data', '/mnt/x'])
})

t.test('a list, a glob, a directory or a proxy that would protect or trust nothing is refused', async (t) => {
  const wrong: [Record<string, string>, RegExp][] = [
    [{ DENY_READ: '["**/*.pem"' }, /^DENY_READ begins like a JSON array/],
    [{ DENY_WRITE: '["a", 1]' }, /^DENY_WRITE begins like a JSON array/],
    [{ EXTERNAL_ROOTS: '[1]' }, /^EXTERNAL_ROOTS begins like a JSON array/],
    [{ DENY_READ: '[' }, /^DENY_READ \[ is no glob/],
    [{ DENY_READ: 'a,**/[b' }, /^DENY_READ \*\*\/\[b is no glob/],
    [{ DENY_WRITE: '*.{pem,key' }, /^DENY_WRITE .* is no glob/],
    [{ EXTERNAL_ROOTS: '/missing/a' }, /^EXTERNAL_ROOTS \/missing\/a is no directory/],
    ...['foo', '10.0.0.0/33', '10.0.0.0/0', '::/129', '1.2.3', '10.0.0.1/8/8', 'http://10.0.0.1'].map(
      (proxy): [Record<string, string>, RegExp] => [
        { TRUST_PROXY: proxy },
        /^TRUST_PROXY .* is neither an address nor/,
      ],
    ),
  ]
  for (const [env, words] of wrong) t.match(problems(env), [words], JSON.stringify(env))
  for (const glob of ['[ab].txt', '[!a]*', '[]]x', '\\[a', '*.{a,b}', 'a}', '{a,{b,c}}'])
    t.same(problems({ DENY_READ: glob }), [], glob)
  for (const proxy of ['loopback', '10.0.0.1', '10.0.0.0/8', '10.0.0.0/255.0.0.0', 'fc00::/7', '::1,127.0.0.1'])
    t.same(problems({ TRUST_PROXY: proxy }), [], proxy)
})

t.test('anything but loopback needs tokens', async (t) => {
  for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost']) t.ok(isLoopback(host), host)
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.org', '127.0.0.1.evil.example', '1270.0.0.1', ''])
    t.notOk(isLoopback(host), host)
  t.match(problems({ HOST: '0.0.0.0' }), [/HOST 0\.0\.0\.0 .*TOKENS/])
  t.same(problems({ HOST: '0.0.0.0', TOKENS: JSON.stringify([token]) }), [])
})

t.test('tokens come from the environment or a file, with their grants', async (t) => {
  const some = { ...token, sha256: digest.toUpperCase(), workspaces: [{ name: 'demo', access: 'read-only' }] }
  const inline = config({ TOKENS: JSON.stringify([some, { ...token, sha256: 'b'.repeat(64) }]) })
  t.same(inline.app.tokens, [
    { sha256: digest, tenant: 'acme', grants: new Map([['demo', 'read-only']]) },
    { sha256: 'b'.repeat(64), tenant: 'acme' },
  ])
  t.ok(inline.app.ratePerTenant > 0 && inline.app.ratePerAddress > 0, 'with tokens rates are bounded by default')
  t.equal(config({ TOKENS: JSON.stringify([token]), RATE_LIMIT_TENANT: '0' }).app.ratePerTenant, 0)
  t.same(
    config({ TOKENS_FILE: 'tokens.json' }, { '/srv/app/tokens.json': JSON.stringify([token]) }).app.tokens.length,
    1,
  )
})

t.test('tokens that are not understood are refused without being repeated', async (t) => {
  const wrong = [
    'secret',
    '[]',
    '{}',
    JSON.stringify([{ ...token, sha256: 'secret' }]),
    JSON.stringify([{ ...token, token: 'secret' }]),
    JSON.stringify([{ ...token, workspaces: ['demo'] }]),
    JSON.stringify([token, token]),
  ]
  for (const TOKENS of wrong) {
    const found = problems({ TOKENS })
    t.ok(found.length > 0, TOKENS)
    t.notMatch(found.join(), /secret/)
  }
  t.match(problems({ TOKENS_FILE: 'none.json' }), [/TOKENS_FILE none\.json cannot be read/])
  t.match(problems({ TOKENS: JSON.stringify([token]), TOKENS_FILE: 'none.json' }), [
    /exclude each other/,
    /cannot be read/,
  ])
})

t.test('save hooks are JSON with a program each', async (t) => {
  const hooks = [{ glob: '**/*.ts', command: ['prettier', '--stdin-filepath', '{path}'], timeoutMs: 100 }]
  t.same(config({ SAVE_HOOKS: JSON.stringify(hooks) }).saveHooks, hooks)
  t.equal(config({ SAVE_HOOKS: '[{"glob":"*","command":["cat"]}]' }).saveHooks[0]?.timeoutMs, 5_000)
  for (const SAVE_HOOKS of [
    'x',
    '{}',
    '[{"glob":"*"}]',
    '[{"glob":"*","command":[]}]',
    '[{"glob":"*","command":["a"],"shell":true}]',
  ])
    t.ok(problems({ SAVE_HOOKS }).length > 0, SAVE_HOOKS)
})

t.test('Redis needs its URL', async (t) => {
  t.match(problems({ STORE: 'redis' }), [/REDIS_URL/])
  t.match(problems({ STORE: 'redis', REDIS_URL: 'http://x' }), [/REDIS_URL/])
  t.match(config({ STORE: 'redis', REDIS_URL: 'redis://h:6379/1' }).store, {
    kind: 'redis',
    url: 'redis://h:6379/1',
    namespace: 'anchorline',
  })
})

t.test('folders must be there and must not lie in each other', async (t) => {
  t.match(problems({ WORKSPACES_DIR: '/missing' }), [/WORKSPACES_DIR \/missing is no directory/])
  for (const [workspaces, scratch] of [
    ['/data', '/data'],
    ['/data', '/data/scratch'],
    ['/data/workspaces', '/data'],
  ] as const)
    t.match(problems({ WORKSPACES_DIR: workspaces, SCRATCH_DIR: scratch }), [/must not lie in each other/])
  t.same(problems({ WORKSPACES_DIR: '/data', SCRATCH_DIR: '/data-scratch' }), [])
})

t.test('every problem is named at once', async (t) => {
  const types = problems({
    PORT: '70000',
    STORE: 'etcd',
    LOG_LEVEL: 'loud',
    SESSION_TTL: 'x',
    MAX_FILE_BYTES: '0.5',
    METRICS: 'yes',
  })
  for (const name of ['PORT', 'STORE', 'LOG_LEVEL', 'SESSION_TTL', 'MAX_FILE_BYTES', 'METRICS'])
    t.equal(types.filter((problem) => problem.startsWith(name)).length, 1, name)
  const meanings = problems({
    HOST: '::',
    STORE: 'redis',
    SESSION_TTL: '100',
    SESSION_MAX_TTL: '10',
    MAX_BODY_BYTES: '1048576',
    SAVE_HOOKS: 'x',
  })
  t.equal(meanings.length, 5, meanings.join('\n'))
})

t.test('the printed configuration hides what could let somebody in', async (t) => {
  const { environment } = config({
    STORE: 'redis',
    REDIS_URL: 'redis-sentinel://user:pa@ss@h:1/name?sentinelPassword=pb',
    TOKENS: JSON.stringify([token]),
  })
  const shown = JSON.stringify(shownVariables(environment))
  t.notMatch(shown, /user|pa@|ss@|pb|aaaa/)
  t.match(shown, /h:1\/name/)
})

t.test('help and table name every variable with its meaning', async (t) => {
  for (const [name, schema] of Object.entries(EnvironmentSchema.properties)) {
    t.ok(schema.description, name)
    t.match(helpText(), new RegExp(`^${name}\\b`, 'm'))
    t.match(environmentTable(), new RegExp(`^\\| \`${name}\` \\|`, 'm'))
  }
})
