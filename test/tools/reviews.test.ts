/**
 * Reviews and rollback through the whole service, on both stores (contract §13.1, reading §8.14): what is recorded, what is kept, what is put back.
 */
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { ToolError } from '../../src/errors/tool-error.js'
import { sha256 } from '../../src/text/digest.js'
import type { Client, Reply, Service } from '../service.js'
import { closeServices, service } from '../service.js'
import { killedInMidCall, shortLeases } from './killed.js'
import type { MakeStore } from './stores.js'
import { instead, onBothStores } from './stores.js'

t.teardown(closeServices)

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join('')
const reviewOf = (reply: Reply): string => (reply.body['review'] as { reviewId: string }).reviewId
const entries = (reply: Reply): Record<string, unknown>[] => reply.body['entries'] as Record<string, unknown>[]
const rollback = (a: Client, reviewId: string, headers: Record<string, string> = {}): Promise<Reply> =>
  a.post(`/reviews/${reviewId}/rollback`, {}, headers)
const isThere = (s: Service, file: string): Promise<boolean> =>
  lstat(join(s.dir, file)).then(
    () => true,
    () => false,
  )
const modeOf = async (s: Service, file: string): Promise<string> =>
  ((await stat(join(s.dir, file))).mode & 0o7777).toString(8)

await onBothStores(t, async (t, make, kind) => {
  await evidence(t, make)
  await bounds(t, make)
  await restored(t, make)
  await refused(t, make)
  if (kind === 'redis') await killed(t, make)
})

