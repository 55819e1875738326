/**
 * Idempotency keys through the whole service, on both stores (reading §8.5, §8.8): the first answer stands, duplicates execute once, and a process that dies in
 * mid-call leaves nothing done twice.
 */
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { ToolError } from '../../src/errors/tool-error.js'
import type { Store } from '../../src/sessions/store.js'
import { sha256 } from '../../src/text/digest.js'
import type { Client, Reply, Service } from '../service.js'
import { closeServices, service, warned } from '../service.js'
import { until } from '../sessions/conformance/harness.js'
import { collectingLog, redisStore } from '../sessions/redis/harness.js'
import { startProxy } from '../tcp-proxy.js'
import type { VictimCall } from './killed.js'
import { killedInMidCall, shortLeases } from './killed.js'
import type { MakeStore } from './stores.js'
import { instead, onBothStores } from './stores.js'

t.teardown(closeServices)

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join('')
const keyed = (key: string): Record<string, string> => ({ 'idempotency-key': key })
const isReplay = (reply: Reply): boolean => reply.headers['idempotent-replayed'] === 'true'
const reviews = async (a: Client): Promise<{ reviewId: string; operation: string }[]> =>
  (await a.get('/reviews')).body['reviews'] as { reviewId: string; operation: string }[]
const isThere = (s: Service, file: string): Promise<boolean> =>
  lstat(join(s.dir, file)).then(
    () => true,
    () => false,
  )

async function opened(t: Test, store: Store): Promise<[Service, Client]> {
  const s = await service(t, { store })
  await s.put('a.txt', lines(5))
  const a = await s.session()
  await a.read('a.txt')
  return [s, a]
}

await onBothStores(t, async (t, make, kind) => {
  await answers(t, make)
  await duplicates(t, make)
  await failures(t, make)
  if (kind === 'redis') await killed(t, make)
})

