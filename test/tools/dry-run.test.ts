/**
 * Dry runs through the whole service, on both stores (reading §8.9, §3.6): the whole answer, and no trace.
 */
import { link } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { Client, Reply, Service } from '../service.js'
import { closeServices, service } from '../service.js'
import type { MakeStore } from './stores.js'
import { instead, onBothStores } from './stores.js'

t.teardown(closeServices)

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join('')

const hooks = [
  { glob: '**/*.up', command: ['tr', 'a-z', 'A-Z'], timeoutMs: 5_000 },
  { glob: '**/*.bad', command: ['false'], timeoutMs: 5_000 },
] as const

const dry = { dryRun: true, promptId: 'p' } as const

/** A call that is made dry first and then for good. */
interface Pair {
  readonly what: string
  readonly call: (fields: Record<string, unknown>) => Promise<Reply>
}

/** The answer without what only a call that lands has, and with the word that says which of them it is made the same. */
function comparable(reply: Reply): Record<string, unknown> {
  const { review: _review, traceId: _traceId, guard: _guard, terminate: _terminate, ...body } = reply.body
  const content = String(body['content']).replace(/^(would apply|would write|applied): /, 'done: ')
  return { status: reply.status, ...body, content }
}

async function opened(t: Test, make: MakeStore): Promise<[Service, Client]> {
  const s = await service(t, { store: make(t).store, hooks })
  await s.put('a.txt', lines(30))
  const a = await s.session()
  await a.read('a.txt', { limit: 20 })
  return [s, a]
}

await onBothStores(t, async (t, make) => {
  await sameAnswer(t, make)
  await noTrace(t, make)
})

