/** Idempotency, the repeat guard, reviews and events (reading §8.8, §8.10, contract §9.3, §13.1). */
import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import type { MakeStore } from './harness.js'
import { hear, held, intent, opened, publish, review, settledWithin, until } from './harness.js'

export function logs(t: Test, make: MakeStore): void {
  t.test('a key is claimed once and answers its repetition', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    t.same(await store.claim(s, 'k', 'd', 0), { status: 'mine' })
    t.same(await store.claim(s, 'k', 'd', 0), { status: 'busy' })
    t.same(await store.claim(s, 'k', 'other', 0), { status: 'reused' })
    t.same(await store.claim(s, 'k2', 'd', 0), { status: 'mine' })
    const given = { status: 422, body: '{"code":"é"}' }
    t.same(await store.answer(s, 'k', given), given)
    const answered = { status: 'answered', answer: { status: 422, body: '{"code":"é"}' } }
    t.same(await store.claim(s, 'k', 'd', 0), answered)
    t.same(await store.claim(s, 'k', 'other', 0), { status: 'reused' })
    await store.unclaim(s, 'k')
    t.same(await store.claim(s, 'k', 'd', 0), answered, 'an answer is not given back')
    await store.answer(s, 'k', { status: 200, body: 'second' })
    t.same(await store.claim(s, 'k', 'd', 0), answered, 'the first answer stays')
  })

  t.test('a claim that is given back is free', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await store.claim(s, 'k', 'd', 0)
    await store.unclaim(s, 'k')
    t.same(await store.claim(s, 'k', 'another', 0), { status: 'mine' })
  })

  t.test('a duplicate waits for the answer, or for its turn', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await store.claim(s, 'k', 'd', 0)
    const waiting = store.claim(s, 'k', 'd', 10_000)
    t.equal(await settledWithin(50, waiting), false)
    await store.answer(s, 'k', { status: 200, body: 'x' })
    t.match(await waiting, { status: 'answered' })

    await store.claim(s, 'k2', 'd', 0)
    const turn = store.claim(s, 'k2', 'd', 10_000)
    t.equal(await settledWithin(20, turn), false)
    await store.unclaim(s, 'k2')
    t.match(await turn, { status: 'mine' })
    t.match(await store.claim(s, 'k2', 'd', 30), { status: 'busy' })
  })

  t.test('a duplicate that waits is answered by a commit', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await store.claim(s, 'k', 'd', 0)
    const waiting = store.claim(s, 'k', 'd', 10_000)
    await publish(store, s, { answer: { key: 'k', answer: { status: 200, body: 'done' } } })
    t.same(await waiting, { status: 'answered', answer: { status: 200, body: 'done' } })
  })

  t.test('a claim whose owner never answers is free after its longest time', async (t) => {
    const { store, advance, close } = await make({ claimMaxMs: 2_000 })
    t.teardown(close)
    const s = await opened(store)
    await store.claim(s, 'k', 'd', 0)
    await advance(1_000)
    t.same(await store.claim(s, 'k', 'd', 0), { status: 'busy' })
    await advance(20_000)
    t.same(await store.claim(s, 'k', 'd', 0), { status: 'mine' })
  })

  t.test('opening and claiming is one step', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    t.match(await store.openAndClaim(s.sessionId, 'k', 'd', 0), {
      session: { sessionId: s.sessionId, epoch: 1, workspace: 'demo' },
      claim: { status: 'mine' },
    })
    t.match(await store.openAndClaim(s.sessionId, 'k', 'd', 0), { claim: { status: 'busy' } })
    t.match(await store.openAndClaim(s.sessionId, 'k', 'e', 0), { claim: { status: 'reused' } })
    await store.answer(s, 'k', { status: 200, body: 'b' })
    t.match(await store.openAndClaim(s.sessionId, 'k', 'd', 0), {
      claim: { status: 'answered', answer: { body: 'b' } },
    })
    t.equal(await store.openAndClaim('unknown', 'k', 'd', 0), undefined)
    t.equal(await store.openAndClaim(s.sessionId, 'new', 'd', 0, 'another tenant'), undefined)
    t.match(await store.openAndClaim(s.sessionId, 'new', 'd', 0, s.tenant), { claim: { status: 'mine' } })
  })

  t.test('answers are bounded in number and bytes; the newest always stays', async (t) => {
    const { store, close } = await make({ answersPerSession: 3, answerBytesPerSession: 100 })
    t.teardown(close)
    const s = await opened(store)
    const put = async (key: string, bytes: number): Promise<void> => {
      await store.claim(s, key, 'd', 0)
      await store.answer(s, key, { status: 200, body: 'x'.repeat(bytes) })
    }
    const kept = async (...keys: string[]): Promise<string[]> => {
      const found: string[] = []
      for (const key of keys) {
        if ((await store.claim(s, key, 'd', 0)).status === 'answered') found.push(key)
        else await store.unclaim(s, key)
      }
      return found
    }
    for (const key of ['a', 'b', 'c', 'd']) await put(key, 10)
    t.same(await kept('b', 'c', 'd', 'a'), ['b', 'c', 'd'])
    await put('big', 95)
    t.same(await kept('b', 'c', 'd', 'big'), ['big'])
    await put('huge', 500)
    t.same(await kept('big', 'huge'), ['huge'])
  })

  t.test('each code with grace has one free failure for a path of a prompt', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    const fail = async (code: string, grace: boolean, path = '/a', prompt = 'p'): Promise<string> => {
      const count = await store.countFailure(s, prompt, path, code, grace)
      return `${count.attempt}${count.grace ? ' grace' : ''}`
    }
    t.equal(await fail('MISMATCH', true), '0 grace')
    t.equal(await fail('UNSEEN', true), '0 grace')
    t.equal(await fail('MISMATCH', true), '1')
    t.equal(await fail('PARSE', false), '2')
    t.equal(await fail('UNKNOWN', true), '0 grace')
    t.equal(await fail('PARSE', false), '3')
    t.equal(await fail('PARSE', false), '4')
    t.equal(await fail('PARSE', false, '/b'), '1')
    t.equal(await fail('PARSE', false, '/a', 'q'), '1')
    t.equal(await fail('MISMATCH', true, '/a', 'q'), '0 grace')
    await publish(store, s, { clearGuard: { promptId: 'p', path: '/a' } })
    t.equal(await fail('MISMATCH', true), '0 grace')
    t.equal(await fail('PARSE', false), '1')
    t.equal(await fail('PARSE', false, '/b'), '2')
    t.equal(await fail('PARSE', false, '/a', 'q'), '2')
    t.equal(await fail('PARSE', false, '', 'p/a'), '1', 'prompt and path do not run together')
  })

  t.test('failures are remembered for a bounded number of prompts and paths', async (t) => {
    const { store, close } = await make({ guardEntriesPerSession: 2 })
    t.teardown(close)
    const s = await opened(store)
    const fail = async (path: string): Promise<number> => (await store.countFailure(s, 'p', path, 'X', false)).attempt
    t.same([await fail('/a'), await fail('/b'), await fail('/a'), await fail('/c')], [1, 1, 2, 1])
    t.same([await fail('/a'), await fail('/b')], [3, 1])
  })

  t.test('reviews are paged newest first', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    for (let i = 1; i <= 7; i++) await publish(store, s, { review: review(`r${i}`) })
    const first = (await store.reviews(s, 3))!
    t.same(
      first.reviews.map((r) => r.reviewId),
      ['r7', 'r6', 'r5'],
    )
    await publish(store, s, { review: review('r8') })
    const second = (await store.reviews(s, 3, first.nextCursor))!
    t.same(
      second.reviews.map((r) => r.reviewId),
      ['r4', 'r3', 'r2'],
    )
    const third = (await store.reviews(s, 3, second.nextCursor))!
    t.same(
      third.reviews.map((r) => r.reviewId),
      ['r1'],
    )
    t.equal(third.nextCursor, undefined)
    t.equal((await store.reviews(s, 8))?.nextCursor, undefined)
    for (const foreign of ['', 'x', 'r7', '1', '-1', 'bnVsbA', `${first.nextCursor}=`, 'é', 'A'.repeat(10_000)])
      t.equal(await store.reviews(s, 3, foreign), undefined, foreign.slice(0, 20))
    t.equal(await store.review(s, 'none'), undefined)
  })

  t.test('the evidence comes back whole', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    const stored = review('r', Buffer.from([0, 255, 13, 10, 0xef, 0xbb, 0xbf]), {
      operation: 'move',
      promptId: 'p',
      warnings: [{ code: 'HARD_LINK_SPLIT', message: 'm', extra: [1] }],
      resolutions: [{ anchorLine: 1, start: 1, end: 2, op: 'cut' }],
    })
    const moved = {
      ...stored,
      review: {
        ...stored.review,
        entries: [
          ...stored.review.entries,
          {
            path: 'b',
            status: 'added' as const,
            additions: 2,
            deletions: 0,
            hunks: [
              {
                oldStart: 0,
                oldLines: 0,
                newStart: 1,
                newLines: 1,
                rows: [{ kind: '+' as const, line: 1, text: 'é' }],
              },
            ],
            truncated: false,
            reversible: true,
            afterDigest: 'x',
          },
        ],
      },
      restore: [...stored.restore, { canonical: '/w/b', root: 'scratch' as const, createdParents: ['/w', '/w/x'] }],
    }
    await publish(store, s, { review: moved })
    const back = (await store.review(s, 'r'))!
    t.same({ ...back, restore: undefined }, { ...moved, restore: undefined })
    t.same(back.restore[0]?.before && Buffer.from(back.restore[0].before), stored.restore[0]?.before)
    t.same(back.restore[1], moved.restore[1])
    t.same((await store.reviews(s, 1))?.reviews, [{ ...moved.review, workspace: 'demo' }])
  })

  t.test('a rolled back review says so and keeps its evidence', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await publish(store, s, { review: review('r', Buffer.from('x')) })
    await publish(store, s, { rolledBack: 'r' })
    await publish(store, s, { rolledBack: 'unknown' })
    t.match(await store.review(s, 'r'), { review: { state: 'rolledBack', entries: [{ reversible: true }] } })
    t.match(await store.reviews(s, 5), { reviews: [{ state: 'rolledBack' }] })
  })

  t.test(
    'behind the newest 32 reviews none can be rolled back, and their evidence stays within its bound',
    async (t) => {
      const { store, close } = await make({ reviewEvidencePerSession: 40 })
      t.teardown(close)
      const s = await opened(store)
      const reversible = async (id: string) => (await store.review(s, id))?.review.entries[0]?.reversible
      const kept = async (id: string) => (await store.review(s, id))?.restore[0]?.before !== undefined
      await publish(store, s, { review: review('r1', Buffer.from('before')) })
      await publish(store, s, { review: review('r2') })
      await publish(store, s, { review: review('r3', Buffer.from('before')) })
      await publish(store, s, { rolledBack: 'r3' })
      for (let i = 4; i <= 32; i++) await publish(store, s, { review: review(`r${i}`, Buffer.from('before')) })
      t.same([await reversible('r1'), await kept('r1')], [true, true])
      for (let i = 33; i <= 36; i++) await publish(store, s, { review: review(`r${i}`, Buffer.from('before')) })
      t.same([await reversible('r1'), await kept('r1')], [false, false])
      t.equal(await reversible('r2'), false, 'a creation too')
      t.equal(await reversible('r3'), true, 'one that was rolled back answers as it did')
      t.same([await reversible('r4'), await kept('r4')], [false, false])
      t.same([await reversible('r5'), await kept('r5')], [true, true])
      t.match(await store.review(s, 'r1'), { review: { ops: ['PUT 1.=1:'] } })
      t.equal((await store.reviews(s, 100))?.reviews.length, 36)
      for (let i = 37; i <= 42; i++) await publish(store, s, { review: review(`r${i}`) })
      t.equal((await store.reviews(s, 100))?.reviews.length, 40)
      t.equal(await store.review(s, 'r2'), undefined)
      t.ok(await store.review(s, 'r3'))
    },
  )

  t.test('beyond the bound on bytes older reviews become irreversible and keep their evidence', async (t) => {
    const { store, close } = await make({ reviewBytesPerSession: 100_000 })
    t.teardown(close)
    const s = await opened(store)
    const bytes = { a: randomBytes(40_000), b: randomBytes(40_000), c: randomBytes(40_000) }
    await publish(store, s, { review: review('created') })
    for (const [name, before] of Object.entries(bytes)) await publish(store, s, { review: review(name, before) })
    t.match(await store.review(s, 'a'), { review: { ops: ['PUT 1.=1:'], entries: [{ reversible: false }] } })
    t.equal((await store.review(s, 'a'))?.restore[0]?.before, undefined)
    for (const name of ['b', 'c'] as const) {
      t.match(await store.review(s, name), { review: { entries: [{ reversible: true }] } })
      t.same(Buffer.from((await store.review(s, name))!.restore[0]!.before!), bytes[name])
    }
    t.match(
      await store.review(s, 'created'),
      { review: { entries: [{ reversible: true }] } },
      'a creation needs no bytes',
    )
    await publish(store, s, { review: review('too large', randomBytes(100_001)) })
    t.match(await store.review(s, 'too large'), { review: { entries: [{ reversible: false }] } })
    t.match(await store.review(s, 'b'), { review: { entries: [{ reversible: true }] } }, 'at the cost of no other')
    t.equal(await store.keeps(randomBytes(100_001)), false)
    t.equal(await store.keeps(randomBytes(99_000)), true)
    t.equal(await store.keeps(Buffer.alloc(1_000_000)), true)
    await publish(store, s, { review: review('compresses', Buffer.alloc(1_000_000)) })
    t.match(
      await store.review(s, 'compresses'),
      { review: { entries: [{ reversible: true }] } },
      'what counts is what is kept',
    )
    t.equal((await store.review(s, 'compresses'))?.restore[0]?.before?.byteLength, 1_000_000)
  })

  t.test('beyond the bound on evidence the oldest reviews go', async (t) => {
    const { store, close } = await make({ reviewEvidenceBytesPerSession: 30_000 })
    t.teardown(close)
    const s = await opened(store)
    for (const name of ['a', 'b', 'c'])
      await publish(store, s, { review: review(name, undefined, { ops: [randomBytes(10_000).toString('hex')] }) })
    t.equal(await store.review(s, 'a'), undefined)
    t.ok(await store.review(s, 'b'))
    t.ok(await store.review(s, 'c'))
    await publish(store, s, { review: review('big', undefined, { ops: [randomBytes(60_000).toString('hex')] }) })
    t.same(
      (await store.reviews(s, 10))?.reviews.map((r) => r.reviewId),
      ['big'],
    )
  })

  t.test('evidence that is too large by itself gives up its rows and says so', async (t) => {
    const { store, close } = await make({ reviewEvidenceBytesPerSession: 20_000 })
    t.teardown(close)
    const s = await opened(store)
    const small = review('small', Buffer.from('x'))
    const rows = [{ kind: '+' as const, line: 1, text: randomBytes(40_000).toString('hex') }]
    const hunks = [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: 1, rows }]
    const large = {
      ...small,
      review: { ...small.review, reviewId: 'large', entries: [{ ...small.review.entries[0]!, hunks }] },
    }
    await publish(store, s, { review: small })
    await publish(store, s, { review: large })
    t.match(await store.review(s, 'large'), {
      review: { entries: [{ hunks: [], truncated: true, reversible: true, additions: 1 }] },
      restore: [{ before: Buffer.from('x') }],
    })
    t.ok(await store.review(s, 'small'))
  })

  t.test('events are heard live, in order, with consecutive ids', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await store.append(s, { type: 'opened', data: { n: 0 } })
    const heard = hear(store, s)
    await until(() => heard.events.length === 1)
    for (let i = 1; i <= 5; i++) await store.append(s, { type: 'read', data: { n: i, é: '\u2028' } })
    await publish(store, s, {
      events: [
        { type: 'edited', data: { n: 6 } },
        { type: 'terminated', data: { n: 7 } },
      ],
    })
    await until(() => heard.events.length === 8)
    t.same(
      heard.events.map((e) => [e.id, e.data['n']]),
      [0, 1, 2, 3, 4, 5, 6, 7].map((n) => [String(n + 1), n]),
    )
    t.match(heard.events[1], { type: 'read', data: { é: '\u2028' } })
    t.ok(heard.events.every((e) => e.at > 0))
    heard.stop()
    await heard.done
  })

  t.test('events resume behind the last one heard; an id of nobody starts at the first', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    for (let i = 1; i <= 4; i++) await store.append(s, { type: 'read', data: { i } })
    for (const [last, ids] of [
      ['2', ['3', '4']],
      ['4', []],
      [undefined, ['1', '2', '3', '4']],
      ['0', ['1', '2', '3', '4']],
      ['-1', ['1', '2', '3', '4']],
      ['x', ['1', '2', '3', '4']],
      ['99', ['1', '2', '3', '4']],
    ] as const) {
      const heard = hear(store, s, last)
      await until(() => heard.events.length >= ids.length)
      heard.stop()
      await heard.done
      t.same(
        heard.events.map((e) => e.id),
        ids,
      )
    }
  })

  t.test('events are bounded in number and bytes', async (t) => {
    const { store, close } = await make({ eventsPerSession: 5, eventBytesPerSession: 1_000 })
    t.teardown(close)
    const s = await opened(store)
    const ids = async (): Promise<string[]> => {
      const heard = hear(store, s)
      await until(() => heard.events.at(-1)?.id === String(count))
      heard.stop()
      await heard.done
      return heard.events.map((e) => e.id)
    }
    let count = 0
    const append = async (bytes: number): Promise<void> => {
      count++
      await store.append(s, { type: 'read', data: { x: 'x'.repeat(bytes) } })
    }
    for (let i = 0; i < 8; i++) await append(1)
    t.same(await ids(), ['4', '5', '6', '7', '8'])
    await append(600)
    await append(600)
    t.same(await ids(), ['10'])
    await append(2_000)
    t.same(await ids(), ['11'])
  })

  t.test('a drop ends the listeners, after the last event', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    const heard = [hear(store, s), hear(store, s)]
    await store.append(s, { type: 'opened', data: {} })
    await until(() => heard.every((h) => h.events.length === 1))
    await store.append(s, { type: 'closed', data: {} })
    await store.drop(s.sessionId)
    await Promise.all(heard.map(async (h) => h.done))
    for (const h of heard) t.equal(h.events.at(-1)?.type, 'closed')
    const late = hear(store, s)
    await late.done
    t.same(late.events, [])
  })

  t.test('listeners end when the session expires, and at once when they are aborted', async (t) => {
    const { store, advance, close } = await make()
    t.teardown(close)
    const s = await opened(store, { ttlSeconds: 100 })
    const [a, b] = [hear(store, s), hear(store, s)]
    await new Promise((resolve) => setTimeout(resolve, 20))
    a.stop()
    t.equal(await settledWithin(1_000, a.done), true)
    await advance(150_000)
    t.equal(await settledWithin(20_000, b.done), true)
    const gone = hear(store, s)
    await gone.done
  })

  t.test('listeners outlive a workspace switch', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    const heard = hear(store, s)
    await new Promise((resolve) => setTimeout(resolve, 20))
    const now = (await store.switchWorkspace(s, 'other'))!
    await store.append(now, { type: 'read', data: {} })
    await until(() => heard.events.length === 1)
    heard.stop()
    await heard.done
  })

  t.test('a refused stage leaves the claim to its owner', async (t) => {
    const { store, close } = await make()
    t.teardown(close)
    const s = await opened(store)
    await store.claim(s, 'k', 'd', 0)
    const { permit } = await held(store, s)
    await store.stage(permit, intent({ answer: { key: 'k', answer: { status: 200, body: '' } } }))
    await store.release(permit)
    t.same(await store.claim(s, 'k', 'd', 0), { status: 'busy' })
    await store.unclaim(s, 'k')
    t.same(await store.claim(s, 'k', 'd', 0), { status: 'mine' })
  })
}