async function answers(t: Test, make: MakeStore): Promise<void> {
  await t.test('a repeated call is answered as the first one was, and does nothing', async (t) => {
    const [s, a] = await opened(t, make(t).store)
    const tag = a.tags.get('a.txt')
    const edit = () => a.edit('a.txt', 'PUT >1:\n+x', { tag }, keyed('e'))
    const write = () => a.write('w.txt', 'w\n', {}, keyed('w'))
    const [edited, written] = [await edit(), await write()]
    t.same([edited.status, written.status, isReplay(edited), isReplay(written)], [200, 200, false, false])
    await s.put('a.txt', 'somebody else\n')
    await s.put('w.txt', 'somebody else\n')
    for (const [first, again] of [
      [edited, await edit()],
      [edited, await edit()],
      [written, await write()],
    ] as const) {
      t.same([again.status, again.body, isReplay(again)], [200, first.body, true])
      t.match(String(again.headers['content-type']), 'application/json')
    }
    t.same([await s.get('a.txt'), await s.get('w.txt')], ['somebody else\n', 'somebody else\n'])
    const [, review] = await reviews(a)
    await s.put('a.txt', lines(5).replace('line 1\n', 'line 1\nx\n'))
    const roll = () => a.post(`/reviews/${review?.reviewId}/rollback`, {}, keyed('r'))
    const rolled = await roll()
    await s.put('a.txt', 'later\n')
    const again = await roll()
    t.same([again.status, again.body, isReplay(rolled), isReplay(again)], [200, rolled.body, false, true])
    t.equal(await s.get('a.txt'), 'later\n')
    t.equal((await reviews(a)).length, 2)
  })

  await t.test('a key belongs to its request, whatever the order of its members, and to its session', async (t) => {
    const [s, a] = await opened(t, make(t).store)
    const tag = a.tags.get('a.txt')
    const first = await a.edit('a.txt', 'PUT >1:\n+x', { tag }, keyed('k'))
    t.equal(first.status, 200)
    const reordered = { ops: 'PUT >1:\n+x', tag, path: 'a.txt' }
    t.ok(isReplay(await a.post('/edit', reordered, keyed('k'))))
    const review = (await reviews(a))[0]?.reviewId
    for (const other of [
      a.edit('a.txt', 'PUT >1:\n+y', { tag }, keyed('k')),
      a.edit('b.txt', 'PUT >1:\n+x', { tag }, keyed('k')),
      a.edit('a.txt', 'PUT >1:\n+x', { tag, promptId: 'p' }, keyed('k')),
      a.write('a.txt', 'x', {}, keyed('k')),
      a.post(`/reviews/${review}/rollback`, {}, keyed('k')),
    ]) {
      const reply = await other
      t.same([reply.status, reply.code, isReplay(reply)], [422, 'IDEMPOTENCY_KEY_REUSED', false])
    }
    t.equal(await s.get('a.txt'), lines(5).replace('line 1\n', 'line 1\nx\n'))
    t.ok(isReplay(await a.edit('a.txt', 'PUT >1:\n+x', { tag }, keyed('k'))), 'the first answer stands')
    const b = await s.session()
    t.notOk(isReplay(await b.write('b.txt', 'b\n', {}, keyed('k'))), 'another session has keys of its own')
    for (const key of ['', 'x'.repeat(129), 'é', 'a\tb'])
      t.equal((await a.write('c.txt', 'c\n', {}, keyed(key))).status, 400, JSON.stringify(key))
    t.equal((await a.write('c.txt', 'c\n', {}, keyed('~ !'.repeat(43).slice(0, 128)))).status, 200)
  })

  await t.test('refusals are answers too', async (t) => {
    const [s, a] = await opened(t, make(t).store)
    const readOnly = await s.session({ access: 'read-only' })
    const calls: (() => Promise<Reply>)[] = [
      () => a.edit('a.txt', 'CUT 1', {}, keyed('400')),
      () => a.edit('a.txt', 'CUT 9.=9', {}, keyed('422')),
      () => a.edit('late.txt', 'CUT 1.=1', {}, keyed('404')),
      () => a.edit('a.txt', 'CUT 1.=1', { tag: 'ABCD' }, keyed('409')),
      () => a.write('../x', 'x', {}, keyed('403')),
      () => a.post('/reviews/rv_none/rollback', {}, keyed('review')),
      () => readOnly.write('a.txt', 'x', {}, keyed('denied')),
    ]
    const first = []
    for (const call of calls) first.push(await call())
    t.same(
      first.map((reply) => reply.status),
      [400, 422, 404, 409, 403, 404, 403],
    )
    await s.put('late.txt', 'here now\n')
    for (const [i, call] of calls.entries()) {
      const again = await call()
      t.same([again.status, again.body], [first[i]?.status, first[i]?.body])
      t.match(String(again.headers['content-type']), 'application/problem+json')
      t.ok(isReplay(again), String(i))
    }
    t.equal((await a.edit('a.txt', 'CUT 1.=1', { tag: 'ABCD' }, keyed('new attempt'))).status, 409)
  })

  await t.test('what may pass is not kept: waiting, load, faults', async (t) => {
    const { store } = make(t)
    let trouble: 'busy' | 'stage' | 'disk' | undefined = 'busy'
    const shaky = instead(store, {
      begin: async (...args) => (trouble === 'busy' ? { status: 'busy', waitedMs: 1 } : store.begin(...args)),
      stage: async (permit, intent) => {
        if (trouble === 'stage') throw new ToolError('STORE_UNAVAILABLE', {})
        if (trouble === 'disk') throw new ToolError('TOOL_FAILED', { path: 'a.txt', cause: 'no space left' })
        return store.stage(permit, intent)
      },
    })
    const [s, a] = await opened(t, shaky)
    const tag = a.tags.get('a.txt')
    const edit = () => a.edit('a.txt', 'PUT >1:\n+x', { tag }, keyed('k'))
    const said: unknown[] = []
    for (const next of ['stage', 'disk', undefined] as const) {
      said.push((await edit()).code)
      t.equal(await s.get('a.txt'), lines(5))
      trouble = next
    }
    t.same(said, ['MUTATION_IN_PROGRESS', 'STORE_UNAVAILABLE', 'TOOL_FAILED'])
    const reply = await edit()
    t.same([reply.status, isReplay(reply)], [200, false])
    t.ok(isReplay(await edit()))
  })

  await t.test('a dry run has no key', async (t) => {
    const [s, a] = await opened(t, make(t).store)
    const tag = a.tags.get('a.txt')
    const dry = () => a.edit('a.txt', 'PUT >1:\n+x', { tag, dryRun: true }, keyed('k'))
    t.same([isReplay(await dry()), isReplay(await dry())], [false, false])
    const real = await a.edit('a.txt', 'PUT >1:\n+y', { tag }, keyed('k'))
    t.same([real.status, isReplay(real)], [200, false])
    t.notOk(isReplay(await dry()))
    t.notOk(isReplay(await a.write('b.txt', 'x', { dryRun: true }, keyed('k'))))
    t.notOk(await isThere(s, 'b.txt'))
  })

  await t.test('a stored answer is for those who may still do what it did', async (t) => {
    const token = (name: string, grants: readonly (readonly [string, 'read-write' | 'read-only'])[]) => ({
      ...{ sha256: sha256(Buffer.from(name)), tenant: 'one', grants: new Map(grants) },
    })
    const tokens = [token('writer', [['w', 'read-write']]), token('reader', [['w', 'read-only']]), token('other', [])]
    const s = await service(t, { store: make(t).store, app: { tokens } })
    const as = (name: string): Record<string, string> => ({ authorization: `Bearer ${name}`, ...keyed('k') })
    const { body } = await s.call('POST', '/v1/sessions', { workspace: 'w' }, as('writer'))
    const write = (name: string) =>
      s.call('POST', `/v1/sessions/${String(body['sessionId'])}/write`, { path: 'a.txt', content: 'a\n' }, as(name))
    t.equal((await write('writer')).status, 200)
    for (const name of ['reader', 'other']) {
      const reply = await write(name)
      t.same([reply.code, isReplay(reply)], ['TOOL_DENIED', false], name)
    }
    t.ok(isReplay(await write('writer')), 'their refusals are not the answer of the key')
  })
}

