/** Lifetime of sessions: TTL, epoch, tenants, switch and drop (reading §8.1–8.2). */
import type { Test } from 'tap'
import type { Harness, MakeStore } from './harness.js'
import { held, intent, newSession, opened, publish, recording, review } from './harness.js'

export function sessions(t: Test, make: MakeStore): void {
  t.test('a session is what it was created as', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const wanted = newSession({
      externalRoots: ['/x', '/y z'],
      access: 'read-only',
      label: 'a "label" é',
      ttlSeconds: 60,
    })
    const session = await store.create(wanted, 10)
    t.match(session, wanted)
    const open = await store.open(wanted.sessionId, false)
    t.match(open, wanted)
    t.equal(open?.epoch, 1)
    t.ok(Math.abs((open?.expiresAt ?? 0) - (open?.createdAt ?? 0) - 60_000) < 5_000)
    t.equal(Object.hasOwn((await opened(store)) as object, 'label'), false)
    t.equal(await store.open('unknown', true), undefined)
    t.equal(await store.ping(), true)
  })

  t.test('an id is never given twice', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const session = await opened(store)
    await t.rejects(store.create(session, 10), RangeError)
  })

  t.test('tool calls slide the TTL and looks do not', async (t) => {
    const { store, advance, close } = await make()
    t.teardown(close)
    const slid = await opened(store, { ttlSeconds: 100 })
    const looked = await opened(store, { ttlSeconds: 100 })
    await advance(60_000)
    const before = await store.open(slid.sessionId, false)
    const again = await store.open(slid.sessionId, true)
    t.ok((again?.expiresAt ?? 0) - (before?.expiresAt ?? 0) > 50_000)
    t.ok(await store.open(looked.sessionId, false))
    await advance(60_000)
    t.ok(await store.open(slid.sessionId, false), 'slid')
    t.equal(await store.open(looked.sessionId, true), undefined, 'expired')
    await advance(60_000)
    t.equal(await store.open(slid.sessionId, true), undefined)
  })

  t.test('what a session holds lives as long as it slides', async (t) => {
    const { store, advance, close } = await make()
    t.teardown(close)
    const s = await opened(store, { ttlSeconds: 100 })
    const before = Buffer.from('before')
    await publish(store, s, {
      recordings: [recording('/a', 'a\n')],
      registers: [{ name: 'r', lines: ['x'] }],
      review: review('r1', before),
    })
    await store.append(s, { type: 'read', data: {} })
    await store.claim(s, 'key', 'digest', 0)
    await store.answer(s, 'key', { status: 200, body: '{}' })
    await store.countFailure(s, 'p', '/a', 'X', false)
    for (let i = 0; i < 12; i++) {
      await advance(80_000)
      t.ok(await store.open(s.sessionId, true))
    }
    t.match(await store.history(s, '/a'), [{ retained: true }])
    t.ok(await store.text(s, recording('/a', 'a\n').facts.textDigest))
    t.same((await store.register(s, 'r'))?.lines, ['x'])
    t.same((await store.review(s, 'r1'))?.restore[0]?.before, before)
    t.match(await store.claim(s, 'key', 'digest', 0), { status: 'answered' })
    t.same(await store.countFailure(s, 'p', '/a', 'X', false), { attempt: 2, grace: false })
    t.same(await store.pathsWith(s, 'a', recording('/a', 'a\n').facts.tag), ['/a'])
    const first = await store.events(s, undefined, AbortSignal.timeout(5_000))[Symbol.asyncIterator]().next()
    t.match(first.value, { type: 'read', id: '1' })
  })

  t.test('a tenant has a bound on open sessions, which drops and expiry give back', async (t) => {
    const { store, advance, close } = await make()
    t.teardown(close)
    const tenant = newSession().tenant
    const first = await store.create(newSession({ tenant, ttlSeconds: 50 }), 2)
    const second = await store.create(newSession({ tenant, ttlSeconds: 500 }), 2)
    if (first === 'full' || second === 'full') throw new Error('full')
    t.equal(await store.create(newSession({ tenant }), 2), 'full')
    t.not(await store.create(newSession(), 2), 'full', 'another tenant')
    await store.drop(second.sessionId)
    const third = await store.create(newSession({ tenant, ttlSeconds: 500 }), 2)
    if (third === 'full') throw new Error('full')
    t.equal(await store.create(newSession({ tenant }), 2), 'full')
    await advance(40_000)
    await store.open(third.sessionId, true)
    await advance(20_000)
    t.not(await store.create(newSession({ tenant, ttlSeconds: 500 }), 2), 'full', 'the first one has expired')
    t.equal(await store.create(newSession({ tenant }), 2), 'full')
  })

  for (const [name, end] of Object.entries<
    (h: Harness, sessionId: string, ref: { sessionId: string; epoch: number }) => Promise<unknown>
  >({
    drop: async ({ store }, id) => store.drop(id),
    expiry: async ({ advance }) => advance(200_000),
    switch: async ({ store }, _, ref) => store.switchWorkspace(ref, 'other'),
  }))
    t.test(`after a ${name} every call with the old epoch is gone and nothing comes back`, async (t) => {
      const h = await make()
      t.teardown(h.close)
      const { store } = h
      const s = await opened(store, { ttlSeconds: 100 })
      await publish(store, s, { recordings: [recording('/a', 'a\n')], registers: [{ name: 'r', lines: ['x'] }] })
      const { permit } = await held(store, s, ['/a'])
      t.equal(await store.stage(permit, intent()), 'staged')
      await end(h, s.sessionId, s)

      t.equal(await store.stage(permit, intent({ recordings: [recording('/b', 'b\n')] })), 'gone')
      t.equal(await store.commit(permit), 'gone')
      t.equal(await store.record(s, recording('/c', 'c\n'), 'display'), 'gone')
      t.same(await store.recordAll(s, [recording('/c', 'c\n')], 'search'), ['gone'])
      t.same(await store.begin(s, { files: ['/a'], histories: [] }, 0), { status: 'gone' })
      t.equal(await store.switchWorkspace(s, 'third'), undefined)
      t.same(await store.history(s, '/a'), [])
      t.same(await store.snapshots(s), [])
      t.same(await store.pathsWith(s, 'a', recording('/a', 'a\n').facts.tag), [])
      t.equal(await store.text(s, recording('/a', 'a\n').facts.textDigest), undefined)
      t.equal(await store.register(s, 'r'), undefined)
      t.same(await store.registers(s), [])
      t.same(await store.reviews(s, 10), { reviews: [] })
      t.equal(await store.review(s, 'r1'), undefined)
      t.same(await store.usage(s), { paths: 0, versions: 0, retainedBytes: 0, registers: 0 })
      t.match(await store.countFailure(s, 'p', '/a', 'X', false), { attempt: 0 })
      await store.append(s, { type: 'read', data: {} })
      await store.answer(s, 'k', { status: 200, body: '' })
      await store.unclaim(s, 'k')

      const now = await store.open(s.sessionId, true)
      if (name === 'switch') {
        t.match(now, { epoch: 2, workspace: 'other' })
        t.same(await store.usage(now!), { paths: 0, versions: 0, retainedBytes: 0, registers: 0 })
        const again = await held(store, now!, ['/a'], ['/a'])
        t.same(again.histories.get('/a'), [])
        t.same(again.leftovers, [])
        await store.release(again.permit)
      } else {
        t.equal(now, undefined)
        t.equal(await store.drop(s.sessionId), false)
      }
    })

  t.test('a drop answers whether there was a session', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    t.equal(await store.drop(s.sessionId), true)
    t.equal(await store.drop(s.sessionId), false)
    t.equal(await store.drop('unknown'), false)
  })

  t.test('a workspace switch keeps reviews, answers and events and forgets failures', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await publish(store, s, { review: review('r1', Buffer.from('x')), events: [{ type: 'edited', data: { n: 1 } }] })
    await store.claim(s, 'k', 'd', 0)
    await store.answer(s, 'k', { status: 200, body: 'x' })
    await store.countFailure(s, 'p', '/a', 'X', false)
    const now = (await store.switchWorkspace(s, 'other'))!
    t.equal(now.workspace, 'other')
    t.match(await store.reviews(now, 10), { reviews: [{ reviewId: 'r1' }] })
    t.match(await store.claim(now, 'k', 'd', 0), { status: 'answered' })
    t.same(await store.countFailure(now, 'p', '/a', 'X', false), { attempt: 1, grace: false })
    const first = await store.events(now, undefined, AbortSignal.timeout(5_000))[Symbol.asyncIterator]().next()
    t.match(first.value, { type: 'edited' })
  })

  t.test('sessions know nothing of each other', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const a = await opened(store)
    const b = await opened(store)
    await publish(store, a, {
      recordings: [recording('/a', 'a\n')],
      registers: [{ name: 'r', lines: ['x'] }],
      review: review('r1'),
    })
    t.same(await store.history(b, '/a'), [])
    t.equal(await store.text(b, recording('/a', 'a\n').facts.textDigest), undefined)
    t.same(await store.registers(b), [])
    t.equal(await store.review(b, 'r1'), undefined)
    t.same(await store.pathsWith(b, 'a', recording('/a', 'a\n').facts.tag), [])
  })
}
