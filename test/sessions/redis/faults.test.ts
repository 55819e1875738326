/**
 * Redis failing at every command of a mutation, in every way, and what the caller is told. The world is one file; a mutation is the protocol that the tools follow,
 * and a client that is told to send the call again does so with the same key.
 */
import { Redis } from 'ioredis'
import type { Test } from 'tap'
import t from 'tap'
import { ToolError } from '../../../src/errors/tool-error.js'
import type { Permit, Session, Store } from '../../../src/sessions/store.js'
import { sha256 } from '../../../src/text/digest.js'
import { freePort, startRedis } from '../../redis-server.js'
import type { Command, Fate } from '../../tcp-proxy.js'
import { startProxy } from '../../tcp-proxy.js'
import {
  facts,
  held,
  intent,
  opened,
  publish,
  recording,
  review,
  settledWithin,
  until,
} from '../conformance/harness.js'
import { collectingLog, freshNamespace, redisStore } from './harness.js'

const server = await startRedis()
t.teardown(async () => server.stop())

const bounds = { permitLeaseMs: 1_200, permitMarginMs: 120 }
const unavailable = { code: 'STORE_UNAVAILABLE' }

interface World {
  text: string
}

type Outcome = 'recorded' | 'not recorded' | 'replayed' | 'again'

/** One call with an idempotency key that appends a line. */
async function append(store: Store, world: World, sessionId: string, key: string): Promise<Outcome> {
  const opening = await store.openAndClaim(sessionId, key, 'digest', 100)
  if (!opening) throw new Error('the session is gone')
  const { session, claim } = opening
  if (claim.status === 'answered') return 'replayed'
  if (claim.status !== 'mine') return 'again'
  let outcome: Outcome = 'again'
  try {
    outcome = await change(store, world, session, key)
  } finally {
    if (outcome === 'again') await store.unclaim(session, key).catch(() => undefined)
  }
  return outcome
}

async function change(store: Store, world: World, session: Session, key: string): Promise<Outcome> {
  const begun = await store.begin(session, { files: ['/a'], histories: ['/a'] }, 2_000)
  if (begun.status !== 'held') return 'again'
  try {
    for (const leftover of begun.leftovers) {
      const landed = leftover.intent.files[0]?.after === sha256(world.text)
      await store.settle(begun.permit, leftover, landed, () => Buffer.from(world.text))
      if (landed && leftover.intent.answer?.key === key) return 'replayed'
    }
    return await land(store, world, begun.permit, key)
  } finally {
    await store.release(begun.permit)
  }
}

async function land(store: Store, world: World, permit: Permit, key: string): Promise<Outcome> {
  const before = world.text
  const after = `${before}${key}\n`
  const staged = await store.stage(
    permit,
    intent({
      files: [{ path: '/a', before: sha256(before), after: sha256(after) }],
      recordings: [recording('/a', after)],
      registers: [{ name: key, lines: [key] }],
      review: review(key, Buffer.from(before)),
      answer: { key, answer: { status: 200, body: key } },
      events: [{ type: 'edited', data: { key } }],
    }),
  )
  if (staged !== 'staged' || !permit.fresh()) return 'again'
  world.text = after
  try {
    return (await store.commit(permit)) === 'recorded' ? 'recorded' : 'not recorded'
  } catch {
    return 'not recorded'
  }
}

/** A fault at the command number `at` of the first call. */
async function scenario(t: Test, what: string, at: number, fate: Fate): Promise<boolean> {
  const proxy = await startProxy(server.port)
  const log = collectingLog()
  const namespace = freshNamespace()
  const store = redisStore(`redis://127.0.0.1:${proxy.port}`, { namespace, bounds, log, commandTimeoutMs: 750 })
  const observer = redisStore(server.url, { namespace, bounds, log })
  const world: World = { text: 'start\n' }
  const session = await opened(observer)
  const other = await opened(observer)
  await until(async () => store.ping())
  await append(store, world, session.sessionId, 'warm-up')

  let commands = 0
  proxy.decide = ({ name }: Command): Fate => {
    if (!name.startsWith('eval')) return { kind: 'pass' }
    return commands++ === at ? fate : { kind: 'pass' }
  }
  const told: string[] = []
  const call = async (): Promise<Outcome> => {
    try {
      return await append(store, world, session.sessionId, 'line')
    } catch (error) {
      t.ok(error instanceof ToolError && error.is('STORE_UNAVAILABLE'), `${what}: ${String(error)}`)
      return 'again'
    }
  }
  const before = world.text
  const first = await call()
  const wasReached = commands > at
  told.push(first)
  if (first === 'again') t.equal(world.text, before, `${what}: nothing was written`)
  for (let i = 0; told.at(-1) === 'again' && i < 100; i++) {
    await new Promise((resolve) => setTimeout(resolve, 30))
    told.push(await call())
  }
  t.not(told.at(-1), 'again', `${what}: ${told.join(' ')}`)
  t.equal(world.text, 'start\nwarm-up\nline\n', `${what}: written once (${told.join(' ')})`)

  // Whoever comes next completes what is left over.
  await change(observer, { text: world.text }, other, 'other')
  const again = await observer.openAndClaim(session.sessionId, 'line', 'digest', 2_000)
  t.match(again?.claim, { status: 'answered', answer: { body: 'line' } }, `${what}: the answer is kept`)
  t.match(
    (await observer.history(session, '/a')).map((v) => v.tag),
    [facts(world.text).tag, facts(before).tag],
    what,
  )
  t.same(
    (await observer.reviews(session, 10))?.reviews.map((r) => r.reviewId),
    ['line', 'warm-up'],
    what,
  )
  t.same((await observer.register(session, 'line'))?.lines, ['line'], what)
  t.same(log.errors, [], what)
  await Promise.all([store.close(), observer.close(), proxy.close()])
  return wasReached
}