async function duplicates(t: Test, make: MakeStore): Promise<void> {
  await t.test('of concurrent duplicates one executes, on whichever replica', async (t) => {
    const { store, replica } = make(t)
    const [s, a] = await opened(t, store)
    const other = await service(t, { store: replica(), root: s.root })
    const body = { path: 'a.txt', tag: a.tags.get('a.txt'), ops: 'PUT >1:\n+x' }
    const create = { path: 'made/w.txt', content: 'w\n' }
    const rounds = [s, other, s, other, s, other]
    const edits = await Promise.all(rounds.map((at) => at.call('POST', `${a.url}/edit`, body, keyed('e'))))
    const writes = await Promise.all(rounds.map((at) => at.call('POST', `${a.url}/write`, create, keyed('w'))))
    for (const replies of [edits, writes]) {
      t.equal(replies.filter((reply) => reply.status === 200 && !isReplay(reply)).length, 1)
      for (const reply of replies) {
        if (reply.code === 'MUTATION_IN_PROGRESS') continue
        t.same([reply.status, reply.body], [200, replies.find((each) => !isReplay(each))?.body])
      }
    }
    t.equal(await s.get('a.txt'), lines(5).replace('line 1\n', 'line 1\nx\n'))
    t.equal((await reviews(a)).length, 2)
    const [review] = await reviews(a)
    const url = `${a.url}/reviews/${review?.reviewId}/rollback`
    const rolled = await Promise.all(rounds.map((at) => at.call('POST', url, {}, keyed('r'))))
    t.equal(rolled.filter((reply) => !isReplay(reply)).length, 1)
    t.notOk(await isThere(s, 'made'))
  })

  await t.test('a duplicate that does not want to wait is told so, and may come again', async (t) => {
    const { store } = make(t)
    let go: () => void = () => undefined
    const open = new Promise<void>((resolve) => (go = resolve))
    let staged: () => void = () => undefined
    const reached = new Promise<void>((resolve) => (staged = resolve))
    const slow = instead(store, {
      stage: async (permit, intent) => {
        staged()
        await open
        return store.stage(permit, intent)
      },
    })
    const s = await service(t, { store: slow, settings: { permitWaitMs: 100 } })
    const a = await s.session()
    const write = () => a.write('w.txt', 'w\n', { promptId: 'p' }, keyed('k'))
    const first = write()
    await reached
    const second = await write()
    t.same([second.status, second.code, second.body['retriable']], [409, 'MUTATION_IN_PROGRESS', true])
    t.notOk('guard' in second.body)
    t.equal((await a.write('w.txt', 'other\n', {}, keyed('k'))).code, 'IDEMPOTENCY_KEY_REUSED')
    go()
    t.equal((await first).status, 200)
    t.ok(isReplay(await write()))
  })
}