async function evidence(t: Test, make: MakeStore): Promise<void> {
  await t.test('every change of a workspace has its evidence, and nothing else has', async (t) => {
    const s = await service(t, { store: make(t).store, now: () => Date.parse('2026-01-02T03:04:05Z') })
    await s.put('a.ts', 'function f() {\n  return 1\n}\nlast()\n')
    const a = await s.session()
    await a.read('a.ts')
    const edited = await a.edit('a.ts', 'CUT 1* @fn\nPUT >4:\n+more()', { promptId: 'p1' })
    const shown = (await a.get(`/reviews/${reviewOf(edited)}`)).body
    t.match(shown, {
      reviewId: reviewOf(edited),
      operation: 'edit',
      state: 'active',
      createdAt: '2026-01-02T03:04:05.000Z',
      promptId: 'p1',
      ops: ['CUT 1* @fn', 'PUT >4:'],
      resolutions: [{ anchorLine: 1, start: 1, end: 3, op: 'cut' }],
      warnings: [],
      entries: [
        {
          path: 'a.ts',
          status: 'modified',
          additions: 1,
          deletions: 3,
          truncated: false,
          reversible: true,
          hunks: edited.body['hunks'],
          beforeDigest: sha256(Buffer.from('function f() {\n  return 1\n}\nlast()\n')),
          afterDigest: sha256(await s.bytes('a.ts')),
        },
      ],
    })
    const made = await a.write('new.txt', 'n\n', { promptId: 'p2' })
    t.match((await a.get(`/reviews/${reviewOf(made)}`)).body, {
      operation: 'write',
      promptId: 'p2',
      ops: [],
      entries: [
        { path: 'new.txt', status: 'added', additions: 1, deletions: 0, hunks: [{ newStart: 1, newLines: 1 }] },
      ],
    })
    t.notOk('beforeDigest' in (entries(await a.get(`/reviews/${reviewOf(made)}`))[0] ?? {}))
    await s.put('seen.txt', lines(3))
    const over = await a.write('seen.txt', 'all new\n', { promptId: 'p3' })
    const second = (await a.get(`/reviews/${reviewOf(over)}`)).body
    t.match(second, { warnings: [{ code: 'OVERWROTE_UNSEEN' }], entries: [{ additions: 1, deletions: 3 }] })
    t.notOk('review' in (await a.write('new.txt', 'n\n')).body, 'identical content is no change')
    t.notOk(
      'review' in (await a.write(`${String(a.opened['scratchRoot'])}/s.txt`, 's\n')).body,
      'scratch is no workspace',
    )
    t.notOk('review' in (await a.edit('new.txt', 'PUT >1:\n+x', { dryRun: true })).body, 'a dry run changes nothing')
    t.equal((await a.edit('new.txt', 'PUT 9.=9:\n+x')).status, 422)
    const list = (await a.get('/reviews')).body['reviews'] as Record<string, unknown>[]
    t.same(
      list.map((review) => review['reviewId']),
      [over, made, edited].map(reviewOf),
    )
    t.same(edited.body['review'], list[2], 'the answer carries the summary')
    t.notOk('hunks' in ((list[2]?.['entries'] as object[])[0] ?? {}), 'which has no rows')
    t.equal(
      (await (await s.session()).get(`/reviews/${reviewOf(made)}`)).code,
      'NOT_FOUND',
      'reviews are the session’s',
    )
  })

  await t.test('a move is a deletion and a creation under one review; a removal is a deletion', async (t) => {
    const s = await service(t, { store: make(t).store })
    await s.put('a.txt', lines(3))
    await s.put('b.txt', 'b\n')
    const a = await s.session()
    await a.read('a.txt')
    await a.read('b.txt')
    const moved = await a.edit('a.txt', 'PUT 2.=2:\n+two\nMV deep/c.txt')
    t.match((await a.get(`/reviews/${reviewOf(moved)}`)).body, {
      operation: 'move',
      ops: ['PUT 2.=2:', 'MV deep/c.txt'],
      entries: [
        { path: 'a.txt', status: 'deleted', additions: 0, deletions: 3, beforeDigest: sha256(Buffer.from(lines(3))) },
        {
          path: 'deep/c.txt',
          status: 'added',
          additions: 3,
          deletions: 0,
          afterDigest: sha256(await s.bytes('deep/c.txt')),
        },
      ],
    })
    const gone = await a.edit('b.txt', 'REM')
    t.match((await a.get(`/reviews/${reviewOf(gone)}`)).body, {
      operation: 'delete',
      entries: [
        { path: 'b.txt', status: 'deleted', deletions: 1, hunks: [{ rows: [{ kind: '-', line: 1, text: 'b' }] }] },
      ],
    })
  })

  await t.test('digests are of what landed, hunks of the intended text', async (t) => {
    const upper = { glob: '**/*.up', command: ['tr', 'a-z', 'A-Z'], timeoutMs: 5_000 } as const
    const s = await service(t, { store: make(t).store, hooks: [upper] })
    const a = await s.session()
    const made = await a.write('a.up', 'one\n')
    t.match((await a.get(`/reviews/${reviewOf(made)}`)).body, {
      warnings: [{ code: 'POST_WRITE_DRIFT' }],
      entries: [{ afterDigest: sha256(Buffer.from('ONE\n')), hunks: [{ rows: [{ kind: '+', text: 'one' }] }] }],
    })
    t.equal((await rollback(a, reviewOf(made))).status, 200)
    t.notOk(await isThere(s, 'a.up'))
  })

  await t.test('pages follow each other by their cursor, also while new reviews come', async (t) => {
    const s = await service(t, { store: make(t).store })
    const a = await s.session()
    const made: string[] = []
    for (let i = 0; i < 7; i++) made.unshift(reviewOf(await a.write(`${i}.txt`, 'x\n')))
    const page = async (query: string): Promise<[unknown[], string]> => {
      const { body } = await a.get(`/reviews${query}`)
      return [(body['reviews'] as { reviewId: string }[]).map((r) => r.reviewId), String(body['nextCursor'])]
    }
    const [first, cursor] = await page('?limit=3')
    t.same(first, made.slice(0, 3))
    await a.write('later.txt', 'x\n')
    const [second, next] = await page(`?limit=3&cursor=${encodeURIComponent(cursor)}`)
    t.same(second, made.slice(3, 6))
    t.same(await page(`?limit=3&cursor=${encodeURIComponent(next)}`), [made.slice(6), 'undefined'])
    for (const query of ['?cursor=nonsense', '?limit=0', '?limit=101', '?limit=x', '?page=2'])
      t.equal((await a.get(`/reviews${query}`)).code, 'INVALID_ARGUMENT', query)
  })

  await t.test('rows of a file that a deny rule covers now are shown to nobody', async (t) => {
    const { store, replica } = make(t)
    const s = await service(t, { store })
    const a = await s.session()
    const made = await a.write('secret.txt', 'rows of a secret\n')
    const strict = await service(t, { store: replica(), root: s.root, denyRead: ['secret.txt'] })
    for (const answer of [
      await strict.call('GET', `${a.url}/reviews/${reviewOf(made)}`),
      await strict.call('POST', `${a.url}/reviews/${reviewOf(made)}/rollback`, {}),
    ]) {
      t.equal(answer.code, 'TOOL_DENIED')
      t.notMatch(answer.text, 'rows of a secret')
    }
    t.notMatch((await strict.call('GET', `${a.url}/reviews`)).text, 'rows of a secret')
    t.equal(await s.get('secret.txt'), 'rows of a secret\n')
  })
}

