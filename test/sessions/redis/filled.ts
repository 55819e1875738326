/** A session that holds something of everything, and a probe that asks for all of it and judges what comes back. */
import type { Test } from 'tap'
import type { Session, Store } from '../../../src/sessions/store.js'
import { LineSet } from '../../../src/text/line-set.js'
import type { Harness } from '../conformance/harness.js'
import { facts, hear, held, intent, opened, publish, recording, review, sketch } from '../conformance/harness.js'

const texts = {
  '/w/x/same.ts': 'same\n',
  '/w/y/same.ts': 'same\n',
  '/w/a.ts': 'one\ntwo\nthree\n',
  '/w/s.ts': 'found\n',
}
const before = Buffer.from('before\r\n')
const registerLines = ['first', '', 'é']

/** The last thing that happened to it is that a replica died with an intent staged. */
export async function fill(h: Harness, changed: { ttlSeconds?: number } = {}): Promise<Session> {
  const { store } = h
  const s = await opened(store, changed)
  await store.append(s, { type: 'opened', data: { n: 1 } })
  await store.record(s, recording('/w/x/same.ts', texts['/w/x/same.ts']), 'display')
  await store.record(s, recording('/w/y/same.ts', texts['/w/y/same.ts']), 'display')
  await store.record(s, recording('/w/a.ts', 'zero\n', '1'), 'display')
  await store.record(s, recording('/w/a.ts', texts['/w/a.ts'], '1-2'), 'display')
  await store.record(s, recording('/w/s.ts', texts['/w/s.ts'], '1'), 'search')
  await store.claim(s, 'answered', 'digest', 0)
  await publish(store, s, {
    registers: [{ name: 'r', lines: registerLines }],
    review: review('first', before),
    events: [{ type: 'edited', data: { n: 2 } }],
    answer: { key: 'answered', answer: { status: 200, body: 'body' } },
  })
  await publish(store, s, { review: review('second') })
  await store.countFailure(s, 'p', '/w/a.ts', 'CODE', true)
  await store.countFailure(s, 'p', '/w/a.ts', 'CODE', true)
  const doomed = await h.replica!()
  const { permit } = await held(doomed.store, s, ['/w/a.ts'])
  await doomed.store.stage(permit, intent({ intentId: 'left', files: [{ path: '/w/a.ts', after: 'd' }] }))
  await doomed.kill()
  await h.advance(20_000)
  await store.claim(s, 'pending', 'digest', 0)
  return s
}

/**
 * Nothing throws, and whatever is answered is what was recorded, or nothing: never something else, never one of two candidates. `s` may be gone as a whole.
 */
export async function probe(t: Test, store: Store, s: Session, what: string): Promise<void> {
  const open = await store.open(s.sessionId, true)
  if (open) t.match(open, { tenant: s.tenant, workspace: s.workspace, epoch: 1 }, what)
  for (const [path, text] of Object.entries(texts)) {
    const known = path === '/w/a.ts' ? [`${facts(text).tag}:1-2`, `${facts('zero\n').tag}:1`] : [`${facts(text).tag}:1`]
    const history = await store.history(s, path)
    t.ok(
      sketch(history).every((line) => known.includes(line)),
      `${what}: ${path} ${sketch(history).join(' ')}`,
    )
    const kept = await store.text(s, facts(text).textDigest)
    if (kept) t.equal(Buffer.from(kept).toString(), text, what)
  }
  const same = await store.pathsWith(s, 'same.ts', facts('same\n').tag)
  t.ok(same.length === 0 || same.length === 2, `${what}: ${same.length} candidates`)
  const usage = await store.usage(s)
  t.ok(usage.paths <= 4 && usage.versions <= 5 && usage.registers <= 1, what)
  for (const entry of await store.snapshots(s)) t.ok(Object.hasOwn(texts, entry.path), what)
  const register = await store.register(s, 'r')
  if (register) t.same(register.lines, registerLines, what)
  for (const r of await store.registers(s)) t.match(r, { name: 'r', lineCount: 3 }, what)
  for (const r of (await store.reviews(s, 10))?.reviews ?? []) t.ok(['first', 'second'].includes(r.reviewId), what)
  const first = await store.review(s, 'first')
  if (first) {
    t.match(first.review, { reviewId: 'first', state: 'active', ops: ['PUT 1.=1:'] }, what)
    const kept = first.restore[0]?.before
    if (kept) t.same(Buffer.from(kept), before, what)
    else t.equal(first.review.entries[0]?.reversible, false, `${what}: lost bytes are said`)
  }
  const claim = await store.claim(s, 'answered', 'digest', 0)
  t.ok(claim.status === 'mine' || (claim.status === 'answered' && claim.answer.body === 'body'), what)
  t.ok(['mine', 'busy'].includes((await store.claim(s, 'pending', 'digest', 0)).status), what)
  const count = await store.countFailure(s, 'p', '/w/a.ts', 'CODE', true)
  t.ok([0, 1, 2].includes(count.attempt), what)
  const heard = hear(store, s)
  await new Promise((resolve) => setTimeout(resolve, 15))
  heard.stop()
  await heard.done
  t.ok(
    heard.events.every((event) => event.data['n'] === Number(event.id)),
    what,
  )
}

/** A whole mutation still works, or the session is gone. */
export async function mutateOnce(t: Test, store: Store, s: Session, what: string): Promise<void> {
  const begun = await store.begin(s, { files: ['/w/a.ts'], histories: ['/w/a.ts'] }, 3_000)
  if (begun.status === 'gone') {
    t.equal(await store.open(s.sessionId, false), undefined, what)
    return
  }
  if (begun.status === 'busy') throw new Error(`${what}: busy`)
  for (const leftover of begun.leftovers) {
    t.same(leftover.intent, { intentId: 'left', files: [{ path: '/w/a.ts', after: 'd' }] }, what)
    await store.settle(begun.permit, leftover, false, () => undefined)
  }
  const staged = await store.stage(
    begun.permit,
    intent({
      files: [{ path: '/w/a.ts' }],
      recordings: [recording('/w/a.ts', 'new\n')],
      registers: [{ name: 'r', lines: ['new'] }],
      review: review('third', Buffer.from('x')),
      rolledBack: 'second',
      clearGuard: { promptId: 'p', path: '/w/a.ts' },
      events: [{ type: 'edited', data: {} }],
    }),
  )
  t.equal(staged, 'staged', what)
  t.equal(await store.commit(begun.permit), 'recorded', what)
  // What does not fit together is found by the next look, and starts anew then.
  const [head] = await store.history(s, '/w/a.ts')
  if (head) t.match(head, { tag: facts('new\n').tag, retained: true, seen: LineSet.all(1) }, what)
  const register = await store.register(s, 'r')
  if (register) t.same(register.lines, ['new'], what)
  const reviews = (await store.reviews(s, 1))?.reviews ?? []
  if (reviews.length > 0) t.match(reviews, [{ reviewId: 'third' }], what)

  await publish(store, s, {
    recordings: [recording('/w/a.ts', 'last\n')],
    registers: [{ name: 'r', lines: ['last'] }],
    review: review('fourth'),
  })
  t.match((await store.history(s, '/w/a.ts'))[0], { tag: facts('last\n').tag, retained: true }, what)
  t.same((await store.register(s, 'r'))?.lines, ['last'], what)
  t.match((await store.reviews(s, 1))?.reviews, [{ reviewId: 'fourth' }], what)
}
