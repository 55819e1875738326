/**
 * The order of refusals (reading §3.0): each row against its neighbour. A call that breaks two rules is answered with the first, and no call writes anything.
 */
import { chmod, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Client } from '../service.js'
import { closeServices, service } from '../service.js'

t.teardown(closeServices)

t.test('the first refusal wins', async (t) => {
  const s = await service(t, { denyWrite: ['locked/**'], settings: { maxFileBytes: 1_000 } })
  await s.put('a.txt', 'one\ntwo\nthree\n')
  await s.put('locked/a.txt', 'one\n')
  await s.put('big.txt', 'x'.repeat(2_000))
  await s.put('bin.dat', 'a\0b')
  await s.put('latin.txt', Buffer.from([0x61, 0xf1, 0x0a]))
  await s.put('taken.txt', 'taken\n')
  await mkdir(join(s.dir, 'folder'))
  const a = await s.session()
  await a.read('a.txt', { limit: 1 })
  const tag = a.tags.get('a.txt') ?? ''
  const huge = 'x'.repeat(262_145)
  const edit = (fields: Record<string, unknown>) =>
    s.call('POST', `${a.url}/edit`, { path: 'a.txt', tag, ops: 'PUT 1.=1:\n+x', ...fields })
  const rows: [what: string, answer: ReturnType<typeof edit>, code: string][] = [
    ['body schema before session', s.call('POST', '/v1/sessions/nobody/edit', { path: 5 }), 'INVALID_ARGUMENT'],
    [
      'session before ops bytes',
      s.call('POST', '/v1/sessions/nobody/edit', { path: 'a.txt', ops: huge }),
      'SESSION_NOT_FOUND',
    ],
    ['ops bytes before tag form', edit({ ops: huge, tag: 'nope' }), 'INVALID_ARGUMENT'],
    ['tag form before parse', edit({ tag: 'nope', ops: 'PUTT' }), 'EDIT_TAG_REQUIRED'],
    ['parse before header', edit({ ops: '[b.txt#0000]\nPUTT' }), 'EDIT_PARSE_FAILED'],
    ['op count before reversed ranges', edit({ ops: 'PUT 2.=1:\n+x\n'.repeat(201) }), 'EDIT_RANGE_INVALID'],
    ['header before path', edit({ path: '../x', ops: '[../x#0000]\nCUT 1.=1' }), 'INVALID_ARGUMENT'],
    ['inside before existence', edit({ path: '../nothing', ops: 'CUT 9.=9' }), 'PATH_OUTSIDE_WORKSPACE'],
    ['deny globs before existence', edit({ path: 'locked/nothing.txt' }), 'TOOL_DENIED'],
    ['existence before size', edit({ path: 'nothing.txt' }), 'NOT_FOUND'],
    ['regular file before version', edit({ path: 'folder' }), 'INVALID_ARGUMENT'],
    ['size before version', edit({ path: 'big.txt' }), 'FILE_TOO_LARGE'],
    ['binary before version', edit({ path: 'bin.dat' }), 'TOOL_BINARY_CONTENT'],
    ['encoding before version', edit({ path: 'latin.txt' }), 'ENCODING_UNSUPPORTED'],
    ['destination before version', edit({ tag: '0000', ops: 'CUT 1.=1\nMV taken.txt', dryRun: true }), 'CONFLICT'],
    ['version before bounds', edit({ tag: '0000', ops: 'CUT 9.=9', dryRun: true }), 'EDIT_TAG_UNKNOWN'],
    ['bounds before blocks', edit({ ops: 'CUT 1*\nCUT 9.=9' }), 'EDIT_RANGE_INVALID'],
    ['blocks before overlap', edit({ ops: 'CUT 1*\nCUT 2.=2\nCUT 2.=3' }), 'EDIT_BLOCK_UNRESOLVED'],
    ['overlap before registers', edit({ ops: 'CUT 2.=2\nCUT 2.=3\nPUT >1 @none' }), 'EDIT_RANGE_INVALID'],
    ['registers before provenance', edit({ ops: 'CUT 3.=3\nPUT >1 @none' }), 'EDIT_REGISTER_EMPTY'],
    ['provenance before no change', edit({ ops: 'PUT 3.=3:\n+three' }), 'EDIT_LINES_UNSEEN'],
    ['no change', edit({ ops: 'PUT 1.=1:\n+one' }), 'EDIT_NO_CHANGE'],
  ]
  for (const [what, answer, code] of rows) {
    const reply = await answer
    t.equal(reply.code, code, what)
    t.match(String(reply.headers['content-type']), 'application/problem+json', what)
    t.match(reply.body['detail'], /^nothing was written: /, what)
    t.match(reply.body['content'], new RegExp(`^${code}: nothing was written`), what)
  }
  t.equal(await s.get('a.txt'), 'one\ntwo\nthree\n', 'and the file is as it was')
})