async function bounds(t: Test, make: MakeStore): Promise<void> {
  await t.test('behind the newest 32 a review cannot be rolled back, and still tells what happened', async (t) => {
    const s = await service(t, { store: make(t).store })
    await s.put('a.txt', '0\n')
    const a = await s.session()
    await a.read('a.txt')
    const made: string[] = []
    for (let i = 1; i <= 34; i++) made.push(reviewOf(await a.edit('a.txt', `PUT 1.=1:\n+${i}`)))
    const [first = '', second = '', third = ''] = made
    t.match((await a.get(`/reviews/${second}`)).body, {
      state: 'active',
      ops: ['PUT 1.=1:'],
      entries: [
        {
          reversible: false,
          hunks: [
            {
              rows: [
                { kind: '-', text: '1' },
                { kind: '+', text: '2' },
              ],
            },
          ],
        },
      ],
    })
    t.equal(entries(await a.get(`/reviews/${first}`))[0]?.['reversible'], false)
    t.equal(entries(await a.get(`/reviews/${third}`))[0]?.['reversible'], true)
    await s.put('a.txt', '2\n')
    const reply = await rollback(a, second)
    t.equal(reply.code, 'CONFLICT')
    t.match(reply.body['detail'], 'no longer kept')
    t.equal(await s.get('a.txt'), '2\n')
    await s.put('a.txt', '3\n')
    t.equal((await rollback(a, third)).status, 200)
    t.equal(await s.get('a.txt'), '2\n')
  })

  await t.test('what is too large to be kept says so at once, and costs no other review', async (t) => {
    const s = await service(t, { store: make(t, { reviewBytesPerSession: 20_000 }).store })
    const noise = `${randomBytes(30_000).toString('base64')}\n`
    await s.put('large.txt', noise)
    await s.put('moved.txt', noise)
    await s.put('dull.txt', 'same\n'.repeat(20_000))
    await s.put('small.txt', 'small\n')
    const a = await s.session()
    for (const file of ['moved.txt', 'dull.txt', 'small.txt']) await a.read(file)
    const small = await a.edit('small.txt', 'PUT 1.=1:\n+SMALL')
    const dull = await a.edit('dull.txt', 'PUT 1.=1:\n+SAME')
    const large = await a.write('large.txt', 'x\n')
    const moved = await a.edit('moved.txt', 'MV elsewhere.txt')
    const told = (reply: Reply) =>
      (reply.body['review'] as { entries: { reversible: boolean }[] }).entries.map((entry) => entry.reversible)
    t.same(told(large), [false])
    t.same(told(moved), [false, false], 'both entries of a move or neither')
    t.same(told(dull), [true], 'what counts is the size when it is packed')
    for (const [reply, code] of [
      [large, 'CONFLICT'],
      [moved, 'CONFLICT'],
      [dull, undefined],
      [small, undefined],
    ] as const) {
      t.same(
        entries(await a.get(`/reviews/${reviewOf(reply)}`)).map((entry) => entry['reversible']),
        told(reply),
      )
      t.equal((await rollback(a, reviewOf(reply))).code, code)
    }
    t.equal(await s.get('elsewhere.txt'), noise)
    t.equal(await s.get('small.txt'), 'small\n')
  })

  await t.test('rows are bounded in number and bytes, and the entry says so', async (t) => {
    const s = await service(t, { store: make(t).store })
    const a = await s.session()
    const many = await a.write('many.txt', lines(2_001))
    const [entry] = entries(await a.get(`/reviews/${reviewOf(many)}`)) as {
      hunks: { newLines: number; rows: unknown[] }[]
    }[]
    t.match(entry, { truncated: true, additions: 2_001, hunks: [{ newLines: 2_001 }] })
    t.equal(entry?.hunks[0]?.rows.length, 2_000)
    const exact = await a.write('exact.txt', lines(2_000))
    t.match(entries(await a.get(`/reviews/${reviewOf(exact)}`)), [{ truncated: false }])
    const wide = await a.write('wide.txt', `${'w'.repeat(10_000)}\n`.repeat(1_000))
    const answer = await a.get(`/reviews/${reviewOf(wide)}`)
    t.match(entries(answer), [{ truncated: true, additions: 1_000 }])
    t.ok(answer.text.length < 1_000_000, `${answer.text.length} characters`)
    t.equal((await rollback(a, reviewOf(wide))).status, 200, 'evidence that is cut takes nothing from the rollback')
    t.notOk(await isThere(s, 'wide.txt'))
  })
}

