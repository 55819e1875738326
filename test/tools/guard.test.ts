/**
 * The repeat guard through the whole service, on both stores (contract §9.3, reading §8.10): what counts, for whom, and how a prompt ends.
 */
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { Client, Reply, Service } from '../service.js'
import { closeServices, service } from '../service.js'
import type { MakeStore } from './stores.js'
import { instead, onBothStores } from './stores.js'

t.teardown(closeServices)

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join('')
const p = { promptId: 'p' }

/** `grace`, the attempt, or `END attempt`; `-` when the guard said nothing. */
function guardOf(reply: Reply): string {
  const guard = reply.body['guard'] as { attempt: number; grace?: boolean } | undefined
  if (!guard) return '-'
  if (reply.body['terminate'] === true) return `END ${guard.attempt}`
  return guard.grace === true ? 'grace' : String(guard.attempt)
}

/** A malformed call; counts at once. */
const malformed = (a: Client, fields: Record<string, unknown> = p, path = 'a.txt'): Promise<Reply> =>
  a.edit(path, 'CUT 1', fields)
const noChange = (a: Client): Promise<Reply> => a.edit('a.txt', 'PUT 1.=1:\n+line 1', p)

async function opened(t: Test, make: MakeStore): Promise<[Service, Client]> {
  const s = await service(t, { store: make(t).store })
  await s.put('a.txt', lines(100))
  const a = await s.session()
  await a.read('a.txt')
  return [s, a]
}

await onBothStores(t, async (t, make) => {
  await sequences(t, make)
  await whatCounts(t, make)
  await whose(t, make)
  await endings(t, make)
})

async function sequences(t: Test, make: MakeStore): Promise<void> {
  await t.test('two different honest failures each have their own grace', async (t) => {
    const s = await service(t, { store: make(t).store })
    await s.put('a.txt', lines(100))
    const a = await s.session()
    await a.read('a.txt', { limit: 5 })
    await s.put('a.txt', lines(100).replace('line 3\n', 'THREE\n'))
    const stale = await a.edit('a.txt', 'CUT 3.=3', p)
    t.same(
      [stale.code, guardOf(stale), stale.body['guard']],
      ['EDIT_TAG_MISMATCH', 'grace', { attempt: 0, grace: true }],
    )
    const live = stale.body['liveTag']
    const unseen = await a.edit('a.txt', 'CUT 30.=80', { ...p, tag: live })
    t.same([unseen.code, guardOf(unseen)], ['EDIT_LINES_UNSEEN', 'grace'])
    const unknown = await a.edit('a.txt', 'CUT 1.=1', { ...p, tag: 'ABCD' })
    t.same([unknown.code, guardOf(unknown)], ['EDIT_TAG_UNKNOWN', 'grace'])
    t.equal(guardOf(await a.edit('a.txt', 'CUT 30.=80', { ...p, tag: live })), '1', 'the same code twice is not honest')
  })

  await t.test('a stale Write has its grace', async (t) => {
    const [s, a] = await opened(t, make)
    for (const expected of ['grace', '1', '2']) {
      await s.put('a.txt', `${expected}\n`)
      const reply = await a.write('a.txt', 'mine\n', p)
      t.same([reply.code, guardOf(reply)], ['WRITE_STALE', expected])
    }
  })

  await t.test('the third counted failure ends the prompt, and so does every further one', async (t) => {
    const [, a] = await opened(t, make)
    const said: string[] = []
    for (let i = 0; i < 5; i++) said.push(guardOf(await malformed(a)))
    t.same(said, ['1', '2', 'END 3', 'END 4', 'END 5'])
  })

  await t.test('different codes add up, and a write that lands clears', async (t) => {
    const [, a] = await opened(t, make)
    t.equal(guardOf(await malformed(a)), '1')
    t.equal(guardOf(await noChange(a)), '2')
    t.equal((await a.edit('a.txt', 'PUT 2.=2:\n+two', p)).status, 200)
    t.equal(guardOf(await noChange(a)), '1')
    t.equal(guardOf(await malformed(a)), '2')
    t.equal((await a.write('a.txt', lines(3), p)).status, 200)
    t.equal(guardOf(await malformed(a)), '1')
    t.equal((await a.edit('a.txt', 'PUT 2.=2:\n+two', { promptId: 'other' })).status, 200)
    t.equal(guardOf(await malformed(a)), '2', 'of that prompt alone')
  })

  await t.test('the grace comes back with the clearing', async (t) => {
    const [, a] = await opened(t, make)
    const unknown = () => a.edit('a.txt', 'CUT 1.=1', { ...p, tag: 'ABCD' })
    t.same([guardOf(await unknown()), guardOf(await unknown())], ['grace', '1'])
    await a.edit('a.txt', 'PUT 2.=2:\n+two', p)
    t.same([guardOf(await unknown()), guardOf(await unknown())], ['grace', '1'])
  })

  await t.test('failures at once are counted one by one', async (t) => {
    const [, a] = await opened(t, make)
    const said = (await Promise.all(Array.from({ length: 6 }, () => malformed(a)))).map(guardOf)
    t.same(said.sort(), ['1', '2', 'END 3', 'END 4', 'END 5', 'END 6'])
  })
}

