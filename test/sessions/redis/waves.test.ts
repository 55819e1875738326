/** How many waves of commands each step takes, and that a text travels once. */
import { Redis } from 'ioredis'
import t from 'tap'
import { startRedis } from '../../redis-server.js'
import { startProxy } from '../../tcp-proxy.js'
import { facts, held, intent, opened, recording, review, textOf } from '../conformance/harness.js'
import { closeServices, service } from '../../service.js'
import { freshNamespace, redisStore } from './harness.js'

const server = await startRedis()
const proxy = await startProxy(server.port)
t.teardown(async () => {
  await proxy.close()
  await server.stop()
})

let sent = 0
proxy.decide = (command) => {
  sent += command.bytes
  return { kind: 'pass' }
}

/** Commands that overlap in time are one wave. */
const spans: { name: string; from: number; to: number }[] = []
const store = redisStore(`redis://127.0.0.1:${proxy.port}`, {
  namespace: freshNamespace(),
  onRoundTrip: (name, ms) => {
    const to = performance.now()
    spans.push({ name, from: to - ms, to })
  },
})
t.teardown(async () => store.close())

interface Cost {
  readonly waves: number
  readonly names: string[]
  readonly bytes: number
}

async function cost(work: () => Promise<unknown>): Promise<Cost> {
  spans.length = 0
  sent = 0
  await work()
  let waves = 0
  let end = -Infinity
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    if (span.from > end) waves++
    end = Math.max(end, span.to)
  }
  return { waves, names: spans.map((s) => s.name).sort(), bytes: sent }
}

async function edit(text: string, sessionId: string, key: string, before?: Buffer): Promise<void> {
  const opening = (await store.openAndClaim(sessionId, key, 'digest', 1_000))!
  const { permit } = await held(store, opening.session, ['/a', '/b'], ['/a'])
  await store.stage(
    permit,
    intent({
      files: [{ path: '/a', before: 'x', after: 'y' }],
      recordings: [recording('/a', text)],
      registers: [{ name: 'r', lines: ['x'] }],
      review: review(`review-${key}`, before),
      answer: { key, answer: { status: 200, body: '{}' } },
      clearGuard: { promptId: 'p', path: '/a' },
      events: [{ type: 'edited', data: {} }],
    }),
  )
  await store.commit(permit)
  await store.release(permit)
}