t.test('a session of somebody else does not exist', async (t) => {
  const s = await service(t)
  await s.put('a.txt', 'a\n')
  const reply = await s.call('POST', '/v1/sessions/00000000000000000000000000000000/write', {
    path: 'a.txt',
    content: 'b\n',
  })
  t.equal(reply.code, 'SESSION_NOT_FOUND')
  t.equal(await s.get('a.txt'), 'a\n')
})

t.test('every code of the contract §11 is reachable', async (t) => {
  const s = await service(t)
  await s.put('a.txt', 'a\nb\nc\n')
  const a = await s.session()
  await a.read('a.txt')
  const codeOf = async (ops: string, fields: Record<string, unknown> = {}) =>
    (await a.edit('a.txt', ops, { dryRun: true, ...fields })).code
  t.equal(await codeOf('CUT 1.=1', { tag: undefined }), 'EDIT_TAG_REQUIRED')
  t.equal(await codeOf('CUT 1.=1', { tag: 'ABCD' }), 'EDIT_TAG_UNKNOWN')
  t.equal(await codeOf('CUT 1'), 'EDIT_PARSE_FAILED')
  t.equal(await codeOf('CUT 2.=1'), 'EDIT_RANGE_INVALID')
  t.equal(await codeOf('CUT 1*'), 'EDIT_BLOCK_UNRESOLVED')
  t.equal(await codeOf('PUT >1'), 'EDIT_REGISTER_EMPTY')
  t.equal(await codeOf('CUT 1.=1\nCUT 2.=2\nPUT >3'), 'EDIT_REGISTER_AMBIGUOUS')
  t.equal(await codeOf('PUT 2.=2:\n+a\n+c'), 'EDIT_REPAIR_AMBIGUOUS')
  t.equal(await codeOf('PUT 2.=2:\n+b'), 'EDIT_NO_CHANGE')
  t.equal(await codeOf('PUT 2.=2:\n+b\nMV b.txt'), 'EDIT_NO_CHANGE')
  t.equal(await codeOf(`PUT >1:\n${'+\n'.repeat(100_001)}`), 'EDIT_AMPLIFICATION_LIMIT')
  await s.put('a.txt', 'a\nB\nc\n')
  t.equal(await codeOf('CUT 2.=2'), 'EDIT_TAG_MISMATCH')
  const b = await s.session()
  await b.read('a.txt', { limit: 1 })
  t.equal((await b.edit('a.txt', 'CUT 2.=2')).code, 'EDIT_LINES_UNSEEN')
})

t.test('a tag of another session is unknown, also when it hashes the live file', async (t) => {
  const s = await service(t)
  await s.put('a.txt', 'a\nb\n')
  const [a, b] = [await s.session(), await s.session()]
  await a.read('a.txt')
  const tag = a.tags.get('a.txt')
  const reply = await b.edit('a.txt', 'PUT 2.=2:\n+B', { tag })
  t.equal(reply.code, 'EDIT_TAG_UNKNOWN')
  t.equal(reply.body['liveTag'], tag)
  t.equal(reply.body['revealComplete'], true)
  t.match(reply.body['content'], `[a.txt#${tag}]\n1:a\n2:b`)
  t.equal((await b.edit('a.txt', 'PUT 2.=2:\n+B', { tag })).status, 200, 'what it revealed is what the retry needs')
})

t.test('a reveal that was cut merges nothing, and names the range to read', async (t) => {
  const s = await service(t)
  await s.put('a.txt', Array.from({ length: 200 }, (_, i) => `line ${i + 1}\n`).join(''))
  const a = await s.session()
  await a.read('a.txt', { limit: 1 })
  for (const _ of [1, 2]) {
    const reply = await a.edit('a.txt', 'CUT 100.=150')
    t.equal(reply.code, 'EDIT_LINES_UNSEEN')
    t.equal(reply.body['revealComplete'], false)
    t.equal((reply.body['lines'] as unknown[]).length, 40)
    t.match(reply.body['detail'], 'offset 100 and limit 51')
  }
  t.equal((await a.edit('a.txt', 'CUT 100.=139')).body['revealComplete'], true)
  t.equal((await a.edit('a.txt', 'CUT 100.=139')).status, 200)
})