async function failures(t: Test, make: MakeStore): Promise<void> {
  await t.test(
    'a store that fails before the rename leaves nothing written, one that fails after it is told of',
    async (t) => {
      const { store } = make(t)
      let failing: 'stage' | 'commit' | undefined
      const shaky = instead(store, {
        stage: async (permit, intent) => {
          if (failing === 'stage') throw new ToolError('STORE_UNAVAILABLE', {})
          return store.stage(permit, intent)
        },
        commit: async (permit) => {
          if (failing === 'commit') throw new ToolError('STORE_UNAVAILABLE', {})
          return store.commit(permit)
        },
      })
      const [s, a] = await opened(t, shaky)
      await s.put('rem.txt', 'r\n')
      await s.put('mv.txt', 'm\n')
      for (const file of ['rem.txt', 'mv.txt']) await a.read(file)
      const calls: [string, () => Promise<Reply>][] = [
        ['write', () => a.write('sub/w.txt', 'w\n')],
        ['edit', () => a.edit('a.txt', 'PUT 1.=1:\n+one')],
        ['REM', () => a.edit('rem.txt', 'REM')],
        ['MV', () => a.edit('mv.txt', 'MV sub2/moved.txt')],
      ]
      failing = 'stage'
      for (const [what, call] of calls) {
        const reply = await call()
        t.same([reply.status, reply.code, reply.headers['retry-after']], [503, 'STORE_UNAVAILABLE', '1'], what)
        t.match(reply.body['detail'], /^nothing was written/)
      }
      t.same([await s.get('a.txt'), await s.get('rem.txt'), await s.get('mv.txt')], [lines(5), 'r\n', 'm\n'])
      t.same([await isThere(s, 'sub'), await isThere(s, 'sub2')], [false, false])
      failing = 'commit'
      for (const [what, call] of calls) {
        const reply = await call()
        t.equal(reply.status, 200, what)
        t.same(warned(reply), ['SNAPSHOT_NOT_RECORDED'], what)
        t.match(reply.body['content'], 'SNAPSHOT_NOT_RECORDED', what)
      }
      t.equal(await s.get('a.txt'), lines(5).replace('line 1', 'one'))
      t.same([await s.get('sub/w.txt'), await s.get('sub2/moved.txt')], ['w\n', 'm\n'])
      t.same([await isThere(s, 'rem.txt'), await isThere(s, 'mv.txt')], [false, false])
    },
  )

  await t.test(
    'a session that ends between the rename and the record: the change stands, and says who did not note it',
    async (t) => {
      const { store } = make(t)
      let strike: (() => Promise<unknown>) | undefined
      const struck = instead(store, {
        commit: async (permit) => {
          await strike?.()
          return store.commit(permit)
        },
      })
      for (const how of ['drop', 'switch'] as const) {
        const [s, a] = await opened(t, struck)
        strike = () => (how === 'drop' ? store.drop(a.id) : s.call('PUT', `${a.url}/workspace`, { workspace: 'w' }))
        const reply = await a.edit('a.txt', 'PUT 1.=1:\n+one', {}, keyed('k'))
        t.equal(reply.status, 200)
        t.same(warned(reply), ['SNAPSHOT_NOT_RECORDED'])
        t.notOk('review' in reply.body, 'there is none')
        t.equal(await s.get('a.txt'), lines(5).replace('line 1', 'one'))
      }
    },
  )
}