async function restored(t: Test, make: MakeStore): Promise<void> {
  await t.test('a rollback puts back bytes and mode, whatever they are', async (t) => {
    const s = await service(t, { store: make(t).store })
    const texts = ['a\r\nb\nc', '', '\uFEFFx\r\n', 'e\u0301 \t\r\n\n\n', `${'😀'.repeat(5_000)}\n`]
    const a = await s.session()
    for (const [i, text] of texts.entries()) {
      const file = `f${i}.txt`
      await s.put(file, text)
      await chmod(join(s.dir, file), 0o750)
      const before = await s.bytes(file)
      const reply = await a.write(file, 'other\n')
      await chmod(join(s.dir, file), 0o600)
      t.match((await rollback(a, reviewOf(reply))).body, { reviewId: reviewOf(reply), state: 'rolledBack' })
      t.ok(before.equals(await s.bytes(file)), JSON.stringify(text).slice(0, 30))
      t.equal(await modeOf(s, file), '750')
    }
  })

  await t.test('a removed file comes back with its mode, its owner and its folder', async (t) => {
    const s = await service(t, { store: make(t).store })
    await s.put('deep/er/a.sh', '#!/bin/sh\n')
    await chmod(join(s.dir, 'deep/er/a.sh'), 0o755)
    const root = process.getuid?.() === 0
    if (root) await chown(join(s.dir, 'deep/er/a.sh'), 1234, 4321)
    const a = await s.session()
    await a.read('deep/er/a.sh')
    const reply = await a.edit('deep/er/a.sh', 'REM')
    await rm(join(s.dir, 'deep'), { recursive: true })
    t.equal((await rollback(a, reviewOf(reply))).status, 200)
    t.equal(await s.get('deep/er/a.sh'), '#!/bin/sh\n')
    t.equal(await modeOf(s, 'deep/er/a.sh'), '755')
    if (root) t.match(await stat(join(s.dir, 'deep/er/a.sh')), { uid: 1234, gid: 4321 })
  })

  await t.test('what a call created goes again, its folders too unless they are used', async (t) => {
    const s = await service(t, { store: make(t).store })
    await mkdir(join(s.dir, 'own'))
    const a = await s.session()
    const first = await a.write('own/new/deep/a.txt', 'a\n')
    const second = await a.write('own/new/b.txt', 'b\n')
    t.equal((await rollback(a, reviewOf(first))).status, 200)
    t.notOk(await isThere(s, 'own/new/deep'))
    t.ok(await isThere(s, 'own/new/b.txt'))
    t.equal((await rollback(a, reviewOf(second))).status, 200)
    t.ok(await isThere(s, 'own/new'), 'that call did not make it')
    t.ok(await isThere(s, 'own'))
  })

  await t.test('both files of a move come back, or neither', async (t) => {
    const s = await service(t, { store: make(t).store })
    await s.put('from/a.txt', lines(3))
    await chmod(join(s.dir, 'from/a.txt'), 0o640)
    const a = await s.session()
    await a.read('from/a.txt')
    const reply = await a.edit('from/a.txt', 'PUT 1.=1:\n+one\nMV to/new/b.txt')
    const tag = a.tags.get('to/new/b.txt')
    await s.put('from/a.txt', 'somebody else’s\n')
    t.equal((await rollback(a, reviewOf(reply))).code, 'CONFLICT', 'the old name is taken')
    t.same([await s.get('from/a.txt'), await s.get('to/new/b.txt')], ['somebody else’s\n', 'one\nline 2\nline 3\n'])
    await unlink(join(s.dir, 'from/a.txt'))
    await s.put('to/new/b.txt', 'changed\n')
    t.equal((await rollback(a, reviewOf(reply))).code, 'CONFLICT', 'the new file is another one')
    t.same([await isThere(s, 'from/a.txt'), await s.get('to/new/b.txt')], [false, 'changed\n'])
    await s.put('to/new/b.txt', 'one\nline 2\nline 3\n')
    t.equal((await rollback(a, reviewOf(reply))).status, 200)
    t.equal(await s.get('from/a.txt'), lines(3))
    t.equal(await modeOf(s, 'from/a.txt'), '640')
    t.notOk(await isThere(s, 'to'), 'with the folders it had made')
    t.equal((await a.edit('to/new/b.txt', 'CUT 1.=1', { tag })).code, 'NOT_FOUND')
    t.equal((await a.edit('from/a.txt', 'CUT 1.=1')).code, 'EDIT_TAG_UNKNOWN', 'tags of both paths are forgotten')
  })

  await t.test('after a rollback the session has seen nothing of what it touched; others see drift', async (t) => {
    const s = await service(t, { store: make(t).store })
    await s.put('a.txt', lines(5))
    const [a, b] = [await s.session(), await s.session()]
    await a.read('a.txt')
    const first = a.tags.get('a.txt')
    const reply = await a.edit('a.txt', 'PUT 1.=1:\n+one')
    await b.read('a.txt')
    t.equal((await rollback(a, reviewOf(reply))).status, 200)
    t.same((await a.get('/snapshots')).body['snapshots'], [])
    for (const tag of [first, a.tags.get('a.txt')])
      t.equal((await a.edit('a.txt', 'CUT 2.=2', { tag, dryRun: true })).code, 'EDIT_TAG_UNKNOWN')
    t.equal((await b.edit('a.txt', 'PUT 5.=5:\n+five')).body['branch'], 'recovered')
    await a.read('a.txt')
    t.equal((await a.edit('a.txt', 'CUT 2.=2')).status, 200)
  })

  await t.test('a second rollback answers the same and touches nothing', async (t) => {
    const s = await service(t, { store: make(t).store })
    await s.put('a.txt', 'a\n')
    const a = await s.session()
    await a.read('a.txt')
    const reply = await a.edit('a.txt', 'PUT 1.=1:\n+b')
    const first = await rollback(a, reviewOf(reply))
    await s.put('a.txt', 'later\n')
    await a.read('a.txt')
    for (const again of [await rollback(a, reviewOf(reply)), await a.get(`/reviews/${reviewOf(reply)}`)]) {
      t.equal(again.status, 200)
      t.same(again.body, first.body)
    }
    t.equal(await s.get('a.txt'), 'later\n')
    t.equal((await a.edit('a.txt', 'PUT 1.=1:\n+x')).status, 200, 'nor what the session has seen since')
    t.equal(((await a.get('/reviews')).body['reviews'] as unknown[]).length, 2, 'a rollback is no change of its own')
  })

  await t.test('rollbacks of one review at once: one restores, all answer the same', async (t) => {
    const { store, replica } = make(t)
    const s = await service(t, { store })
    const other = await service(t, { store: replica(), root: s.root })
    await s.put('a.txt', lines(50))
    const a = await s.session()
    await a.read('a.txt')
    const reply = await a.edit('a.txt', 'CUT 1.=40')
    const url = `${a.url}/reviews/${reviewOf(reply)}/rollback`
    const replies = await Promise.all([s, other, s, other, s].map((at) => at.call('POST', url, {})))
    for (const each of replies) t.same([each.status, each.body], [200, replies[0]?.body])
    t.equal(await s.get('a.txt'), lines(50))
  })

  await t.test('a later review of the same path is no obstacle when the bytes match', async (t) => {
    const s = await service(t, { store: make(t).store })
    await s.put('a.txt', 'a\n')
    const a = await s.session()
    await a.read('a.txt')
    const first = await a.edit('a.txt', 'PUT 1.=1:\n+b')
    const second = await a.edit('a.txt', 'PUT 1.=1:\n+c')
    t.equal((await rollback(a, reviewOf(first))).code, 'CONFLICT')
    t.equal((await rollback(a, reviewOf(second))).status, 200)
    t.equal((await rollback(a, reviewOf(first))).status, 200, 'newest first goes all the way back')
    t.equal(await s.get('a.txt'), 'a\n')
    await a.read('a.txt')
    const third = await a.edit('a.txt', 'PUT 1.=1:\n+d')
    const fourth = await a.edit('a.txt', 'PUT 1.=1:\n+e')
    await a.edit('a.txt', 'PUT 1.=1:\n+d')
    t.equal((await rollback(a, reviewOf(third))).status, 200, 'the bytes are those it left behind')
    t.equal(await s.get('a.txt'), 'a\n')
    t.equal((await rollback(a, reviewOf(fourth))).code, 'CONFLICT')
  })

  await t.test('a rollback that lands while the store fails says that nobody recorded it', async (t) => {
    const { store } = make(t)
    let failing = false
    const broken = instead(store, {
      commit: async (permit) => {
        if (failing) throw new ToolError('STORE_UNAVAILABLE', {})
        return store.commit(permit)
      },
    })
    const s = await service(t, { store: broken })
    await s.put('a.txt', 'a\n')
    const a = await s.session()
    await a.read('a.txt')
    const reply = await a.edit('a.txt', 'PUT 1.=1:\n+b')
    failing = true
    const told = await rollback(a, reviewOf(reply))
    t.equal(told.status, 200)
    t.match(told.body, { state: 'rolledBack', warnings: [{ code: 'SNAPSHOT_NOT_RECORDED' }] })
    t.equal(await s.get('a.txt'), 'a\n')
  })
}