async function sameAnswer(t: Test, make: MakeStore): Promise<void> {
  await t.test('a dry run answers as the real call then does: tag, hunks, numbers, warnings', async (t) => {
    const [s, a] = await opened(t, make)
    await s.put('b.ts', 'function f() {\n  return 1\n}\nlast()\n')
    await s.put('drift.txt', lines(9))
    await s.put('hook.up', 'A\nB\nC\n')
    await s.put('hook.bad', 'a\n')
    await s.put('linked.txt', lines(3))
    await link(join(s.dir, 'linked.txt'), join(s.dir, 'other-name.txt'))
    await s.put('mv.txt', lines(3))
    await s.put('mv2.txt', lines(3))
    await s.put('rem.txt', lines(3))
    await s.put('head.txt', lines(3))
    await s.put('lost.txt', 'unique\n')
    await s.put('crlf.txt', 'a\r\nb\r\n')
    await s.put('repair.txt', lines(5))
    for (const file of 'b.ts drift.txt hook.up hook.bad linked.txt mv.txt mv2.txt rem.txt head.txt lost.txt crlf.txt repair.txt'.split(
      ' ',
    ))
      await a.read(file)
    await s.put('drift.txt', `x\n${lines(9)}`)
    await s.put('head.txt', `x\n${lines(3)}`)
    await s.put('unseen.txt', lines(4))
    const edit = (path: string, ops: string) => (fields: Record<string, unknown>) => a.edit(path, ops, fields)
    const write = (path: string, content: string) => (fields: Record<string, unknown>) => a.write(path, content, fields)
    const pairs: Pair[] = [
      { what: 'ranges and gaps', call: edit('a.txt', 'CUT 2.=3\nPUT >7:\n+n\nPUT 9.=9:\n+nine') },
      { what: 'blocks and registers', call: edit('b.ts', 'CUT 1* @fn\nPUT >4 @fn') },
      { what: 'a named register of the session', call: edit('b.ts', 'PUT <1 @fn') },
      { what: 'recovered', call: edit('drift.txt', 'PUT 5.=5:\n+five') },
      { what: 'head and tail', call: edit('head.txt', 'PUT >$:\n+tail') },
      { what: 'a save hook that changes the text', call: edit('hook.up', 'PUT 2.=2:\n+x') },
      { what: 'a save hook that fails', call: edit('hook.bad', 'PUT 1.=1:\n+b') },
      { what: 'a hard link', call: edit('linked.txt', 'CUT 1.=1') },
      { what: 'a repair', call: edit('repair.txt', 'PUT 3.=3:\n+line 2\n+three') },
      { what: 'a move', call: edit('mv.txt', 'MV new/dir/mv.txt') },
      { what: 'an edited move', call: edit('mv2.txt', 'CUT 1.=1\nMV new2/mv2.txt') },
      { what: 'a removal', call: edit('rem.txt', 'REM') },
      {
        what: 'a recovered path',
        call: (fields) => a.edit('sub/lost.txt', 'PUT 1.=1:\n+found', { ...fields, tag: a.tags.get('lost.txt') }),
      },
      { what: 'a new file', call: write('made/w.txt', 'a\nb\n') },
      { what: 'a new file with a hook', call: write('made.up', 'a\n') },
      { what: 'an overwrite', call: write('crlf.txt', 'x\ny\n') },
      { what: 'an overwrite of unseen lines', call: write('unseen.txt', 'x\n') },
      { what: 'nothing to do', call: write('unseen.txt', 'x\n') },
    ]
    for (const { what, call } of pairs) {
      const dry = await call({ dryRun: true })
      const again = await call({ dryRun: true })
      const real = await call({})
      t.equal(dry.status, 200, `${what}: ${dry.text.slice(0, 300)}`)
      t.same(comparable(again), comparable(dry), what)
      t.same(comparable(dry), comparable(real), what)
      t.notOk('review' in dry.body, what)
      t.notMatch(dry.body['content'], /^applied/, what)
    }
  })

  await t.test('a refusal is the same but for its rows', async (t) => {
    const [s, a] = await opened(t, make)
    await s.put('drift.txt', lines(9))
    await s.put('stale.txt', lines(9))
    await s.put('taken.txt', 'taken\n')
    await s.put('bin.dat', 'a\0b')
    for (const file of ['drift.txt', 'stale.txt']) await a.read(file)
    await s.put('drift.txt', lines(9).replace('line 5', 'FIVE'))
    await s.put('stale.txt', lines(9).replace('line 5', 'FIVE'))
    const pairs: [string, (fields: Record<string, unknown>) => Promise<Reply>][] = [
      ['EDIT_PARSE_FAILED', (fields) => a.edit('a.txt', 'CUT 1', fields)],
      ['EDIT_RANGE_INVALID', (fields) => a.edit('a.txt', 'CUT 99.=99', fields)],
      ['EDIT_NO_CHANGE', (fields) => a.edit('a.txt', 'PUT 1.=1:\n+line 1', fields)],
      ['EDIT_REGISTER_EMPTY', (fields) => a.edit('a.txt', 'PUT >1 @none', fields)],
      ['CONFLICT', (fields) => a.edit('a.txt', 'MV taken.txt', fields)],
      ['NOT_FOUND', (fields) => a.edit('none.txt', 'CUT 1.=1', fields)],
      ['TOOL_BINARY_CONTENT', (fields) => a.write('bin.dat', 'x', fields)],
      ['PATH_OUTSIDE_WORKSPACE', (fields) => a.write('../x', 'x', fields)],
      ['EDIT_TAG_MISMATCH', (fields) => a.edit('drift.txt', 'CUT 5.=5', fields)],
      ['EDIT_TAG_UNKNOWN', (fields) => a.edit('a.txt', 'CUT 1.=1', { ...fields, tag: 'ABCD' })],
      ['EDIT_LINES_UNSEEN', (fields) => a.edit('a.txt', 'CUT 25.=25', fields)],
      ['WRITE_STALE', (fields) => a.write('stale.txt', 'x\n', fields)],
    ]
    for (const [code, call] of pairs) {
      const dry = await call({ dryRun: true })
      const real = await call({})
      t.equal(dry.code, code)
      t.notOk('lines' in dry.body, code)
      t.notMatch(dry.body['content'], '\n', `${code}: no row in what a model is shown`)
      for (const member of [
        'status',
        'title',
        'retriable',
        'liveTag',
        'anchors',
        'reason',
        'opsLine',
        'suggestion',
        'expectedTag',
      ])
        t.same(dry.body[member], real.body[member], `${code} ${member}`)
      if (!('lines' in real.body)) t.same(comparable(dry), comparable(real), code)
    }
  })
}