async function killed(t: Test, make: MakeStore): Promise<void> {
  await t.test(
    'a connection lost between the rename and the record: success with its warning, and the retry does nothing',
    async (t) => {
      const { place } = make(t, shortLeases)
      if (!place) throw new Error('a place behind the proxy')
      const proxy = await startProxy(Number(new URL(place.url).port))
      t.teardown(async () => proxy.close())
      const { namespace } = place
      const log = collectingLog()
      const store = redisStore(`redis://127.0.0.1:${proxy.port}`, {
        ...{ namespace, log, bounds: shortLeases, commandTimeoutMs: 1_000 },
      })
      t.teardown(async () => store.close())
      let lose: 'the command' | 'its answer' | undefined
      const lossy = instead(store, {
        commit: async (permit) => {
          if (lose === 'the command') proxy.accept(false)
          if (lose === 'its answer') proxy.decide = () => ({ kind: 'cutAfter' })
          try {
            return await store.commit(permit)
          } finally {
            proxy.decide = () => ({ kind: 'pass' })
            proxy.accept(true)
          }
        },
      })
      const s = await service(t, { store: lossy })
      for (const what of ['the command', 'its answer'] as const) {
        await s.put('a.txt', lines(5))
        const a = await s.session()
        await a.read('a.txt')
        const tag = a.tags.get('a.txt')
        lose = what
        const edit = () => a.edit('a.txt', 'PUT >1:\n+x', { tag }, keyed('k'))
        const first = await edit()
        lose = undefined
        t.same([first.status, warned(first)], [200, ['SNAPSHOT_NOT_RECORDED']], what)
        t.equal(await s.get('a.txt'), lines(5).replace('line 1\n', 'line 1\nx\n'))
        await until(async () => store.ping())
        const again = await edit()
        t.same([again.status, isReplay(again), again.body['tag']], [200, true, first.body['tag']], what)
        t.equal(await s.get('a.txt'), lines(5).replace('line 1\n', 'line 1\nx\n'), what)
        t.same(
          (await reviews(a)).map(({ reviewId }) => reviewId),
          [(first.body['review'] as { reviewId: string }).reviewId],
        )
        t.equal((await a.edit('a.txt', 'PUT 3.=3:\n+three', { tag: again.body['tag'] })).body['branch'], 'direct')
      }
    },
  )

  await t.test('a process that dies before or after the change landed: the retry applies it once', async (t) => {
    const { store, place } = make(t, shortLeases)
    const s = await service(t, { store })
    if (!place) throw new Error('a place for the other process')
    const retries: { what: string; client: Client; call: VictimCall; operation: string; replays: boolean }[] = []
    const planned = async (
      stop: VictimCall['stop'],
      what: string,
      ops: string | undefined,
      operation: string,
    ): Promise<void> => {
      const file = `${what}-${stop}.txt`
      if (what !== 'create') await s.put(file, lines(5))
      const client = await s.session()
      if (what !== 'create') await client.read(file)
      const body =
        ops === undefined
          ? { path: file, content: 'written\n' }
          : { path: file, tag: client.tags.get(file), ops: ops.replace('DEST', `moved/${file}`) }
      const path = `${client.url}/${ops === undefined ? 'write' : 'edit'}`
      const call = { stop, file, path, body, headers: keyed(`key ${what}`) }
      retries.push({ what: `${what} ${stop}`, client, call, operation, replays: stop !== 'staged' })
    }
    for (const stop of ['staged', 'landed'] as const) {
      await planned(stop, 'edit', 'PUT >1:\n+inserted\nCUT 5.=5 @last', 'edit')
      await planned(stop, 'create', undefined, 'write')
      await planned(stop, 'overwrite', undefined, 'write')
      await planned(stop, 'rem', 'REM', 'delete')
      await planned(stop, 'mv', 'MV DEST', 'move')
      await planned(stop, 'mvedit', 'PUT >1:\n+inserted\nMV DEST', 'move')
    }
    await planned('half', 'mv', 'MV DEST', 'move')
    await planned('half', 'mvedit', 'PUT >1:\n+inserted\nMV DEST', 'move')
    await killedInMidCall(
      s,
      place,
      retries.map(({ call }) => call),
    )
    t.same([await isThere(s, 'mv-half.txt'), await isThere(s, 'moved/mv-half.txt')], [true, true])
    t.same([await isThere(s, 'rem-landed.txt'), await isThere(s, 'rem-staged.txt')], [false, true])
    await Promise.all(
      retries.map(async ({ what, client, call, operation, replays }) => {
        const reply = await s.call('POST', call.path, call.body, call.headers)
        t.same([reply.status, isReplay(reply)], [200, replays], what)
        t.match(await reviews(client), [{ operation }], what)
        t.equal((await reviews(client)).length, 1, what)
        t.ok(isReplay(await s.call('POST', call.path, call.body, call.headers)), what)
      }),
    )
    const inserted = lines(5).replace('line 1\n', 'line 1\ninserted\n')
    for (const stop of ['staged', 'landed', 'half']) {
      if (stop !== 'half') {
        t.equal(await s.get(`edit-${stop}.txt`), inserted.replace('line 5\n', ''))
        t.equal(await s.get(`create-${stop}.txt`), 'written\n')
        t.equal(await s.get(`overwrite-${stop}.txt`), 'written\n')
        t.notOk(await isThere(s, `rem-${stop}.txt`))
      }
      t.equal(await s.get(`moved/mv-${stop}.txt`), lines(5))
      t.equal(await s.get(`moved/mvedit-${stop}.txt`), inserted)
      t.same([await isThere(s, `mv-${stop}.txt`), await isThere(s, `mvedit-${stop}.txt`)], [false, false])
    }
    const landed = retries.find(({ what }) => what === 'edit landed')?.client
    t.match(
      (await landed?.get('/registers/last'))?.body,
      { lines: ['line 5'] },
      'what the call was to publish is there',
    )
    const [newest] = (await landed?.get('/snapshots'))?.body['snapshots'] as { tag: string }[]
    const next = await landed?.edit('edit-landed.txt', 'PUT 2.=2:\n+INSERTED', { tag: newest?.tag })
    t.equal(next?.body['branch'], 'direct', 'its rows count as seen under their tag')
  })

  await t.test('when somebody changed the file meanwhile nobody can tell, and nothing is applied twice', async (t) => {
    const { store, place } = make(t, shortLeases)
    const s = await service(t, { store })
    if (!place) throw new Error('a place for the other process')
    const clients = await Promise.all(
      ['foreign', 'same'].map(async (name) => {
        await s.put(`${name}.txt`, lines(5))
        const client = await s.session()
        await client.read(`${name}.txt`)
        return client
      }),
    )
    const calls = ['foreign', 'same'].map((name, i): VictimCall => {
      const client = clients[i]
      const body = { path: `${name}.txt`, tag: client?.tags.get(`${name}.txt`), ops: 'PUT >1:\n+inserted' }
      return { stop: 'landed', file: `${name}.txt`, path: `${client?.url}/edit`, body, headers: keyed('k') }
    })
    await killedInMidCall(s, place, calls)
    const landed = lines(5).replace('line 1\n', 'line 1\ninserted\n')
    await s.put('foreign.txt', `${landed}and more\n`)
    const [foreign, same] = await Promise.all(calls.map((call) => s.call('POST', call.path, call.body, call.headers)))
    t.equal(foreign?.code, 'CONFLICT')
    t.match(foreign?.body['detail'], 'cannot be told')
    t.match(foreign?.body['content'], 'nothing was written')
    t.equal(await s.get('foreign.txt'), `${landed}and more\n`)
    t.same([same?.status, await s.get('same.txt')], [200, landed])
    const again = await s.call('POST', calls[0]?.path ?? '', calls[0]?.body, keyed('k'))
    t.same([again.code, isReplay(again)], ['CONFLICT', true])
  })
}