t.test('a dry run refuses without lines and remembers nothing', async (t) => {
  const s = await service(t)
  await s.put('a.txt', 'a\nb\n')
  const a = await s.session()
  await a.read('a.txt', { limit: 1 })
  for (const _ of [1, 2]) {
    const reply = await a.edit('a.txt', 'CUT 2.=2', { dryRun: true, promptId: 'p' })
    t.equal(reply.code, 'EDIT_LINES_UNSEEN')
    t.notOk('lines' in reply.body)
    t.notOk('guard' in reply.body)
  }
  t.equal((await a.edit('a.txt', 'CUT 2.=2')).code, 'EDIT_LINES_UNSEEN')
})

t.test('REM and MV take files, not links, and name the target', async (t) => {
  const s = await service(t)
  await s.put('real.txt', 'a\n')
  await symlink('real.txt', join(s.dir, 'link.txt'))
  const a = await s.session()
  await a.read('link.txt')
  for (const ops of ['REM', 'MV other.txt']) {
    const reply = await a.edit('link.txt', ops)
    t.equal(reply.code, 'INVALID_ARGUMENT')
    t.match(reply.body['detail'], 'real.txt')
  }
})

t.test('bad input of any kind is a 4xx of the table and writes nothing', async (t) => {
  const s = await service(t)
  await s.put('a.txt', 'a\n')
  const a = await s.session()
  const bodies: unknown[] = [
    [],
    null,
    5,
    'x',
    {},
    { path: 'a.txt' },
    { path: '', ops: 'REM' },
    { path: 'a.txt', ops: 5 },
    { path: 'a.txt', ops: 'REM', tag: 5 },
    { path: 'a.txt', ops: 'REM', extra: 1 },
    { path: 'a\0.txt', ops: 'REM', tag: '0000' },
    { path: '\ud800', ops: 'REM', tag: '0000' },
    { path: 'x'.repeat(5_000), ops: 'REM', tag: '0000' },
    { path: 'constructor', ops: 'REM', tag: '0000' },
    { path: '__proto__', ops: 'REM', tag: '0000' },
    { path: 'a.txt', ops: '\ud800', tag: '0000' },
    { path: 'a.txt', ops: '', tag: '0000' },
    { path: 'a.txt', ops: '+x', tag: '' },
    { path: 'a.txt/b.txt', ops: 'REM', tag: '0000' },
    { path: 'a.txt/', ops: 'REM', tag: '0000' },
    { path: '.', ops: 'REM', tag: '0000' },
  ]
  for (const body of bodies) {
    for (const operation of ['read', 'edit', 'write', 'grep', 'snapshots', 'failures']) {
      if (JSON.stringify(body) === '{"path":"a.txt"}' && ['read', 'snapshots'].includes(operation)) continue
      const reply = await s.call('POST', `${a.url}/${operation}`, body)
      t.ok(
        reply.status >= 400 && reply.status < 500,
        `${operation} ${JSON.stringify(body).slice(0, 60)} is ${reply.status}`,
      )
    }
  }
  t.equal(await s.get('a.txt'), 'a\n')
})

t.test('a file that may not be written is refused, also where a rename would succeed', async (t) => {
  if (process.getuid?.() === 0) {
    t.comment('root may write every file; test/workspace drops its privileges for this')
    return
  }
  const s = await service(t)
  await s.put('a.txt', 'a\n')
  await chmod(join(s.dir, 'a.txt'), 0o444)
  const a = await s.session()
  await a.read('a.txt')
  t.equal((await a.edit('a.txt', 'PUT 1.=1:\n+b')).code, 'TOOL_DENIED')
})

/** Every Read that a refusal names, as it names it. */
async function takeReads(client: Client, path: string, detail: unknown): Promise<void> {
  const reads = [...String(detail).matchAll(/offset (\d+) and limit (\d+)( and raw true)?/g)]
  for (const [, offset, limit, raw] of reads) {
    const fields = { offset: Number(offset), limit: Number(limit), ...(raw === undefined ? {} : { raw: true }) }
    await client.read(path, fields)
  }
}

