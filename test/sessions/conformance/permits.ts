/** Permits, intents and what commit publishes (reading §8.3–8.5). */
import type { Test } from 'tap'
import type { MakeStore } from './harness.js'
import { facts, held, intent, opened, permitOf, publish, recording, review, settledWithin, shown } from './harness.js'

const wait = 5_000

export function permits(t: Test, make: MakeStore): void {
  t.test('a session has one permit', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    const { permit } = await held(store, s)
    t.equal(permit.fresh(), true)
    const busy = await store.begin(s, { files: [], histories: [] }, 30)
    t.match(busy, { status: 'busy' })
    t.ok(busy.status === 'busy' && busy.waitedMs >= 25 && busy.waitedMs < 5_000)
    await store.release(permit)
    t.equal(permit.fresh(), false)
    await store.release((await held(store, s)).permit)
  })

  t.test('a file has one permit, whoever asks', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const [a, b, c] = [await opened(store), await opened(store), await opened(store)]
    const first = await held(store, a, ['/f', '/g'])
    t.match(await store.begin(b, { files: ['/g'], histories: [] }, 0), { status: 'busy' })
    const other = await held(store, c, ['/h'])
    const waiting = store.begin(b, { files: ['/h', '/f', '/f'], histories: [] }, wait)
    t.equal(await settledWithin(50, waiting), false)
    await store.release(first.permit)
    t.equal(await settledWithin(50, waiting), false, 'the other file is still held')
    await store.release(other.permit)
    await store.release(permitOf(await waiting))
  })

  t.test('a refused begin holds nothing', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const [a, b, c] = [await opened(store), await opened(store), await opened(store)]
    const { permit } = await held(store, a, ['/z'])
    t.match(await store.begin(b, { files: ['/a', '/z'], histories: [] }, 10), { status: 'busy' })
    await store.release((await held(store, b, ['/a'], [], 0)).permit)
    await store.release((await held(store, c, ['/a'], [], 0)).permit)
    await store.release(permit)
  })

  t.test('waiters are served in the order in which they came', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const owner = await held(store, await opened(store), ['/f'])
    const served: number[] = []
    const waiters: Promise<void>[] = []
    for (let i = 0; i < 20; i++) {
      const s = await opened(store)
      waiters.push(
        store.begin(s, { files: ['/f'], histories: [] }, 20_000).then(async (begun) => {
          served.push(i)
          await store.release(permitOf(begun))
        }),
      )
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await store.release(owner.permit)
    await Promise.all(waiters)
    t.same(served, [...Array(20).keys()])
  })

  t.test('two sessions that want two files in opposite order both get them', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const [a, b] = [await opened(store), await opened(store)]
    for (let i = 0; i < 10; i++) {
      const both = [
        store.begin(a, { files: ['/x', '/y'], histories: [] }, wait),
        store.begin(b, { files: ['/y', '/x'], histories: [] }, wait),
      ]
      await Promise.all(both.map(async (begun) => store.release(permitOf(await begun))))
    }
  })

  t.test('under many begins nobody holds a permit together with another', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const inside = new Map<string, number>()
    const all = await Promise.all(Array.from({ length: 4 }, async () => opened(store)))
    let worst = 0
    const work = async (i: number): Promise<void> => {
      const session = all[i % all.length]!
      const files = [`/f${i % 3}`, `/f${(i + 1) % 3}`]
      const permit = permitOf(await store.begin(session, { files, histories: [] }, 30_000))
      for (const key of [session.sessionId, ...files]) {
        inside.set(key, (inside.get(key) ?? 0) + 1)
        worst = Math.max(worst, inside.get(key)!)
      }
      await new Promise((resolve) => setTimeout(resolve, 1))
      for (const key of [session.sessionId, ...files]) inside.set(key, inside.get(key)! - 1)
      await store.release(permit)
    }
    await Promise.all(Array.from({ length: 60 }, async (_, i) => work(i)))
    t.equal(worst, 1)
  })

  t.test('an abort ends the wait with its reason and leaves the queue whole', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const [a, b, c] = [await opened(store), await opened(store), await opened(store)]
    const { permit } = await held(store, a, ['/f'])
    const controller = new AbortController()
    const aborted = store.begin(b, { files: ['/f'], histories: [] }, 20_000, controller.signal)
    const behind = store.begin(c, { files: ['/f'], histories: [] }, 20_000)
    const why = new Error('the client is gone')
    setTimeout(() => controller.abort(why), 30)
    await t.rejects(aborted, why)
    await t.rejects(store.begin(b, { files: [], histories: [] }, 100, AbortSignal.abort(why)), why)
    await store.release(permit)
    await store.release(permitOf(await behind))
    await store.release((await held(store, b, ['/f'])).permit)
  })

  t.test('a drop frees whoever waits for the session', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    const { permit } = await held(store, s)
    const waiting = store.begin(s, { files: [], histories: [] }, 20_000)
    await new Promise((resolve) => setTimeout(resolve, 20))
    await store.drop(s.sessionId)
    t.same(await waiting, { status: 'gone' })
    await store.release(permit)
  })

  t.test('a permit ends once; what comes later does nothing', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    const { permit } = await held(store, s, ['/f'])
    await store.stage(permit, intent({ registers: [{ name: 'a', lines: ['1'] }] }))
    await store.release(permit)
    const next = await held(store, s, ['/f'])
    await store.release(permit)
    t.equal(await store.commit(permit), 'gone')
    t.equal(await store.stage(permit, intent()), 'lost')
    t.match(await store.begin(s, { files: [], histories: [] }, 0), { status: 'busy' }, 'the next owner still holds it')
    t.equal(await store.stage(next.permit, intent({ registers: [{ name: 'b', lines: ['2'] }] })), 'staged')
    t.equal(await store.commit(next.permit), 'recorded')
    t.equal(await store.commit(next.permit), 'gone')
    await store.release(next.permit)
    t.same(
      (await store.registers(s)).map((r) => r.name),
      ['b'],
    )
  })

  t.test('begin reads the histories that the call needs', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await store.record(s, recording('/a', 'a\nb\n', '2'), 'display')
    const { permit, histories, leftovers } = await held(store, s, ['/a'], ['/a', '/none'])
    t.match(histories.get('/a'), [{ tag: facts('a\nb\n').tag, retained: true, totalLines: 2 }])
    t.equal(shown(histories.get('/a')![0]!.seen), '2')
    t.same(histories.get('/none'), [])
    t.same(leftovers, [])
    await store.release(permit)
  })

  t.test('commit publishes everything that was staged and nothing before', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await store.record(s, recording('/rem', 'rem\n'), 'display')
    await publish(store, s, { review: review('old', Buffer.from('bytes')) })
    await store.countFailure(s, 'p', '/a', 'X', false)
    await store.claim(s, 'key', 'digest', 0)
    const { permit } = await held(store, s, ['/a'])
    const before = Buffer.from('before\r\n')
    await store.stage(permit, intent({ registers: [{ name: 'replaced', lines: [] }] }))
    t.equal(
      await store.stage(
        permit,
        intent({
          files: [{ path: '/a', after: 'x' }],
          forget: ['/rem'],
          recordings: [recording('/a', 'a\n')],
          registers: [{ name: 'cut', lines: ['one', '', '  two é'] }],
          review: review('new', before),
          rolledBack: 'old',
          answer: { key: 'key', answer: { status: 200, body: '{"é":1}' } },
          clearGuard: { promptId: 'p', path: '/a' },
          events: [{ type: 'edited', data: { path: '/a' } }],
        }),
      ),
      'staged',
    )
    t.same(await store.history(s, '/a'), [])
    t.same(await store.registers(s), [])
    t.match(await store.claim(s, 'key', 'digest', 0), { status: 'busy' })
    t.equal(await store.commit(permit), 'recorded')
    t.match(await store.history(s, '/a'), [{ tag: facts('a\n').tag, retained: true }])
    t.same(await store.history(s, '/rem'), [])
    t.match(await store.register(s, 'cut'), { name: 'cut', lines: ['one', '', '  two é'], bytes: 14 })
    t.equal(await store.register(s, 'replaced'), undefined)
    t.match(await store.reviews(s, 10), {
      reviews: [
        { reviewId: 'new', state: 'active' },
        { reviewId: 'old', state: 'rolledBack' },
      ],
    })
    t.same((await store.review(s, 'new'))?.restore, review('new', before).restore)
    t.same(await store.claim(s, 'key', 'digest', 0), {
      status: 'answered',
      answer: { status: 200, body: '{"é":1}' },
    })
    t.same(await store.countFailure(s, 'p', '/a', 'X', false), { attempt: 1, grace: false })
    const first = await store.events(s, undefined, AbortSignal.timeout(5_000))[Symbol.asyncIterator]().next()
    t.match(first.value, { type: 'edited', data: { path: '/a' } })
    await store.release((await held(store, s, ['/a'], [], 0)).permit)
  })

  t.test('a register beyond its bounds is refused before anything is written', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    const { permit } = await held(store, s)
    for (const lines of [Array<string>(4_097).fill(''), ['x'.repeat(1_048_577)]])
      await t.rejects(store.stage(permit, intent({ registers: [{ name: 'r', lines }] })), RangeError)
    for (const lines of [Array<string>(4_096).fill('x'), ['x'.repeat(1_048_576)]])
      t.equal(await store.stage(permit, intent({ registers: [{ name: 'r', lines }] })), 'staged')
    await store.release(permit)
  })

  t.test('the seventeenth register evicts the one used longest ago', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    for (let i = 0; i < 16; i++) await publish(store, s, { registers: [{ name: `r${i}`, lines: [String(i)] }] })
    t.ok(await store.register(s, 'r0'))
    await store.registers(s)
    await publish(store, s, { registers: [{ name: 'r16', lines: ['16'] }] })
    t.equal(await store.register(s, 'r1'), undefined, 'a listing is no use')
    t.match(await store.register(s, 'r0'), { lines: ['0'] })
    t.equal((await store.registers(s)).length, 16)
    await publish(store, s, { registers: [{ name: 'r2', lines: ['again', 'x'] }] })
    t.match(await store.register(s, 'r2'), { lines: ['again', 'x'] })
    t.match(
      (await store.registers(s)).find((r) => r.name === 'r2'),
      { lineCount: 2, bytes: 8 },
    )
    t.match(await store.usage(s), { registers: 16 })
  })

  t.test('a register may hold no line or any text', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    for (const lines of [[], [''], ['', ''], ['"\\\u2028\u{1F600}\t'], ['a'.repeat(10_000)]]) {
      await publish(store, s, { registers: [{ name: 'r', lines }] })
      t.same((await store.register(s, 'r'))?.lines, lines)
    }
  })
}
