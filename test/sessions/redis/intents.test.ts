/** What is left when a replica dies: leases, tickets, intents and marks (reading §8.3–8.5). */
import t from 'tap'
import type { Store } from '../../../src/sessions/store.js'
import { startRedis } from '../../redis-server.js'
import {
  facts,
  held,
  intent,
  opened,
  paths,
  permitOf,
  publish,
  recording,
  review,
  settledWithin,
} from '../conformance/harness.js'
import { redisHarness } from './harness.js'

const server = await startRedis()
t.teardown(async () => server.stop())
const make = redisHarness(server.url, [server.url])

/** Short leases, so that nothing has to wait long. */
const bounds = { permitLeaseMs: 900, permitMarginMs: 100 }

const landing = intent({
  intentId: 'landing',
  files: [{ path: '/a', before: 'digest before', after: 'digest after' }],
  recordings: [recording('/a', 'after\n')],
  registers: [{ name: 'cut', lines: ['x'] }],
  review: review('review', Buffer.from('before\n')),
  answer: { key: 'key', answer: { status: 200, body: '{"done":true}' } },
  events: [{ type: 'edited', data: { path: '/a' } }],
})

async function published(store: Store, session: { sessionId: string; epoch: number }): Promise<string[]> {
  const found: string[] = []
  const history = await store.history(session, '/a')
  if (history.some((v) => v.tag === facts('after\n').tag)) found.push('snapshot')
  if (await store.register(session, 'cut')) found.push('register')
  if (await store.review(session, 'review')) found.push('review')
  return found
}

t.test('a permit whose owner died is free when its lease ends, not before and not later', async (t) => {
  const h = await make(bounds)
  t.teardown(h.close)
  const doomed = await h.replica!()
  const s = await opened(h.store)
  const other = await opened(h.store)
  await held(doomed.store, s, ['/a'])
  await doomed.kill()
  t.match(await h.store.begin(s, { files: [], histories: [] }, 300), { status: 'busy' })
  const started = performance.now()
  const [session, file] = await Promise.all([held(h.store, s, [], [], 5_000), held(h.store, other, ['/a'], [], 5_000)])
  t.ok(performance.now() - started < 3_000)
  await h.store.release(session.permit)
  await h.store.release(file.permit)
})

t.test('a lease is renewed while its owner lives', async (t) => {
  const h = await make(bounds)
  t.teardown(h.close)
  const s = await opened(h.store)
  const { permit } = await held(h.store, s, ['/a'])
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  t.equal(permit.fresh(), true)
  t.match(await h.store.begin(await opened(h.store), { files: ['/a'], histories: [] }, 0), { status: 'busy' })
  t.equal(await h.store.stage(permit, intent()), 'staged')
  await h.store.release(permit)
})

t.test('a permit that was lost stages nothing and frees nothing of the next owner', async (t) => {
  const h = await make(bounds)
  t.teardown(h.close)
  const s = await opened(h.store)
  const other = await opened(h.store)
  const { permit } = await held(h.store, s, ['/a'])
  await h.advance(2_000)
  const next = await held(h.store, other, ['/a'])
  t.equal(await h.store.stage(permit, landing), 'lost', 'the file belongs to another')
  await h.store.release(permit)
  t.match(await h.store.begin(s, { files: ['/a'], histories: [] }, 0), { status: 'busy' })
  t.equal(await h.store.stage(next.permit, intent()), 'staged')
  t.equal(await h.store.commit(next.permit), 'recorded')
  const again = await held(h.store, s, ['/a'])
  t.same(again.leftovers, [])
  await h.store.release(again.permit)
})

t.test('a lease that is nearly over is not fresh', async (t) => {
  let now = 0
  const h = await make({ permitLeaseMs: 15_000, permitMarginMs: 3_000 }, { monotonic: () => now })
  t.teardown(h.close)
  const { permit } = await held(h.store, await opened(h.store), ['/a'])
  now = 11_999
  t.equal(permit.fresh(), true)
  now = 12_000
  t.equal(permit.fresh(), false)
  t.equal(await h.store.stage(permit, intent()), 'staged', 'the server still knows it, and its lease starts anew')
  t.equal(permit.fresh(), true)
  now = 24_000
  t.equal(permit.fresh(), false)
  await h.store.release(permit)
})