const fates: Record<string, Fate> = {
  'the connection is cut before it': { kind: 'cutBefore' },
  'the connection is cut after it': { kind: 'cutAfter' },
  'the server is loading': { kind: 'error', line: 'LOADING Redis is loading the dataset in memory' },
  'the server became a replica': { kind: 'error', line: "READONLY You can't write against a read only replica." },
  'the server is full': { kind: 'error', line: "OOM command not allowed when used memory > 'maxmemory'." },
  'the server cannot persist': { kind: 'error', line: 'MISCONF Redis is configured to save RDB snapshots' },
  'the server never answers': { kind: 'silence' },
  'the answer is late': { kind: 'late', ms: 1_200 },
}

for (const [name, fate] of Object.entries(fates))
  t.test(`at any command of a mutation: ${name}`, async (t) => {
    const sideBySide = 4
    let reached = 0
    const worker = async (first: number): Promise<void> => {
      for (let at = first; await scenario(t, `${name}, command ${at}`, at, fate); at += sideBySide) reached++
    }
    await Promise.all(Array.from({ length: sideBySide }, async (_, i) => worker(i)))
    t.ok(reached >= 7, `${reached} commands`)
  })

/** Every call of the contract that may throw. */
const calls: Record<string, (store: Store, s: Session, permit: Permit) => Promise<unknown>> = {
  create: async (store) => opened(store),
  open: async (store, s) => store.open(s.sessionId, true),
  openAndClaim: async (store, s) => store.openAndClaim(s.sessionId, 'k', 'd', 0),
  drop: async (store, s) => store.drop(s.sessionId),
  switchWorkspace: async (store, s) => store.switchWorkspace(s, 'other'),
  usage: async (store, s) => store.usage(s),
  history: async (store, s) => store.history(s, '/a'),
  record: async (store, s) => store.record(s, recording('/a', 'a\n'), 'display'),
  recordAll: async (store, s) => store.recordAll(s, [recording('/a', 'a\n')], 'search'),
  text: async (store, s) => store.text(s, facts('a\n').textDigest),
  snapshots: async (store, s) => store.snapshots(s),
  pathsWith: async (store, s) => store.pathsWith(s, 'a', 'AAAA'),
  register: async (store, s) => store.register(s, 'r'),
  registers: async (store, s) => store.registers(s),
  begin: async (store, s) => store.begin(s, { files: ['/a'], histories: [] }, 100),
  stage: async (store, _, permit) => store.stage(permit, intent()),
  commit: async (store, _, permit) => store.commit(permit),
  claim: async (store, s) => store.claim(s, 'k', 'd', 0),
  countFailure: async (store, s) => store.countFailure(s, 'p', '/a', 'X', true),
  review: async (store, s) => store.review(s, 'r'),
  reviews: async (store, s) => store.reviews(s, 10),
  append: async (store, s) => store.append(s, { type: 'read', data: {} }),
  events: async (store, s) => store.events(s, undefined, AbortSignal.timeout(5_000))[Symbol.asyncIterator]().next(),
}

t.test('whatever goes wrong, every call says STORE_UNAVAILABLE in time, and works again after it', async (t) => {
  const proxy = await startProxy(server.port)
  const log = collectingLog()
  const options = { namespace: freshNamespace(), commandTimeoutMs: 600, log, bounds: { permitLeaseMs: 60_000 } }
  const store = redisStore(`redis://127.0.0.1:${proxy.port}`, options)
  t.teardown(async () => {
    await store.close()
    await proxy.close()
  })
  const lines = [
    'LOADING x',
    'READONLY x',
    'OOM x',
    'MISCONF x',
    'CLUSTERDOWN x',
    'NOAUTH x',
    'BUSY x',
    'ERR x',
    'TRYAGAIN x',
  ]
  for (const [name, call] of Object.entries(calls)) {
    const s = await opened(store)
    const { permit } = await held(store, s, [`/held-${name}`])
    await store.stage(permit, intent())
    for (const line of name === 'commit' ? ['OOM x'] : lines) {
      proxy.decide = ({ name: command }) => (command.startsWith('eval') ? { kind: 'error', line } : { kind: 'pass' })
      await t.rejects(call(store, s, permit), unavailable, `${name} ${line}`)
    }
    proxy.decide = () => ({ kind: 'pass' })
    await until(async () => store.ping())
  }
  const s = await opened(store)
  proxy.decide = ({ name }) => (name.startsWith('eval') ? { kind: 'silence' } : { kind: 'pass' })
  const started = performance.now()
  await t.rejects(store.open(s.sessionId, true), unavailable)
  t.ok(performance.now() - started < 2_000)
  proxy.decide = () => ({ kind: 'pass' })
  await until(async () => store.ping())
  await publish(store, s, { recordings: [recording('/a', 'a\n')] })
  t.same(
    log.errors.filter((line) => !line.includes('ERR x')),
    [],
  )
})