async function noTrace(t: Test, make: MakeStore): Promise<void> {
  await t.test('a dry run leaves no trace: in the store, on disk, for listeners', async (t) => {
    const under = make(t)
    const began: string[] = []
    const store = instead(under.store, {
      begin: async (...args) => {
        began.push(...args[1].files)
        return under.store.begin(...args)
      },
    })
    const s = await service(t, { store, hooks })
    await s.put('a.txt', lines(30))
    await s.put('drift.txt', lines(9))
    await s.put('old.txt', 'old\n')
    const a = await s.session()
    await a.read('old.txt')
    await a.read('drift.txt')
    await a.read('a.txt', { limit: 20 })
    await a.edit('a.txt', 'CUT 20.=20 @first')
    await a.edit('a.txt', 'CUT 19.=19 @second')
    await s.put('drift.txt', `x\n${lines(9)}`)
    began.length = 0
    const calls: (() => Promise<Reply>)[] = [
      () => a.edit('a.txt', 'PUT 2.=2:\n+two', dry),
      () => a.edit('a.txt', 'CUT 2.=3 @third', dry),
      () => a.edit('a.txt', 'CUT 2.=3 @first\nPUT >5 @second', dry),
      () => a.edit('a.txt', 'PUT >5 @first', dry),
      () => a.edit('a.txt', 'REM', dry),
      () => a.edit('a.txt', 'MV made/moved.txt', dry),
      () => a.edit('drift.txt', 'PUT 5.=5:\n+five', dry),
      () => a.edit('drift.txt', 'PUT >$:\n+tail', dry),
      () => a.edit('a.txt', 'CUT 25.=25', { ...dry, tag: 'ABCD' }),
      () => a.edit('drift.txt', 'REM', dry),
      () => a.edit('a.txt', 'CUT 1', dry),
      () => a.edit('none.txt', 'CUT 1.=1', dry),
      () => a.write('a.txt', 'x\n', dry),
      () => a.write('made/new.txt', 'x\n', dry),
      () => a.write('old.txt', 'old\n', dry),
      () => a.write('drift.txt', 'x\n', dry),
      () => a.write(`${String(a.opened['scratchRoot'])}/s.txt`, 's\n', dry),
    ]
    const before = await under.dump()
    const files = await s.tree()
    for (const [i, call] of calls.entries()) {
      await call()
      t.equal(await under.dump(), before, `call ${i + 1}`)
    }
    t.equal(await s.tree(), files)
    t.same(began, [], 'no permit was taken')
    await a.edit('a.txt', 'PUT 2.=2:\n+two')
    t.not(await under.dump(), before, 'which a real call does')
  })

  await t.test('a dry run waits for nobody', async (t) => {
    const { store } = make(t)
    const s = await service(t, { store })
    await s.put('a.txt', lines(3))
    const a = await s.session()
    await a.read('a.txt')
    const session = await store.open(a.id, false)
    if (!session) throw new Error('no session')
    const held = await store.begin(session, { files: [join(s.dir, 'a.txt')], histories: [] }, 0)
    t.equal((await a.edit('a.txt', 'CUT 1.=1', { dryRun: true })).status, 200)
    t.equal((await a.write('a.txt', 'x\n', { dryRun: true })).status, 200)
    if (held.status === 'held') await store.release(held.permit)
  })

  await t.test('a register that a dry run looked at is no warmer for it', async (t) => {
    const s = await service(t, { store: make(t, { registersPerSession: 2 }).store })
    await s.put('a.txt', lines(30))
    const a = await s.session()
    await a.read('a.txt')
    await a.edit('a.txt', 'CUT 1.=1 @cold')
    await a.edit('a.txt', 'CUT 1.=1 @warm')
    t.equal((await a.edit('a.txt', 'PUT >1 @cold', { dryRun: true })).status, 200)
    await a.edit('a.txt', 'CUT 1.=1 @new')
    t.same(
      ((await a.get('/registers')).body['registers'] as { name: string }[]).map(({ name }) => name),
      ['new', 'warm'],
    )
  })
}
