/** The memory store: the conformance suite, and the bound that only a single process has. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createMemoryStore } from '../../src/sessions/memory.js'
import { conformance } from './conformance.js'
import type { MakeStore } from './conformance/harness.js'
import { facts, opened, publish, recording, review, textOf } from './conformance/harness.js'

const make: MakeStore = async (bounds = {}) => {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const store = createMemoryStore({
    now: () => now,
    monotonic: () => performance.now(),
    random: randomUUID,
    bounds,
  })
  return {
    store,
    advance: async (ms) => {
      now += ms
    },
    close: async () => store.close(),
  }
}

conformance(t, 'memory', make)

t.test('the process bound takes idle texts first, of whichever session', async (t) => {
  const { store, close } = await make({ retainedBytesPerProcess: 10_000 })
  t.teardown(close)
  const [a, b] = [await opened(store), await opened(store)]
  await publish(store, a, {
    registers: [{ name: 'r', lines: ['x'.repeat(500)] }],
    review: review('r', Buffer.from('b')),
  })
  await store.record(a, recording('/idle', textOf(4_000, 'idle')), 'display')
  await store.record(a, recording('/used', textOf(4_000, 'used')), 'display')
  await store.text(a, facts(textOf(4_000, 'idle')).textDigest)
  await store.record(b, recording('/new', textOf(4_000, 'new')), 'display')
  t.match(await store.history(a, '/used'), [{ retained: false }], 'the idle one was looked at since')
  t.match(await store.history(a, '/idle'), [{ retained: true }])
  t.match(await store.history(b, '/new'), [{ retained: true }])
  t.match(await store.usage(a), { paths: 2, versions: 2, retainedBytes: 4_000 }, 'versions stay, without their text')
  await store.record(a, recording('/used', textOf(4_000, 'used')), 'display')
  t.match(await store.history(a, '/used'), [{ retained: true }], 'the next read brings the text back')
  t.match(await store.register(a, 'r'), { bytes: 501 })
  t.match(await store.review(a, 'r'), { review: { entries: [{ reversible: true }] } })
})

t.test('when texts are not enough, bytes of rollbacks go, then logs, then registers', async (t) => {
  const { store, close } = await make({ retainedBytesPerProcess: 3_000 })
  t.teardown(close)
  const s = await opened(store)
  const noise = (n: number): Buffer => Buffer.from(Array.from({ length: n }, (_, i) => (i * 7919 + 13) % 251))
  await store.record(s, recording('/a', textOf(1_000, 'a')), 'display')
  await publish(store, s, { review: review('r', noise(200)) })
  await publish(store, s, { registers: [{ name: 'r1', lines: ['x'.repeat(2_900)] }] })
  t.match(await store.history(s, '/a'), [{ retained: false }])
  t.equal(await store.review(s, 'r'), undefined)
  t.ok(await store.register(s, 'r1'))
  await publish(store, s, { registers: [{ name: 'r2', lines: ['y'.repeat(2_900)] }] })
  t.equal(await store.register(s, 'r1'), undefined)
  t.ok(await store.register(s, 'r2'))
})

t.test('what ended sessions held is given back', async (t) => {
  const { store, advance, close } = await make({ retainedBytesPerProcess: 10_000 })
  t.teardown(close)
  const [dropped, switched, expired] = [
    await opened(store),
    await opened(store),
    await opened(store, { ttlSeconds: 10 }),
  ]
  for (const s of [dropped, switched, expired])
    await store.record(s, recording('/a', textOf(3_000, s.sessionId)), 'display')
  await store.drop(dropped.sessionId)
  await store.switchWorkspace(switched, 'other')
  await advance(20_000)
  await opened(store)
  const fresh = await opened(store)
  for (let i = 0; i < 3; i++) await store.record(fresh, recording(`/${i}`, textOf(3_000, i)), 'display')
  t.match(await store.usage(fresh), { retainedBytes: 9_000 })
})

t.test('a text is not kept alive by the buffer it was cut from', async (t) => {
  const { store, close } = await make()
  t.teardown(close)
  const s = await opened(store)
  const large = Buffer.alloc(1_000_000, 'x')
  const slice = large.subarray(10, 20)
  await store.record(s, { ...recording('/a', 'x'.repeat(10)), text: () => slice }, 'display')
  const kept = await store.text(s, facts('x'.repeat(10)).textDigest)
  t.ok(kept && kept.buffer.byteLength < 10_000)
})
