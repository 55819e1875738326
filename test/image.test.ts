/**
 * The files that make and run the image, as far as they can be judged without a container engine: what they name exists, and the settings are ones the service takes.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import t from 'tap'
import { configOf } from '../src/config.js'
import { EnvironmentSchema } from '../src/environment.js'
import { packageRoot } from '../src/package-root.js'

const root = packageRoot(import.meta.url)
const text = (path: string): string => readFileSync(join(root, path), 'utf8')

t.test('the image is built in stages and runs node itself, as a user without a name', async (t) => {
  const lines = text('Dockerfile').replaceAll('\\\n', ' ').split('\n')
  const after = (word: string): string[] =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))
  const bases = after('FROM').map((each) => each.split(' ')[0])
  t.ok(bases.length > 1)
  for (const base of bases) t.match(base, /^node:(22|24)-bookworm-slim$/)
  t.match(after('USER').at(-1), /^[1-9]\d*:[1-9]\d*$/, 'a number can be told from root by whoever runs it')
  const command = JSON.parse(after('CMD').at(-1) ?? '') as string[]
  t.equal(command[0], 'node')
  t.ok(
    existsSync(join(root, (command.at(-1) ?? '').replace(/^dist\/(.*)\.js$/, '$1.ts'))),
    'the entry is a source file, compiled',
  )
  t.match(text('Dockerfile'), /HEALTHCHECK[^]*\/readyz/)
  t.match(text('Dockerfile'), /npm ci --omit=dev/)
  const sent = text('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1))
  const copied = after('COPY')
    .filter((each) => !each.startsWith('--from'))
    .flatMap((each) => each.split(' ').slice(0, -1))
  for (const each of copied) {
    t.ok(existsSync(join(root, each)), `${each} exists`)
    t.ok(sent.includes(each), `${each} is sent to the builder`)
  }
})

interface Service {
  readonly image: string
  readonly command?: string | readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly healthcheck?: { readonly test?: readonly string[] }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

t.test('docker compose brings the service, its store and a demo workspace', async (t) => {
  const { services, volumes } = load(text('docker-compose.yml')) as {
    services: Record<string, Service>
    volumes: object
  }
  const { anchorline, redis, 'demo-workspace': demo } = services
  if (!anchorline || !redis || !demo) throw new Error('a service is missing')
  for (const each of Object.values(services)) {
    t.equal(each.read_only, true, `${each.image} has a read-only root`)
    t.same(each.cap_drop, ['ALL'])
    for (const volume of each.volumes ?? []) {
      const [source = ''] = volume.split(':')
      t.ok(source.startsWith('.') ? existsSync(join(root, source)) : source in volumes, volume)
    }
  }
  const variables = anchorline.environment ?? {}
  for (const key of Object.keys(variables))
    t.ok(key in EnvironmentSchema.properties, `${key} is a variable of the service`)
  const config = configOf(
    { ...variables, WORKSPACES_DIR: '/workspaces', SCRATCH_DIR: '/scratch' },
    { cwd: '/app', tmpDir: '/tmp', uid: 1000, pid: 1, readFile: text, isDirectory: () => true },
  )
  t.match(config.store, { kind: 'redis', url: 'redis://redis:6379' })
  t.equal(config.app.tokens[0]?.sha256, createHash('sha256').update('demo').digest('hex'))
  for (const port of anchorline.ports ?? [])
    t.ok(port.startsWith('127.0.0.1:'), 'everybody knows the demo token: the port is not published')
  t.same(
    Object.entries(anchorline.depends_on ?? {})
      .map(([name, { condition }]) => `${name} ${condition}`)
      .sort(),
    ['demo-workspace service_completed_successfully', 'redis service_healthy'],
  )
  t.match(redis.command, /--maxmemory \S+ --maxmemory-policy noeviction/)
  t.ok(redis.healthcheck?.test)
})

t.test('the workflow runs the same script as everybody, on every supported Node', async (t) => {
  const { jobs } = load(text('.github/workflows/ci.yml')) as {
    jobs: { test: { strategy: { matrix: { node: number[] } }; steps: { run?: string }[] } }
  }
  t.same(jobs.test.strategy.matrix.node, [20, 22, 24])
  t.ok(jobs.test.steps.some(({ run }) => run === 'bash .ci/run'))
  t.ok(existsSync(join(root, '.ci/run')))
})