t.test('waiters of a dead replica are passed over', async (t) => {
  const h = await make(bounds)
  t.teardown(h.close)
  const doomed = await h.replica!()
  const owner = await held(h.store, await opened(h.store), ['/a'])
  const lost = await Promise.all(Array.from({ length: 10 }, async () => opened(h.store)))
  for (const s of lost) doomed.store.begin(s, { files: ['/a'], histories: [] }, 60_000).catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, 200))
  await doomed.kill()
  const waiting = held(h.store, await opened(h.store), ['/a'], [], 20_000)
  await new Promise((resolve) => setTimeout(resolve, 50))
  await h.store.release(owner.permit)
  t.equal(await settledWithin(5_000, waiting), true)
  await h.store.release((await waiting).permit)
})

t.test('a wake that is lost costs a moment, not the wait', async (t) => {
  const h = await make(bounds)
  t.teardown(h.close)
  const owner = await held(h.store, await opened(h.store), ['/a'])
  const waiting = held(h.store, await opened(h.store), ['/a'], [], 20_000)
  await new Promise((resolve) => setTimeout(resolve, 50))
  await h.advance(3_000)
  t.equal(await settledWithin(3_000, waiting), true)
  await h.store.release((await waiting).permit)
  await h.store.release(owner.permit)
})

for (const [who, landed] of [
  ['the session', true],
  ['the session', false],
  ['another session', true],
  ['another session', false],
] as const)
  t.test(`an intent that ${landed ? 'landed' : 'did not land'} is settled by ${who}`, async (t) => {
    const h = await make(bounds)
    t.teardown(h.close)
    const doomed = await h.replica!()
    const s = await opened(h.store)
    await h.store.record(s, recording('/a', 'before\n'), 'display')
    await doomed.store.claim(s, 'key', 'digest', 0)
    const { permit } = await held(doomed.store, s, ['/a'])
    t.equal(await doomed.store.stage(permit, landing), 'staged')
    await doomed.kill()
    await h.advance(2_000)

    const actor = who === 'the session' ? s : await opened(h.store)
    const next = await held(h.store, actor, ['/a'], ['/a'])
    t.same(next.leftovers, [
      {
        ref: { sessionId: s.sessionId, epoch: 1 },
        intent: { intentId: 'landing', files: landing.files, answer: landing.answer },
      },
    ])
    t.same(await published(h.store, s), [])
    t.equal(await h.store.settle(next.permit, next.leftovers[0]!, landed, () => Buffer.from('after\n')), 'settled')
    t.equal(await h.store.settle(next.permit, next.leftovers[0]!, !landed, () => Buffer.from('after\n')), 'absent')
    t.same(await published(h.store, s), landed ? ['snapshot', 'register', 'review'] : [])
    if (landed) {
      t.match(await h.store.history(s, '/a'), [{ retained: true }, { tag: facts('before\n').tag }])
      t.same((await h.store.review(s, 'review'))?.restore[0]?.before, Buffer.from('before\n'))
      t.match(await h.store.claim(s, 'key', 'digest', 0), { status: 'answered', answer: { body: '{"done":true}' } })
    } else t.match(await h.store.claim(s, 'key', 'digest', 0), { status: 'mine' })
    await h.store.release(next.permit)

    const after = await held(h.store, s, ['/a'])
    t.same(after.leftovers, [], 'it is settled once')
    await h.store.release(after.permit)
    const stranger = await held(h.store, await opened(h.store), ['/a'])
    t.same(stranger.leftovers, [], 'no mark stays')
    await h.store.release(stranger.permit)
  })

t.test('what somebody else settled during the wait is no leftover any more', async (t) => {
  const h = await make(bounds)
  t.teardown(h.close)
  const doomed = await h.replica!()
  const s = await opened(h.store)
  await doomed.store.claim(s, 'key', 'digest', 0)
  const { permit } = await held(doomed.store, s, ['/a'])
  await doomed.store.stage(permit, landing)
  await doomed.kill()
  await h.advance(2_000)
  t.same(await h.store.claim(s, 'key', 'digest', 0), { status: 'mine' }, 'the repetition of the call')
  const other = await held(h.store, await opened(h.store), ['/a'])
  const repetition = held(h.store, s, ['/a'], [], 10_000)
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.equal(await h.store.settle(other.permit, other.leftovers[0]!, true, () => undefined), 'settled')
  t.equal(
    await h.store.stage(other.permit, intent({ intentId: 'other', files: [{ path: '/a', after: 'x' }] })),
    'staged',
  )
  await h.store.commit(other.permit)
  const begun = await repetition
  t.same(begun.leftovers, [])
  t.equal(await h.store.stage(begun.permit, { ...landing, intentId: 'again' }), 'lost', 'its key is answered')
  await h.store.release(begun.permit)
  const stands = await h.store.answer(s, 'key', { status: 409, body: 'refused' })
  t.same(stands, landing.answer?.answer, 'a refusal does not replace what landed')
})