t.test('waves of a Read and of a direct Edit', async (t) => {
  const s = await opened(store)
  const text = textOf(50_000, 'first')
  const read = async (): Promise<void> => {
    await store.open(s.sessionId, true)
    await Promise.all([
      store.record(s, recording('/a', text), 'display'),
      store.append(s, { type: 'read', data: { path: '/a' } }),
    ])
  }
  await read()
  await edit(textOf(100, 'warm up'), s.sessionId, 'k0')
  const first = await opened(store)
  await store.record(first, recording('/a', textOf(10, 'warm')), 'display')

  t.test('a Read of a file that is new to the session: two waves, and one that carries its text', async (t) => {
    const { waves, names } = await cost(async () => {
      await store.open(first.sessionId, true)
      await store.record(first, recording('/new', textOf(1_000, 'new')), 'display')
    })
    t.same(names, ['open', 'put-texts', 'record'])
    t.equal(waves, 3)
  })

  t.test('a Read of an unchanged file: two waves, its text stays here', async (t) => {
    const { waves, names, bytes } = await cost(read)
    t.same(names, ['append', 'open', 'record'])
    t.equal(waves, 2)
    t.ok(bytes < 2_000, `${bytes} bytes`)
  })

  t.test('a direct Edit: four waves, whatever it publishes', async (t) => {
    const { waves, names } = await cost(async () => edit(textOf(60_000, 'second'), s.sessionId, 'k1', Buffer.from('b')))
    t.same(names, [
      'acquire-file',
      'acquire-file',
      'begin',
      'claim',
      'commit',
      'mark-file',
      'mark-file',
      'open',
      'stage',
    ])
    t.equal(waves, 4)
  })

  t.test('a branch that needs a stored text: one wave more', async (t) => {
    const { waves } = await cost(async () => store.text(s, facts(text).textDigest))
    t.equal(waves, 1)
  })

  t.test('a text that the store has is sent neither by a commit nor as bytes to restore', async (t) => {
    const known = textOf(60_000, 'second')
    const { waves, bytes } = await cost(async () => edit(known, s.sessionId, 'k2', Buffer.from(known)))
    t.equal(waves, 4)
    t.ok(bytes < 5_000, `${bytes} bytes`)
    const kept = await store.review(s, 'review-k2')
    t.equal(kept?.restore[0]?.before && Buffer.from(kept.restore[0].before).toString(), known)
  })

  t.test('a search of many files: one wave, and one that carries what is new', async (t) => {
    const recordings = Array.from({ length: 40 }, (_, i) => recording(`/s${i}`, `${i}\n`, '1'))
    const once = await cost(async () => store.recordAll(s, recordings, 'search'))
    t.equal(once.waves, 2)
    const again = await cost(async () => store.recordAll(s, recordings, 'search'))
    t.equal(again.waves, 1)
  })

  t.test('a wait: one wave more', async (t) => {
    const other = await opened(store)
    const owner = await held(store, other, ['/a'])
    const { waves, names } = await cost(async () => {
      const waiting = held(store, s, ['/a'], ['/a'], 10_000)
      await new Promise((resolve) => setTimeout(resolve, 100))
      const begun = await (async () => {
        await store.release(owner.permit)
        return waiting
      })()
      await store.release(begun.permit)
    })
    // The first attempt, the other's release, the attempt after the wake, the own release.
    t.same(names.filter((name) => name === 'acquire-file').length, 2)
    t.ok(waves <= 4, `${waves} waves`)
  })
})

t.test('waves of whole calls over HTTP', async (t) => {
  const disk = await service(t, { store })
  const session = await disk.session()
  const text = Array.from({ length: 200 }, (_, i) => `line ${i}\n`).join('')
  for (const file of ['a.txt', 'b.txt']) await disk.put(file, text)
  for (const file of ['a.txt', 'b.txt']) await session.read(file)
  await session.edit('b.txt', 'PUT 1.=1:\n+warm up', {}, { 'idempotency-key': 'warm-up' })

  const read = await cost(async () => session.read('a.txt'))
  t.equal(read.waves, 2, `Read: ${read.names.join(' ')}`)
  const edit = await cost(async () => {
    const reply = await session.edit('a.txt', 'PUT 5.=5:\n+edited', { promptId: 'p' }, { 'idempotency-key': 'k1' })
    t.equal(reply.body['branch'], 'direct')
  })
  t.equal(edit.waves, 4, `Edit: ${edit.names.join(' ')}`)
  const plain = await cost(async () => session.edit('a.txt', 'PUT 6.=6:\n+edited'))
  t.equal(plain.waves, 4, `Edit without a key: ${plain.names.join(' ')}`)

  await disk.put('b.txt', `above\n${await disk.get('b.txt')}`)
  const recovered = await cost(async () => {
    const reply = await session.edit('b.txt', 'PUT 50.=50:\n+edited')
    t.equal(reply.body['branch'], 'recovered')
  })
  t.equal(recovered.waves, 5, `recovered Edit: ${recovered.names.join(' ')}`)
  await closeServices()
})

t.test('a flushed script costs a command more and nothing else', async (t) => {
  const s = await opened(store)
  await edit('a\n', s.sessionId, 'k0')
  const direct = new Redis(server.url)
  await direct.script('FLUSH')
  direct.disconnect()
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => store.record(s, recording(`/f${i}`, `${i}\n`), 'display')),
  )
  t.ok(answers.every((answer) => answer === 'recorded'))
  await edit('b\n', s.sessionId, 'k1')
  t.match(await store.history(s, '/a'), [{ tag: facts('b\n').tag }, { tag: facts('a\n').tag }])
  t.equal((await store.reviews(s, 10))?.reviews.length, 2)
})
