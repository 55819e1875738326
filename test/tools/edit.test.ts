/**
 * Edits that land: bytes, tags, seen lines, hunks, shifts, content, moves and removals, through the whole service.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { closeServices, service, warned } from '../service.js'

t.teardown(closeServices)

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join('')

t.test('an edit answers what changed, where lines are now, and the text for a model', async (t) => {
  const s = await service(t)
  await s.put('a.txt', lines(10))
  const a = await s.session()
  const read = await a.read('a.txt')
  const reply = await a.edit('a.txt', 'CUT 2.=3\nPUT >7:\n+n1\n+n2\n+n3')
  t.match(reply.body, {
    path: 'a.txt',
    root: 'workspace',
    previousTag: read.body['tag'],
    branch: 'direct',
    ops: ['CUT 2.=3', 'PUT >7:'],
    resolutions: [],
    shifts: [
      { from: 4, by: -2 },
      { from: 8, by: 1 },
    ],
    additions: 3,
    deletions: 2,
    totalLines: 11,
    warnings: [],
  })
  t.same(reply.body['hunks'], [
    {
      oldStart: 1,
      oldLines: 9,
      newStart: 1,
      newLines: 10,
      rows: [
        { kind: ' ', line: 1, text: 'line 1' },
        { kind: '-', line: 2, text: 'line 2' },
        { kind: '-', line: 3, text: 'line 3' },
        ...[4, 5, 6, 7].map((n) => ({ kind: ' ', line: n - 2, text: `line ${n}` })),
        { kind: '+', line: 6, text: 'n1' },
        { kind: '+', line: 7, text: 'n2' },
        { kind: '+', line: 8, text: 'n3' },
        { kind: ' ', line: 9, text: 'line 8' },
        { kind: ' ', line: 10, text: 'line 9' },
      ],
    },
  ])
  t.match(
    reply.body['content'],
    /^applied: a\.txt, cut before line 2, lines 6-8 \(\+3 -2\)\n\[a\.txt#[0-9A-F]{4}\]\n1:line 1\n2:line 4\n/,
  )
  t.equal(reply.body['header'], `[a.txt#${String(reply.body['tag'])}]`)
  const again = await a.read('a.txt')
  t.equal(again.body['tag'], reply.body['tag'], 'the tag is that of the bytes on disk')
})

t.test('after a direct edit every line counts as seen; the new tag needs no Read', async (t) => {
  const s = await service(t)
  await s.put('a.txt', lines(10))
  const a = await s.session()
  await a.read('a.txt', { limit: 2 })
  t.equal((await a.edit('a.txt', 'PUT 1.=1:\n+one')).status, 200)
  t.equal((await a.edit('a.txt', 'PUT 9.=9:\n+nine')).status, 200)
})

t.test('after an edit at head or tail of a drifted file foreign lines are still unseen', async (t) => {
  const s = await service(t)
  await s.put('a.txt', lines(3))
  const a = await s.session()
  await a.read('a.txt')
  await s.put('a.txt', `new\n${lines(3)}`)
  const reply = await a.edit('a.txt', 'PUT >$:\n+tail')
  t.equal(reply.body['branch'], 'positionStable')
  t.same(warned(reply), ['DRIFT_HEAD_TAIL'])
  t.same(reply.body['shifts'], [])
  t.equal((await a.edit('a.txt', 'PUT 5.=5:\n+TAIL')).status, 200, 'the row this session wrote is seen')
  t.equal((await a.edit('a.txt', 'PUT 1.=1:\n+x')).status, 200, 'a direct edit then authors the whole text')
})

t.test('a recovered edit shows where the anchors are and what is seen now', async (t) => {
  const s = await service(t)
  await s.put('a.txt', lines(9))
  const a = await s.session()
  await a.read('a.txt')
  await s.put('a.txt', `x\ny\n${lines(9)}`)
  const reply = await a.edit('a.txt', 'PUT 5.=5:\n+five')
  t.equal(reply.body['branch'], 'recovered')
  t.same(warned(reply), ['RECOVERED_EXTERNAL', 'RECOVERED_LINE_REMAP'])
  t.match(reply.body['content'], '\n7:five\n')
  t.equal((await a.edit('a.txt', 'PUT 1.=1:\n+X')).code, 'EDIT_LINES_UNSEEN', 'a foreign line was never shown')
  t.equal(await s.get('a.txt'), `x\ny\n${lines(9)}`.replace('line 5', 'five'))
})

t.test('REM removes, MV moves after applying the other ops, and histories follow', async (t) => {
  const s = await service(t)
  await s.put('a.txt', lines(3))
  await s.put('b.txt', 'b\n')
  const a = await s.session()
  await a.read('a.txt')
  const moved = await a.edit('a.txt', 'PUT 2.=2:\n+two\nMV deep/er/c.txt')
  t.match(moved.body, {
    path: 'a.txt',
    movedTo: 'deep/er/c.txt',
    header: `[deep/er/c.txt#${String(moved.body['tag'])}]`,
  })
  t.equal(await s.get('deep/er/c.txt'), 'line 1\ntwo\nline 3\n')
  await t.rejects(stat(join(s.dir, 'a.txt')))
  t.equal((await a.edit('deep/er/c.txt', 'CUT 1.=1')).status, 200, 'the destination has the history')
  t.equal((await a.read('a.txt')).code, 'NOT_FOUND')
  await a.read('b.txt')
  const gone = await a.edit('b.txt', 'REM')
  t.match(gone.body, { deleted: true, deletions: 1 })
  t.notOk('tag' in gone.body || 'header' in gone.body || 'hunks' in gone.body)
  await t.rejects(stat(join(s.dir, 'b.txt')))
})

t.test('MV alone moves the bytes as they are, and never onto something', async (t) => {
  const s = await service(t)
  await s.put('a.txt', 'a\r\nb \n')
  await s.put('taken.txt', 'taken\n')
  const a = await s.session()
  await a.read('a.txt')
  t.equal((await a.edit('a.txt', 'MV taken.txt')).code, 'CONFLICT')
  t.equal((await a.edit('a.txt', 'MV ./a.txt')).code, 'INVALID_ARGUMENT')
  t.equal((await a.edit('a.txt', 'MV "with \\"quotes\\".txt"')).status, 200)
  t.equal(await s.get('with "quotes".txt'), 'a\r\nb \n')
})

t.test('a file that changed is not removed, and not moved beside head or tail ops alone', async (t) => {
  const s = await service(t)
  await s.put('a.txt', lines(3))
  const a = await s.session()
  await a.read('a.txt')
  await s.put('a.txt', `new\n${lines(3)}`)
  t.equal((await a.edit('a.txt', 'REM')).code, 'EDIT_TAG_MISMATCH')
  await s.put('a.txt', `newer\n${lines(3)}`)
  t.equal((await a.edit('a.txt', 'PUT >$:\n+x\nMV b.txt')).code, 'EDIT_TAG_MISMATCH')
  const reply = await a.edit('a.txt', 'PUT 2.=2:\n+two\nMV b.txt')
  t.equal(reply.body['branch'], 'recovered', 'with an anchored op it may be proven')
  t.equal(await s.get('b.txt'), 'newer\nline 1\ntwo\nline 3\n')
})

t.test('registers carry lines between files, and a refused call publishes none', async (t) => {
  const s = await service(t)
  await s.put('a.txt', lines(4))
  await s.put('b.txt', 'x\r\ny\r\n')
  const a = await s.session()
  await a.read('a.txt')
  await a.read('b.txt')
  t.equal((await a.edit('a.txt', 'CUT 1.=2 @fn\nPUT 9.=9:\n+x')).code, 'EDIT_RANGE_INVALID')
  t.same((await a.get('/registers')).body['registers'], [])
  t.equal((await a.edit('a.txt', 'CUT 1.=2 @fn')).status, 200)
  t.match((await a.get('/registers/fn')).body, { name: 'fn', lineCount: 2, lines: ['line 1', 'line 2'] })
  t.equal((await a.edit('a.txt', 'REM')).status, 200)
  t.equal((await a.edit('b.txt', 'PUT <2 @fn')).status, 200)
  t.equal(await s.get('b.txt'), 'x\r\nline 1\r\nline 2\r\ny\r\n')
  t.equal((await a.get('/registers/none')).code, 'NOT_FOUND')
})

t.test('a save hook decides what lands; the answer says that numbers are void', async (t) => {
  const upper = { glob: '**/*.up', command: ['tr', 'a-z', 'A-Z'], timeoutMs: 5_000 } as const
  const broken = { glob: '**/*.bad', command: ['false'], timeoutMs: 5_000 } as const
  const s = await service(t, { hooks: [upper, broken] })
  await s.put('a.up', 'A\nB\nC\n')
  await s.put('a.bad', 'a\n')
  const a = await s.session()
  await a.read('a.up')
  const reply = await a.edit('a.up', 'PUT 2.=2:\n+x')
  t.same(warned(reply), ['POST_WRITE_DRIFT'])
  t.match(reply.body['content'], 'void')
  t.equal(await s.get('a.up'), 'A\nX\nC\n')
  t.equal((await a.read('a.up', { offset: 3 })).body['tag'], reply.body['tag'])
  const b = await s.session()
  await b.read('a.up', { limit: 1 })
  t.equal((await a.edit('a.up', 'CUT 2.=2')).code, 'EDIT_LINES_UNSEEN', 'the line the hook changed was never shown')
  await a.read('a.bad')
  const failed = await a.edit('a.bad', 'PUT 1.=1:\n+b')
  t.same(warned(failed), ['SAVE_HOOK_FAILED'])
  t.equal(await s.get('a.bad'), 'b\n')
})