t.test('a session finds its intent also when its next call is about another file', async (t) => {
  const h = await make(bounds)
  t.teardown(h.close)
  const doomed = await h.replica!()
  const s = await opened(h.store)
  const { permit } = await held(doomed.store, s, ['/a'])
  await doomed.store.stage(permit, landing)
  await doomed.kill()
  await h.advance(2_000)
  const next = await held(h.store, s, ['/other'])
  t.equal(next.leftovers.length, 1)
  await h.store.settle(next.permit, next.leftovers[0]!, true, () => undefined)
  await h.store.release(next.permit)
  t.match(
    await h.store.history(s, '/a'),
    [{ tag: facts('after\n').tag, retained: false }],
    'without text when nobody has it',
  )
  const stranger = await held(h.store, await opened(h.store), ['/a'])
  t.same(stranger.leftovers, [])
  await h.store.release(stranger.permit)
})

t.test('text that is not what landed is not kept', async (t) => {
  const h = await make(bounds)
  t.teardown(h.close)
  const doomed = await h.replica!()
  const s = await opened(h.store)
  const { permit } = await held(doomed.store, s, ['/a'])
  await doomed.store.stage(permit, landing)
  await doomed.kill()
  await h.advance(2_000)
  const next = await held(h.store, s, ['/a'])
  await h.store.settle(next.permit, next.leftovers[0]!, true, () => Buffer.from('other\n'))
  await h.store.release(next.permit)
  t.match(await h.store.history(s, '/a'), [{ tag: facts('after\n').tag, retained: false }])
})

t.test('what a move had staged is found through either file', async (t) => {
  for (const file of ['/from', '/to']) {
    const h = await make(bounds)
    t.teardown(h.close)
    const doomed = await h.replica!()
    const s = await opened(h.store)
    await h.store.record(s, recording('/from', 'x\n'), 'display')
    const { permit } = await held(doomed.store, s, ['/from', '/to'])
    await doomed.store.stage(
      permit,
      intent({
        intentId: 'move',
        files: [
          { path: '/from', before: 'd' },
          { path: '/to', after: 'd' },
        ],
        moves: [{ from: '/from', to: '/to' }],
      }),
    )
    await doomed.kill()
    await h.advance(2_000)
    const next = await held(h.store, await opened(h.store), [file])
    t.equal(next.leftovers.length, 1, file)
    await h.store.settle(next.permit, next.leftovers[0]!, true, () => undefined)
    t.same(await paths(h.store, s), ['/to'])
    await h.store.release(next.permit)
    const both = await held(h.store, await opened(h.store), ['/from', '/to'])
    t.same(both.leftovers, [])
    await h.store.release(both.permit)
  }
})

t.test("intents of a session that ended are nobody's", async (t) => {
  for (const end of ['drop', 'switch', 'expiry'] as const) {
    const h = await make(bounds)
    t.teardown(h.close)
    const doomed = await h.replica!()
    const s = await opened(h.store, { ttlSeconds: 60 })
    const { permit } = await held(doomed.store, s, ['/a'])
    await doomed.store.stage(permit, landing)
    await doomed.kill()
    await h.advance(2_000)
    if (end === 'drop') await h.store.drop(s.sessionId)
    else if (end === 'switch') await h.store.switchWorkspace(s, 'other')
    else await h.advance(60_000)
    const next = await held(h.store, await opened(h.store), ['/a'])
    t.same(next.leftovers, [], end)
    await h.store.release(next.permit)
  }
})