t.test('the reads that a refusal names are those that Read answers, and then the call applies', async (t) => {
  const s = await service(t)
  const fill = (lines: number, width: number): string =>
    Array.from({ length: lines }, (_, i) => `${i + 1} ${'x'.repeat(width)}\n`).join('')
  const files: [path: string, text: string, ops: string, reads: string][] = [
    [
      'long.txt',
      fill(9_000, 1),
      'CUT 2.=7000',
      'Read it with offset 2 and limit 5000, then offset 5002 and limit 1999, then retry',
    ],
    [
      'apart.txt',
      fill(9_000, 1),
      'CUT 2.=30\nCUT 8900.=8920',
      'offset 2 and limit 29, then offset 8900 and limit 21, then',
    ],
    ['heavy.txt', fill(900, 600), 'CUT 2.=800', 'Read it with offset 2 and limit 4'],
    ['raw.txt', `a\n${'x'.repeat(20_000)}\nb\n`, 'CUT 2.=2', 'offset 2 and limit 1 and raw true, then retry'],
    [
      'late.txt',
      `${fill(100, 1)}${'x'.repeat(20_000)}\nb\n`,
      'CUT 2.=102',
      'Read it with offset 2 and limit 101 and raw true, then retry',
    ],
  ]
  for (const [path, text, ops, reads] of files) {
    await s.put(path, text)
    for (const dryRun of [false, true]) {
      const a = await s.session()
      await a.read(path, { limit: 1 })
      const fields = { dryRun }
      const unseen = await a.edit(path, ops, fields)
      t.equal(unseen.code, 'EDIT_LINES_UNSEEN', path)
      t.match(unseen.body['detail'], reads, path)
      await takeReads(a, path, unseen.body['detail'])
      t.equal((await a.edit(path, ops, { dryRun: true })).status, 200, path)

      const b = await s.session()
      const unknown = await b.edit(path, ops, { ...fields, tag: '0000' })
      t.equal(unknown.code, 'EDIT_TAG_UNKNOWN', path)
      t.match(unknown.body['detail'], reads, path)
      await takeReads(b, path, unknown.body['detail'])
      t.equal((await b.edit(path, ops, { dryRun: true })).status, 200, path)

      const c = await s.session()
      await s.put(path, text.replace(/\n$/, 'old\n'))
      await c.read(path, { limit: 1 })
      const old = c.tags.get(path)
      await s.put(path, text)
      const stale = await c.edit(path, ops, { ...fields, tag: old })
      t.equal(stale.code, 'EDIT_TAG_MISMATCH', path)
      t.match(stale.body['detail'], reads, path)
      await takeReads(c, path, stale.body['detail'])
      t.equal((await c.edit(path, ops, { dryRun: true })).status, 200, path)
    }
  }
})

t.test('a line wider than any answer is said to be, in a dry run too, and a Write goes on', async (t) => {
  const s = await service(t)
  const wide = `a\n${'x'.repeat(300_000)}\nb\n`
  await s.put('wide.txt', wide)
  for (const dryRun of [false, true]) {
    const a = await s.session()
    await a.read('wide.txt')
    t.match((await a.edit('wide.txt', 'CUT 1.=2', { dryRun })).body['detail'], 'line 2 is wider than any answer')
    t.match(
      (await a.edit('wide.txt', 'CUT 2.=2', { dryRun, tag: '0000' })).body['detail'],
      'line 2 is wider than any answer',
    )
    await s.put('wide.txt', wide.replace('xx', 'yx'))
    const stale = await a.write('wide.txt', 'z\n', { dryRun })
    t.equal(stale.code, 'WRITE_STALE')
    t.match(stale.body['detail'], 'Read it with offset 2 and limit 1, then retry with the tag it returns')
    await takeReads(a, 'wide.txt', stale.body['detail'])
    t.equal((await a.write('wide.txt', 'z\n', { dryRun: true, tag: a.tags.get('wide.txt') })).status, 200)
    await s.put('wide.txt', wide)
  }
})

t.test('a dry run on an empty file does not promise what only a real call records', async (t) => {
  const s = await service(t)
  await s.put('empty.txt', '')
  const a = await s.session()
  const reply = await a.edit('empty.txt', 'CUT 1.=1', { tag: '0000', dryRun: true })
  t.equal(reply.code, 'EDIT_TAG_UNKNOWN')
  t.match(reply.body['detail'], 'Read the file, then retry')
})

t.test('a suggested register is one that holds nothing yet', async (t) => {
  const s = await service(t)
  await s.put('a.txt', '1\n2\n3\n4\n')
  const a = await s.session()
  await a.read('a.txt')
  await a.edit('a.txt', 'CUT 4.=4 @a')
  t.match((await a.edit('a.txt', 'CUT 1.=1\nCUT 2.=2\nPUT >3')).body['detail'], 'CUT 2.=2 @a2 and PUT >3 @a2')
})

