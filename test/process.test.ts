/**
 * The process as it is started: its arguments, its refusal of a bad configuration, and its end by signals.
 */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import t from 'tap'

const program = fileURLToPath(new URL('../src/main.js', import.meta.url))
const patienceMs = 60_000

interface Run {
  readonly child: ChildProcess
  readonly out: () => string
  readonly err: () => string
  readonly ended: Promise<{ code: number | null; signal: string | null }>
}

function run(t: Test, env: Record<string, string>, args: readonly string[] = []): Run {
  const path = process.env['PATH'] ?? ''
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: path, ...env },
    cwd: t.testdir({ workspaces: { demo: {} } }),
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
  }))
  t.teardown(() => child.kill('SIGKILL'))
  return { child, out: () => out, err: () => err, ended }
}

async function until<T>(look: () => T | undefined): Promise<T> {
  const end = performance.now() + patienceMs
  for (;;) {
    const found = look()
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error('waited too long')
    await sleep(20)
  }
}

async function addressOf({ child, out, err }: Run): Promise<string> {
  return until(() => {
    if (child.exitCode !== null) throw new Error(`the service ended: ${err()}`)
    return /listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(out())?.[1]
  })
}

async function post(url: string, body: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

t.test('an argument that is not known is refused', async (t) => {
  const { ended, err } = run(t, {}, ['--print-config', '--bogus'])
  t.same(await ended, { code: 64, signal: null })
  t.match(err(), '--bogus is no argument of this program')
})

t.test('a port that is taken is said in one line, and what its owner has in scratch stays', async (t) => {
  const first = run(t, { PORT: '0', LOG_LEVEL: 'info' })
  const base = await addressOf(first)
  const port = new URL(base).port
  const second = run(t, { PORT: port, LOG_LEVEL: 'silent' })
  t.same(await second.ended, { code: 1, signal: null })
  t.equal(second.err(), `port ${port} on 127.0.0.1 is taken; set PORT to another one\n`)
  // Another process that takes a free port has a folder of its own.
  const { body } = await post(`${base}/v1/sessions`, { workspace: 'demo' })
  const session = `${base}/v1/sessions/${String(body['sessionId'])}`
  const path = `${String(body['scratchRoot'])}/x.txt`
  t.equal((await post(`${session}/write`, { path, content: 'x\n' })).status, 200)
  const third = run(t, { PORT: '0', LOG_LEVEL: 'debug' })
  await addressOf(third)
  await until(() => (/swept/.test(third.out()) ? true : undefined))
  t.equal((await post(`${session}/read`, { path })).status, 200)
  third.child.kill('SIGTERM')
  first.child.kill('SIGTERM')
  await Promise.all([third.ended, first.ended])
})

/** A service whose writes take as long as the hook sleeps, and a session on it. */
async function slow(t: Test, seconds: number): Promise<{ service: Run; base: string; session: string }> {
  const hook = [{ glob: '**', command: ['sh', '-c', `sleep ${seconds}; cat`], timeoutMs: 60_000 }]
  const service = run(t, { PORT: '0', SAVE_HOOKS: JSON.stringify(hook), SCRATCH_DIR: join(t.testdirName, 'scratch') })
  const base = await addressOf(service)
  const opened = await post(`${base}/v1/sessions`, { workspace: 'demo' })
  t.equal(opened.status, 201)
  return { service, base, session: `${base}/v1/sessions/${String(opened.body['sessionId'])}` }
}

async function inFlight(base: string): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${base}/metrics`)).text()
    if (text.includes('anchorline_calls_in_flight 1')) return
    await sleep(20)
  }
}

t.test('--help lists the variables and starts nothing', async (t) => {
  const help = run(t, {}, ['--help'])
  t.equal((await help.ended).code, 0)
  t.match(help.out(), /WORKSPACES_DIR \(\.\/workspaces\)/)
})

t.test('--print-config prints what would be used, and starts nothing', async (t) => {
  const printed = run(t, { PORT: '1234' }, ['--print-config'])
  t.equal((await printed.ended).code, 0)
  t.match(JSON.parse(printed.out()), { PORT: 1234, HOST: '127.0.0.1', STORE: 'memory' })
})

t.test('a configuration that cannot be served ends with 78 and every problem', async (t) => {
  const refused = run(t, { HOST: '0.0.0.0', WORKSPACES_DIR: 'none', STORE: 'redis' })
  t.equal((await refused.ended).code, 78)
  for (const name of ['HOST', 'WORKSPACES_DIR', 'REDIS_URL']) t.match(refused.err(), name)
  t.equal(refused.out(), '')
})

t.test('on the first signal calls in flight finish, new ones are refused, and the process ends with 0', async (t) => {
  const { service, base, session } = await slow(t, 2)
  const write = post(`${session}/write`, { path: 'a.txt', content: 'landed\n' })
  await inFlight(base)
  service.child.kill('SIGTERM')
  const refused = await until(() =>
    service.out().includes('draining') ? post(`${session}/read`, { path: 'a.txt' }) : undefined,
  )
  t.match(refused, { status: 503, body: { code: 'SHUTTING_DOWN', retriable: true } })
  t.equal((await fetch(`${base}/readyz`)).status, 503)
  t.equal((await write).status, 200)
  t.same(await service.ended, { code: 0, signal: null })
  t.equal(await readFile(join(t.testdirName, 'workspaces/demo/a.txt'), 'utf8'), 'landed\n')
})

t.test('the second signal ends the process at once', async (t) => {
  const { service, base, session } = await slow(t, 50)
  const write = post(`${session}/write`, { path: 'a.txt', content: 'x\n' }).catch(() => undefined)
  await inFlight(base)
  const started = performance.now()
  service.child.kill('SIGTERM')
  await until(() => (service.out().includes('draining') ? true : undefined))
  service.child.kill('SIGTERM')
  t.equal((await service.ended).code, 1)
  t.ok(performance.now() - started < 20_000)
  await write
})

t.test('an idle service with a kept connection and an open event stream ends at the first signal', async (t) => {
  const service = run(t, { PORT: '0', SCRATCH_DIR: join(t.testdirName, 'scratch') })
  const base = await addressOf(service)
  const opened = await post(`${base}/v1/sessions`, { workspace: 'demo' })
  const stream = await fetch(`${base}/v1/sessions/${String(opened.body['sessionId'])}/events`)
  t.equal(stream.status, 200)
  service.child.kill('SIGINT')
  t.same(await service.ended, { code: 0, signal: null })
  t.match(await stream.text(), /event: opened/)
})