async function refused(t: Test, make: MakeStore): Promise<void> {
  await t.test('files that are not as the review left them are a conflict, and nothing is touched', async (t) => {
    const s = await service(t, { store: make(t).store, settings: { maxFileBytes: 100_000 } })
    const a = await s.session()
    const changed = async (what: string, change: (path: string) => Promise<unknown>): Promise<void> => {
      await s.put(`${what}.txt`, 'before\n')
      await a.read(`${what}.txt`)
      const reply = await a.edit(`${what}.txt`, 'PUT 1.=1:\n+after')
      await change(join(s.dir, `${what}.txt`))
      const refusal = await rollback(a, reviewOf(reply))
      t.equal(refusal.code, 'CONFLICT', what)
      t.match(String(refusal.headers['content-type']), 'application/problem+json')
      t.match((await a.get(`/reviews/${reviewOf(reply)}`)).body, { state: 'active' })
    }
    await changed('another text', (path) => writeFile(path, 'foreign\n'))
    await changed('one blank more', (path) => writeFile(path, 'after \n'))
    await changed('gone', (path) => unlink(path))
    await changed('grown', (path) => writeFile(path, 'x'.repeat(200_000)))
    await changed('no text any more', (path) => writeFile(path, 'a\0b'))
    await changed('a folder', async (path) => {
      await unlink(path)
      await mkdir(path)
    })
    await changed('a link to the same bytes', async (path) => {
      await rename(path, `${path}.real`)
      await symlink(`${path}.real`, path)
    })
    t.equal(await s.get('a link to the same bytes.txt.real'), 'after\n')
    t.equal(await s.get('another text.txt'), 'foreign\n')
    await s.put('back.txt', 'x\n')
    await a.read('back.txt')
    const removed = await a.edit('back.txt', 'REM')
    await s.put('back.txt', 'somebody else’s\n')
    t.equal((await rollback(a, reviewOf(removed))).code, 'CONFLICT')
    t.equal(await s.get('back.txt'), 'somebody else’s\n')
    await unlink(join(s.dir, 'back.txt'))
    await symlink('nowhere', join(s.dir, 'back.txt'))
    t.equal((await rollback(a, reviewOf(removed))).status, 409, 'nor does it write through a link')
    await s.put('parent/child.txt', 'x\n')
    await a.read('parent/child.txt')
    const child = await a.edit('parent/child.txt', 'REM')
    await rm(join(s.dir, 'parent'), { recursive: true })
    await symlink('..', join(s.dir, 'parent'))
    t.ok((await rollback(a, reviewOf(child))).status >= 400, 'nor through a folder that leads elsewhere')
    t.notOk(await lstat(join(s.dir, '../child.txt')).catch(() => undefined))
  })

  await t.test('who may not write may not roll back, and a review of nobody is not found', async (t) => {
    const s = await service(t, { store: make(t).store, denyWrite: [] })
    const a = await s.session()
    const reply = await a.write('a.txt', 'a\n')
    t.equal((await rollback(a, 'rv_none')).code, 'NOT_FOUND')
    t.equal((await rollback(await s.session(), reviewOf(reply))).code, 'NOT_FOUND')
    t.equal((await rollback(await s.session({ access: 'read-only' }), reviewOf(reply))).code, 'TOOL_DENIED')
    await mkdir(join(s.root, 'workspaces/other'))
    await s.call('PUT', `${a.url}/workspace`, { workspace: 'other' })
    t.equal((await rollback(a, reviewOf(reply))).code, 'NOT_FOUND', 'reviews belong to their workspace')
    const there = await a.write('there.txt', 'x\n')
    const listed = async (query = '') => {
      const { body } = await a.get(`/reviews${query}`)
      return [(body['reviews'] as { reviewId: string }[]).map(({ reviewId }) => reviewId), 'nextCursor' in body]
    }
    t.same(await listed(), [[reviewOf(there)], false])
    await s.call('PUT', `${a.url}/workspace`, { workspace: 'w' })
    t.same(await listed(), [[reviewOf(reply)], false])
    t.same(await listed('?limit=1'), [[reviewOf(reply)], false], 'pages are full as long as there is something')
    t.equal(await s.get('a.txt'), 'a\n')
    t.equal((await rollback(a, reviewOf(reply))).status, 200)
  })

  await t.test('a rollback waits for the permits of session and file like an edit', async (t) => {
    const { store } = make(t)
    const s = await service(t, { store, settings: { permitWaitMs: 50 } })
    const [a, b] = [await s.session(), await s.session()]
    const reply = await a.write('a.txt', 'a\n')
    for (const holder of [a, b]) {
      const session = await store.open(holder.id, false)
      if (!session) throw new Error('no session')
      const files = holder === b ? [join(s.dir, 'a.txt')] : []
      const held = await store.begin(session, { files, histories: [] }, 0)
      t.equal((await rollback(a, reviewOf(reply))).code, 'MUTATION_IN_PROGRESS')
      t.equal(await s.get('a.txt'), 'a\n')
      if (held.status === 'held') await store.release(held.permit)
    }
    t.equal((await rollback(a, reviewOf(reply))).status, 200)
    t.notOk(await isThere(s, 'a.txt'))
  })

  await t.test('an approved external root has reviews too', async (t) => {
    const outside = join(
      await realpath(t.testdir({ workspaces: { w: {} }, scratch: {}, outside: { 'o.txt': 'o\n' } })),
      'outside',
    )
    const s = await service(t, { store: make(t).store, root: join(outside, '..'), externalRoots: [outside] })
    const a = await s.session({ externalRoots: [outside] })
    const path = join(outside, 'o.txt')
    await a.read(path)
    const reply = await a.edit(path, 'PUT 1.=1:\n+O')
    t.match((await a.get(`/reviews/${reviewOf(reply)}`)).body, { entries: [{ path, status: 'modified' }] })
    t.equal((await rollback(a, reviewOf(reply))).status, 200)
    t.equal(await readFile(path, 'utf8'), 'o\n')
  })
}