t.test('a file that is replaced between load and rename is decided anew, never overwritten', async (t) => {
  let strike: (() => Promise<void>) | undefined
  const s = await service(t, {
    around: (disk) => ({
      ...disk,
      replace: async (roots, target, base, bytes, confirm) => {
        const hit = strike
        strike = undefined
        await hit?.()
        return disk.replace(roots, target, base, bytes, confirm)
      },
    }),
  })
  await s.put('a.txt', lines(6))
  const a = await s.session()
  await a.read('a.txt')
  strike = () => s.put('a.txt', `foreign\n${lines(6)}`)
  const reply = await a.edit('a.txt', 'PUT 3.=3:\n+three')
  t.equal(reply.body['branch'], 'recovered')
  t.equal(await s.get('a.txt'), `foreign\n${lines(6)}`.replace('line 3', 'three'))
  strike = () => s.put('a.txt', 'gone\n')
  t.equal((await a.edit('a.txt', 'PUT 4.=4:\n+x')).code, 'EDIT_TAG_MISMATCH')
  t.equal(await s.get('a.txt'), 'gone\n')
})

t.test('many parallel edits of one file lose none', async (t) => {
  const s = await service(t)
  await s.put('a.txt', lines(40))
  const sessions = await Promise.all(Array.from({ length: 8 }, () => s.session()))
  await Promise.all(sessions.map((session) => session.read('a.txt')))
  const tag = sessions[0]?.tags.get('a.txt')
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      sessions[i % 8]!.edit('a.txt', `PUT ${i + 1}.=${i + 1}:\n+edited ${i + 1}`, { tag }),
    ),
  )
  const expected = replies.map((reply, i) => (reply.status === 200 ? `edited ${i + 1}\n` : `line ${i + 1}\n`)).join('')
  t.equal(await s.get('a.txt'), expected, 'every answered edit is in the file, every refused one is not')
  t.ok(replies.filter((reply) => reply.status === 200).length > 20)
})