t.test('a released permit leaves nothing behind, staged or not', async (t) => {
  const h = await make(bounds)
  t.teardown(h.close)
  const s = await opened(h.store)
  for (const staged of [true, false]) {
    const { permit } = await held(h.store, s, ['/a'])
    if (staged) await h.store.stage(permit, landing)
    await h.store.release(permit)
    for (const session of [s, await opened(h.store)]) {
      const next = await held(h.store, session, ['/a'])
      t.same(next.leftovers, [])
      await h.store.release(next.permit)
    }
  }
  t.same(await published(h.store, s), [])
})

t.test('a claim of a dead replica ends with its lease; one that lives is renewed', async (t) => {
  const h = await make(bounds)
  t.teardown(h.close)
  const doomed = await h.replica!()
  const s = await opened(h.store)
  t.same(await doomed.store.claim(s, 'dead', 'd', 0), { status: 'mine' })
  t.same(await h.store.claim(s, 'alive', 'd', 0), { status: 'mine' })
  await doomed.kill()
  t.same(await h.store.claim(s, 'dead', 'd', 0), { status: 'busy' })
  t.same(await h.store.claim(s, 'dead', 'd', 5_000), { status: 'mine' })
  const other = await h.replica!()
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  t.same(await other.store.claim(s, 'alive', 'd', 0), { status: 'busy' })
  await other.kill()
})

t.test('a claim that another replica took over stages nothing', async (t) => {
  const h = await make(bounds)
  t.teardown(h.close)
  const other = await h.replica!()
  const s = await opened(h.store)
  await h.store.claim(s, 'key', 'digest', 0)
  const first = await held(h.store, s, ['/a'])
  await h.advance(1_500)
  t.same(await other.store.claim(s, 'key', 'digest', 0), { status: 'mine' })
  const second = await held(other.store, s, ['/a'])
  await h.store.release(first.permit)
  await other.store.stage(second.permit, landing)
  await other.store.commit(second.permit)
  const third = await held(h.store, s, ['/a'])
  t.equal(await h.store.stage(third.permit, { ...landing, intentId: 'again' }), 'lost')
  await h.store.release(third.permit)
  t.match(await h.store.claim(s, 'key', 'digest', 0), { status: 'answered' })
  await other.kill()
})

t.test('an answer or a claim given back by one replica wakes a duplicate at another', async (t) => {
  const h = await make()
  t.teardown(h.close)
  const other = await h.replica!()
  const s = await opened(h.store)
  for (const end of ['answer', 'unclaim', 'commit'] as const) {
    await h.store.claim(s, end, 'd', 0)
    const waiting = other.store.claim(s, end, 'd', 20_000)
    await new Promise((resolve) => setTimeout(resolve, 50))
    const answer = { status: 200, body: end }
    if (end === 'answer') await h.store.answer(s, end, answer)
    else if (end === 'unclaim') await h.store.unclaim(s, end)
    else await publish(h.store, s, { answer: { key: end, answer } })
    const claim = await waiting
    t.equal(claim.status, end === 'unclaim' ? 'mine' : 'answered', end)
  }
  await other.kill()
})

t.test('two replicas share sessions, permits and events', async (t) => {
  const h = await make()
  t.teardown(h.close)
  const { store: other, kill } = await h.replica!()
  const s = await opened(h.store)
  t.match(await other.open(s.sessionId, true), { tenant: s.tenant })
  await h.store.record(s, recording('/a', 'a\nb\n', '1'), 'display')
  await other.record(
    s,
    { ...recording('/a', 'a\nb\n', '2'), text: () => t.fail('the text is known') as never },
    'display',
  )
  t.equal(String((await h.store.history(s, '/a'))[0]?.seen), '1-2')
  const { permit } = await held(h.store, s, ['/a'])
  const waiting = other.begin(s, { files: ['/a'], histories: [] }, 10_000)
  t.equal(await settledWithin(50, waiting), false)
  const iterator = other.events(s, undefined, AbortSignal.timeout(10_000))[Symbol.asyncIterator]()
  const event = iterator.next()
  await h.store.append(s, { type: 'read', data: { from: 'one' } })
  t.match((await event).value, { data: { from: 'one' } })
  await iterator.return?.(undefined)
  await h.store.release(permit)
  await other.release(permitOf(await waiting))
  await h.store.drop(s.sessionId)
  t.equal(await other.record(s, recording('/a', 'x\n'), 'display'), 'gone')
  await kill()
})