async function killed(t: Test, make: MakeStore): Promise<void> {
  await t.test('a process that dies in mid-rollback leaves both files of a move or neither', async (t) => {
    const { store, place } = make(t, shortLeases)
    const s = await service(t, { store })
    if (!place) throw new Error('a place for the other process')
    const moved = async (from: string, to: string): Promise<[Client, string]> => {
      await s.put(from, lines(3))
      const a = await s.session()
      await a.read(from)
      const reply = await a.edit(from, `PUT 1.=1:\n+one\nMV ${to}`)
      return [a, reviewOf(reply)]
    }
    const [a, half] = await moved('half.txt', 'made/half-moved.txt')
    const [b, done] = await moved('done.txt', 'done-moved.txt')
    const [c, begun] = await moved('begun.txt', 'begun-moved.txt')
    await s.put('edit.txt', 'e\n')
    const d = await s.session()
    await d.read('edit.txt')
    const edited = reviewOf(await d.edit('edit.txt', 'PUT 1.=1:\n+E'))
    const call = (client: Client, reviewId: string, stop: 'half' | 'landed' | 'staged', file: string) => ({
      ...{ stop, file, path: `${client.url}/reviews/${reviewId}/rollback`, body: {}, headers: {} },
    })
    await killedInMidCall(s, place, [
      call(a, half, 'half', 'half-moved.txt'),
      call(b, done, 'landed', 'done.txt'),
      call(c, begun, 'staged', 'begun.txt'),
      call(d, edited, 'landed', 'edit.txt'),
    ])
    t.same(
      [await isThere(s, 'half.txt'), await isThere(s, 'made/half-moved.txt')],
      [true, true],
      'between the two steps',
    )
    t.same([await isThere(s, 'done.txt'), await isThere(s, 'done-moved.txt')], [true, false])
    t.same([await isThere(s, 'begun.txt'), await isThere(s, 'begun-moved.txt')], [false, true])
    for (const [client, reviewId] of [
      [a, half],
      [b, done],
      [c, begun],
      [d, edited],
    ] as const) {
      const reply = await rollback(client, reviewId)
      t.match(reply.body, { reviewId, state: 'rolledBack' })
      t.same((await client.get('/snapshots')).body['snapshots'], [])
    }
    for (const name of ['half', 'done', 'begun']) {
      t.equal(await s.get(`${name}.txt`), lines(3))
      t.notOk(await isThere(s, `${name}-moved.txt`))
    }
    t.notOk(await isThere(s, 'made'), 'and the folders that the move had made')
    t.equal(await s.get('edit.txt'), 'e\n')
  })

  await t.test('a change whose process died before it was recorded is there for its rollback', async (t) => {
    const { store, place } = make(t, shortLeases)
    const s = await service(t, { store })
    if (!place) throw new Error('a place for the other process')
    const [a, b] = [await s.session(), await s.session()]
    await s.put('a.txt', 'a\n')
    await s.put('b.txt', 'b\n')
    await a.read('a.txt')
    await b.read('b.txt')
    const call = (client: Client, file: string) => ({
      ...{ stop: 'landed' as const, file, path: `${client.url}/edit`, headers: {} },
      body: { path: file, tag: client.tags.get(file), ops: 'PUT 1.=1:\n+landed' },
    })
    await killedInMidCall(s, place, [call(a, 'a.txt'), call(b, 'b.txt')])
    t.same([await s.get('a.txt'), await s.get('b.txt')], ['landed\n', 'landed\n'])
    t.same((await a.get('/reviews')).body['reviews'], [])
    t.equal((await rollback(a, 'rv_unknown')).code, 'NOT_FOUND', 'whoever takes the permit settles what was left over')
    const [review] = (await a.get('/reviews')).body['reviews'] as { reviewId: string }[]
    t.equal((await rollback(a, review?.reviewId ?? '')).status, 200)
    t.equal(await s.get('a.txt'), 'a\n')
    const other = await s.session()
    await other.read('b.txt')
    t.equal((await other.edit('b.txt', 'PUT >1:\n+more')).status, 200)
    t.match(
      (await b.get('/reviews')).body['reviews'],
      [{ entries: [{ path: 'b.txt' }] }],
      'also when another session does',
    )
  })
}