t.test('content tells of every change, also of more rows than hunks hold', async (t) => {
  const s = await service(t)
  const a = await s.session()
  const contentOf = async (count: number, ops: string): Promise<string> => {
    await s.put('a.txt', lines(count))
    const { body } = await a.post('/snapshots', { path: 'a.txt' })
    const reply = await a.edit('a.txt', ops, { tag: body['tag'], dryRun: true })
    t.ok(Buffer.byteLength(reply.body['content'] as string) <= 8_192)
    return (reply.body['content'] as string).replaceAll(/#[0-9A-F]{4}/g, '#TAG')
  }
  const rows = (count: number): string => '+x\n'.repeat(count)
  t.match(
    await contentOf(2_005, 'PUT 1.=2000:\n+one'),
    /^would apply: a\.txt, line 1 .*\n\[a\.txt#TAG\]\n1:one\n2:line 2001\n3:line 2002$/,
  )
  t.match(
    await contentOf(5_000, `PUT 1.=5000:\n${rows(5_000)}`),
    /^would apply: a\.txt, lines 1-5000 [^]*\n1:x\n[^]*\n… more rows changed/,
  )
  t.match(
    await contentOf(3_000, 'CUT 1.=2500\nPUT 2900.=2900:\n+changed'),
    /cut before line 1, line 400 [^]*\n1:line 2501\n2:line 2502\n…\n398:/,
  )
})

t.test('a file without byte order mark gains none from the rows of an edit', async (t) => {
  const s = await service(t)
  await s.put('a.txt', 'a\n')
  const a = await s.session()
  await a.read('a.txt')
  t.equal((await a.edit('a.txt', 'PUT <1:\n+\uFEFF\uFEFFx')).status, 200)
  t.equal(await s.get('a.txt'), 'x\na\n')
  await a.write('a.txt', '\uFEFF\uFEFFy\n')
  t.equal(await s.get('a.txt'), 'y\n')
})