async function whatCounts(t: Test, make: MakeStore): Promise<void> {
  await t.test('refusals of every kind count, those of rights, load and races do not', async (t) => {
    const { store } = make(t)
    const s = await service(t, {
      store: instead(store, {
        begin: async (ref, wanted, waitMs, signal) =>
          wanted.files.some((file) => file.endsWith('busy.txt'))
            ? { status: 'busy', waitedMs: 0 }
            : store.begin(ref, wanted, waitMs, signal),
      }),
      denyWrite: ['locked/**'],
      settings: { maxFileBytes: 1_000 },
    })
    await s.put('a.txt', lines(3))
    await s.put('busy.txt', lines(3))
    await s.put('big.txt', 'x'.repeat(2_000))
    await s.put('bin.dat', 'a\0b')
    await s.put('latin.txt', Buffer.from([0xf1]))
    await s.put('locked/there.txt', lines(3))
    const a = await s.session()
    const readOnly = await s.session({ access: 'read-only' })
    for (const client of [a, readOnly]) await client.read('a.txt')
    await a.read('busy.txt')
    let prompts = 0
    const edit = (path: string, ops: string, fields: Record<string, unknown> = {}) =>
      a.edit(path, ops, { tag: a.tags.get('a.txt'), ...fields, promptId: `prompt ${++prompts}` })
    const counted: [Promise<Reply>, string][] = [
      [edit('a.txt', 'CUT 1'), 'EDIT_PARSE_FAILED'],
      [edit('a.txt', 'CUT 9.=9'), 'EDIT_RANGE_INVALID'],
      [edit('a.txt', 'CUT 1*'), 'EDIT_BLOCK_UNRESOLVED'],
      [edit('a.txt', 'PUT >1'), 'EDIT_REGISTER_EMPTY'],
      [edit('a.txt', 'PUT 1.=1:\n+line 1'), 'EDIT_NO_CHANGE'],
      [edit('a.txt', 'CUT 1.=1 ', { tag: 'x' }), 'EDIT_TAG_REQUIRED'],
      [edit('a.txt', 'MV busy.txt'), 'CONFLICT'],
      [edit('a.txt', 'MV a.txt'), 'INVALID_ARGUMENT'],
      [edit('none.txt', 'CUT 1.=1'), 'NOT_FOUND'],
      [edit('big.txt', 'CUT 1.=1'), 'FILE_TOO_LARGE'],
      [edit('bin.dat', 'CUT 1.=1'), 'TOOL_BINARY_CONTENT'],
      [edit('latin.txt', 'CUT 1.=1'), 'ENCODING_UNSUPPORTED'],
      [a.write('a.txt', 'x'.repeat(2_000), { promptId: 'w1' }), 'FILE_TOO_LARGE'],
      [a.write('a.txt', 'x', { promptId: 'w2', tag: 'ABCD' }), 'EDIT_TAG_MISMATCH'],
      [a.write('bin.dat', 'x', { promptId: 'w3' }), 'TOOL_BINARY_CONTENT'],
    ]
    for (const [reply, code] of counted) {
      t.equal((await reply).code, code)
      t.equal(guardOf(await reply), code === 'EDIT_TAG_MISMATCH' ? 'grace' : '1', code)
    }
    const uncounted: [Promise<Reply>, string][] = [
      [edit('../out.txt', 'CUT 1.=1'), 'PATH_OUTSIDE_WORKSPACE'],
      [edit('locked/none.txt', 'CUT 1.=1'), 'TOOL_DENIED'],
      [readOnly.edit('a.txt', 'CUT 1', p), 'TOOL_DENIED'],
      [a.edit('busy.txt', 'CUT 1.=1', p), 'MUTATION_IN_PROGRESS'],
      [edit('a.txt', 'CUT 1', { dryRun: true }), 'EDIT_PARSE_FAILED'],
      [a.write('a.txt', 'x', { ...p, tag: 'ABCD', dryRun: true }), 'EDIT_TAG_MISMATCH'],
      [s.call('POST', `${a.url}/edit`, { path: 'a.txt', ops: 5, ...p }), 'INVALID_ARGUMENT'],
      [s.call('POST', '/v1/sessions/nobody/edit', { path: 'a.txt', ops: 'CUT 1', ...p }), 'SESSION_NOT_FOUND'],
    ]
    for (const [reply, code] of uncounted) {
      t.equal((await reply).code, code)
      t.equal(guardOf(await reply), '-', code)
    }
    t.equal(guardOf(await malformed(a, {})), '-', 'without a prompt the guard is off')
    t.equal(guardOf(await malformed(a, p, 'busy.txt')), '1', 'none of that had counted')
  })

  await t.test('a replayed refusal counts once', async (t) => {
    const [, a] = await opened(t, make)
    const headers = { 'idempotency-key': 'k' }
    const said: string[] = []
    for (let i = 0; i < 4; i++) said.push(guardOf(await a.edit('a.txt', 'CUT 1', p, headers)))
    t.same(said, ['1', '1', '1', '1'])
    t.equal(guardOf(await malformed(a)), '2')
  })
}