t.test(
  'a server that is away: calls fail at once, nothing is queued, a listener waits, release is silent',
  async (t) => {
    const proxy = await startProxy(server.port)
    const namespace = freshNamespace()
    const store = redisStore(`redis://127.0.0.1:${proxy.port}`, { namespace, commandTimeoutMs: 500 })
    const observer = redisStore(server.url, { namespace })
    t.teardown(async () => {
      await Promise.all([store.close(), observer.close(), proxy.close()])
    })
    const s = await opened(store)
    const { permit } = await held(store, s, ['/a'])
    const heard: string[] = []
    const stop = new AbortController()
    const listening = (async () => {
      for await (const event of store.events(s, undefined, stop.signal)) heard.push(event.id)
    })()
    await store.append(s, { type: 'read', data: {} })
    await until(() => heard.length === 1)

    proxy.accept(false)
    await until(async () => !(await store.ping()))
    const started = performance.now()
    const failures = await Promise.allSettled(
      Array.from({ length: 500 }, async () => store.append(s, { type: 'searched', data: {} })),
    )
    t.ok(failures.every((f) => f.status === 'rejected'))
    t.ok(performance.now() - started < 2_000)
    t.equal(permit.fresh(), true)
    await store.release(permit)
    await observer.append(s, { type: 'written', data: {} })

    proxy.accept(true)
    await until(async () => store.ping())
    await until(() => heard.length === 2)
    t.same(heard, ['1', '2'], 'nothing that failed was done later')
    stop.abort()
    await listening
  },
)

t.test('a server that is not there at the start may come later', async (t) => {
  const port = await freePort()
  const store = redisStore(`redis://127.0.0.1:${port}`, { namespace: freshNamespace(), commandTimeoutMs: 300 })
  t.teardown(async () => store.close())
  t.equal(await store.ping(), false)
  await t.rejects(opened(store), unavailable)
  const late = await startRedis([], port)
  t.teardown(late.stop)
  await until(async () => store.ping())
  t.ok(await store.open((await opened(store)).sessionId, true))
})

t.test(
  'a full server that evicts nothing is unavailable for whatever needs room, and lets go of permits',
  async (t) => {
    const full = await startRedis(['--maxmemory-policy', 'noeviction'])
    t.teardown(full.stop)
    const store = redisStore(full.url, { namespace: freshNamespace() })
    t.teardown(async () => store.close())
    const direct = new Redis(full.url)
    t.teardown(() => direct.disconnect())
    const s = await opened(store)
    await store.record(s, recording('/a', 'a\n'), 'display')
    const { permit } = await held(store, s, ['/a'])
    await direct.config('SET', 'maxmemory', '1')
    await t.rejects(store.stage(permit, intent({ recordings: [recording('/a', 'b\n')] })), unavailable)
    await t.rejects(opened(store), unavailable)
    await t.rejects(store.record(s, recording('/b', 'b\n'), 'display'), unavailable)
    t.match(await store.history(s, '/a'), [{ tag: facts('a\n').tag }], 'what needs no room works')
    await store.release(permit)
    t.ok(await store.open(s.sessionId, false))
    await direct.config('SET', 'maxmemory', '0')
    const next = await held(store, s, ['/a'], [], 0)
    t.same(next.leftovers, [])
    await store.release(next.permit)
  },
)

t.test('a restart loses the sessions and nothing else', async (t) => {
  const fragile = await startRedis()
  t.teardown(fragile.stop)
  const store = redisStore(fragile.url, { namespace: freshNamespace(), commandTimeoutMs: 500 })
  t.teardown(async () => store.close())
  const s = await opened(store)
  const { permit } = await held(store, s, ['/a'])
  await store.stage(permit, intent())
  const waiting = store.begin(await opened(store), { files: ['/a'], histories: [] }, 30_000)
  waiting.catch(() => undefined)
  await fragile.kill()
  await t.rejects(store.open(s.sessionId, true), unavailable)
  await t.rejects(waiting, unavailable)
  await fragile.restart()
  await until(async () => store.ping())
  t.equal(await store.open(s.sessionId, true), undefined)
  t.equal(await store.commit(permit), 'gone')
  const again = await opened(store)
  await publish(store, again, { recordings: [recording('/a', 'a\n')] })
  t.equal(await settledWithin(2_000, store.begin(again, { files: ['/a'], histories: [] }, 1_000)), true)
})