t.test('hunks, reviews and shifts say what landed', async (t) => {
  const s = await service(t)
  await s.put('mark.txt', 'a\nb\n')
  const a = await s.session()
  await a.read('mark.txt')
  const marked = await a.edit('mark.txt', 'PUT <1:\n+\ufeffx')
  t.equal(await s.get('mark.txt'), 'x\na\nb\n')
  const rows = [
    { kind: '+', line: 1, text: 'x' },
    { kind: ' ', line: 2, text: 'a' },
    { kind: ' ', line: 3, text: 'b' },
  ]
  t.match(marked.body['hunks'], [{ rows }])
  const { reviewId } = marked.body['review'] as { reviewId: string }
  const review = await s.call('GET', `${a.url}/reviews/${reviewId}`)
  t.match(review.body['entries'], [{ hunks: [{ rows }] }])

  await s.put('shift.txt', '1\n2\n3\n')
  await a.read('shift.txt')
  const shifted = await a.edit('shift.txt', 'CUT 2.=2\nPUT <1:\n+a\nPUT <3:\n+c')
  t.strictSame(shifted.body['shifts'], [{ from: 1, by: 1 }])
})

t.test('the next step of a refusal can be taken', async (t) => {
  const s = await service(t)
  const a = await s.session()
  await s.put('wide.txt', `l1\n${'q'.repeat(17_000)}\nl3\n`)
  await a.read('wide.txt')
  const wide = await a.edit('wide.txt', 'PUT 1.=3:\n+x')
  t.match(wide.body['detail'], 'offset 2 and limit 1 and raw true')
  await a.read('wide.txt', { offset: 2, limit: 1, raw: true })
  t.equal((await a.edit('wide.txt', 'PUT 1.=3:\n+x')).status, 200)
  await s.put('wider.txt', `l1\n${'q'.repeat(400_000)}\nl3\n`)
  await a.read('wider.txt')
  t.match((await a.edit('wider.txt', 'PUT 2.=2:\n+x')).body['detail'], 'line 2 is wider than any answer')

  await s.put('stale.txt', 'a\nb\n')
  await a.read('stale.txt')
  await s.put('stale.txt', 'a\nb\nNEW\n')
  const dry = await a.write('stale.txt', 'z\n', { dryRun: true })
  t.match(dry.body['detail'], 'Read it with offset 3 and limit 1')
  const tagged = await a.write('stale.txt', 'z\n', { tag: a.tags.get('stale.txt') })
  t.match(tagged.body['detail'], 'Read it with offset 3 and limit 1')
  t.same(tagged.body['lines'], [])

  await s.put('cut.txt', '1\n2\n3\n4\n')
  await a.read('cut.txt')
  const two = await a.edit('cut.txt', 'CUT 1.=1\nCUT 2.=2\nPUT >4')
  t.match(two.body['detail'], 'CUT 2.=2 @a and PUT >4 @a')
  t.match((await a.edit('cut.txt', 'CUT 9.=9')).body['detail'], 'use lines from 1 to 4')
  await s.put('cut.txt', '1\n2\n3\n4\n5\n')
  const gone = await a.edit('cut.txt', 'REM')
  t.match(gone.body['detail'], 'look at the rows shown here')
  t.same(gone.body['anchors'], [])
})

t.test('an edit that changes nothing says how the file moves all the same, when it also moves it', async (t) => {
  const s = await service(t)
  await s.put('a.txt', 'a\nb\n')
  const a = await s.session()
  await a.read('a.txt')
  t.match((await a.edit('a.txt', 'PUT 2.=2:\n+b')).body['detail'], /; go on with the next change, or/)
  t.match((await a.edit('a.txt', 'PUT 2.=2:\n+b\nMV b.txt')).body['detail'], /send MV alone to move the file/)
  t.equal((await a.edit('a.txt', 'MV b.txt')).status, 200)
})

t.test('a file of one line is said to have 1 line', async (t) => {
  const s = await service(t)
  await s.put('a.txt', 'a\n')
  const a = await s.session()
  await a.read('a.txt')
  const refusals = [
    await a.edit('a.txt', 'CUT 2.=2'),
    await a.edit('a.txt', 'PUT <3:\n+x'),
    await a.read('a.txt', { offset: 2 }),
    await a.post('/snapshots', { path: 'a.txt', seenLines: [{ start: 2, end: 2 }] }),
  ]
  for (const { text } of refusals) t.match(text, /\b1 line\b/)
})