async function whose(t: Test, make: MakeStore): Promise<void> {
  await t.test('failures are those of a session, a prompt and a path', async (t) => {
    const [s, a] = await opened(t, make)
    await s.put('b.txt', lines(3))
    const b = await s.session()
    await malformed(a)
    t.equal(guardOf(await malformed(a)), '2')
    t.equal(guardOf(await malformed(b)), '1', 'another session')
    t.equal(guardOf(await malformed(a, { promptId: 'q' })), '1', 'another prompt')
    t.equal(guardOf(await malformed(a, p, 'b.txt')), '1', 'another path')
    t.equal(guardOf(await malformed(a)), 'END 3')
  })

  await t.test('a path is the file it leads to, also when the failure comes before it is looked at', async (t) => {
    const [s, a] = await opened(t, make)
    await symlink('a.txt', join(s.dir, 'link.txt'))
    await symlink('.', join(s.dir, 'here'))
    const spellings = ['a.txt', './a.txt', 'link.txt', 'here/a.txt', join(s.dir, 'a.txt')]
    const said: string[] = []
    for (const path of spellings) said.push(guardOf(await malformed(a, p, path)))
    t.same(said, ['1', '2', 'END 3', 'END 4', 'END 5'])
    t.equal((await a.edit('here/a.txt', 'PUT 2.=2:\n+two', { ...p, tag: a.tags.get('a.txt') })).status, 200)
    t.equal(guardOf(await malformed(a)), '1', 'and a write by any of its names clears it')
    t.equal(guardOf(await malformed(a, p, '../outside.txt')), '1', 'one that leads nowhere counts as it is written')
    t.equal(guardOf(await malformed(a, p, '../outside.txt')), '2')
    t.equal(guardOf(await malformed(a, p, 'not/there.txt')), '1')
    t.equal(guardOf(await malformed(a, p, 'not/../not/there.txt')), '2')
  })

  await t.test('a workspace switch forgets them', async (t) => {
    const [s, a] = await opened(t, make)
    await malformed(a)
    await malformed(a)
    await s.call('PUT', `${a.url}/workspace`, { workspace: 'w' })
    t.equal(guardOf(await malformed(a)), '1')
  })
}

async function endings(t: Test, make: MakeStore): Promise<void> {
  await t.test('the end says that it is one, what the last failure was, and what to do', async (t) => {
    const [, a] = await opened(t, make)
    await malformed(a)
    await malformed(a)
    const end = await a.edit('a.txt', 'PUT 48.=48\n+x', p)
    t.match(end.body, {
      code: 'EDIT_PARSE_FAILED',
      terminate: true,
      guard: {
        code: 'MUTATION_RETRY_BUDGET_EXHAUSTED',
        retriable: true,
        kind: 'edit',
        lastErrorCode: 'EDIT_PARSE_FAILED',
        attempt: 3,
      },
    })
    const recovery = (reply: Reply): string => String((reply.body['guard'] as { recovery: unknown }).recovery)
    t.match(recovery(end), 'PUT 48.=48:')
    t.match(recovery(end), 'no Read is needed')
    t.match(recovery(end), 'must end its header with ":"')
    const unknown = await a.edit('a.txt', 'CUT 1.=1', { ...p, tag: 'ABCD' })
    t.equal(guardOf(unknown), 'grace')
    for (const [ops, hint] of [
      ['CUT 900.=900', 'PUT >$:'],
      ['CUT 1*', 'N.=M'],
      ['PUT >1 @no', 'CUT'],
      ['PUT 1.=1:\n+line 1', 'already holds'],
    ] as const)
      t.match(recovery(await a.edit('a.txt', ops, p)), hint, ops)
    t.match(recovery(await a.edit('a.txt', 'CUT 1.=1', { ...p, tag: 'ABCD' })), 'read the file again')
  })

  await t.test('reported shell patches count on the same path, with their own class', async (t) => {
    const [, a] = await opened(t, make)
    const report = (path = 'a.txt') => a.post('/failures', { promptId: 'p', path, kind: 'patch-command' })
    const first = await report()
    t.same([first.status, first.body], [200, { guard: { attempt: 1, grace: false } }])
    t.equal(guardOf(await malformed(a)), '2')
    const end = await report('./a.txt')
    t.match(end.body, {
      terminate: true,
      guard: {
        code: 'MUTATION_RETRY_BUDGET_EXHAUSTED',
        retriable: true,
        kind: 'patch-command',
        lastErrorCode: 'PATCH_COMMAND_FAILED',
        attempt: 3,
        recovery: /use Edit/,
      },
    })
    t.equal((await a.edit('a.txt', 'PUT 2.=2:\n+two', p)).status, 200)
    t.equal(guardOf(await report()), '1')
    t.equal(guardOf(await report('not-there.txt')), '1')
    t.equal((await report('../outside')).code, 'PATH_OUTSIDE_WORKSPACE')
    for (const body of [
      {},
      { promptId: 'p', path: 'a.txt', kind: 'edit' },
      { promptId: '', path: 'a.txt', kind: 'patch-command' },
      { path: 'a.txt', kind: 'patch-command' },
    ])
      t.equal((await a.post('/failures', body)).code, 'INVALID_ARGUMENT', JSON.stringify(body))
  })
}
