/**
 * Read and Write through the whole service: windows, budgets, markup, versions, line endings, byte order marks, sessions and snapshots.
 */
import { lstat, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { sha256 } from '../../src/text/digest.js'
import { closeServices, service, warned } from '../service.js'

t.teardown(closeServices)

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join('')

t.test('a window has absolute numbers, the tag of the whole file and the next offset', async (t) => {
  const s = await service(t)
  await s.put('a.txt', lines(300))
  const a = await s.session()
  const whole = await a.read('a.txt')
  const reply = await a.read('a.txt', { offset: 101, limit: 3 })
  t.match(reply.body, {
    offset: 101,
    lineCount: 3,
    totalLines: 300,
    truncated: true,
    endsWithNewline: true,
    bom: false,
    lineEnding: 'LF',
  })
  t.equal(reply.body['content'], `[a.txt#${String(whole.body['tag'])}]\n101:line 101\n102:line 102\n103:line 103`)
  t.match(reply.body['notice'], 'offset 104')
  t.equal(whole.body['truncated'], false)
  t.equal((await a.read('a.txt', { offset: 301 })).body['totalLines'], 300)
  t.equal((await a.read('a.txt', { offset: 301 })).code, 'INVALID_ARGUMENT')
})

t.test('reading two overlapping windows makes one version that has seen both', async (t) => {
  const s = await service(t)
  await s.put('a.txt', lines(60))
  const a = await s.session()
  await a.read('a.txt', { limit: 30 })
  await a.read('a.txt', { offset: 20, limit: 41 })
  const { body } = await a.get('/snapshots')
  t.match(body['snapshots'], [{ path: 'a.txt', seen: [{ start: 1, end: 60 }], retained: true, totalLines: 60 }])
  t.equal((body['snapshots'] as unknown[]).length, 1)
})

t.test('an empty file reads as zero lines with a tag, and can be filled', async (t) => {
  const s = await service(t)
  await s.put('e.txt', '')
  const a = await s.session()
  const reply = await a.read('e.txt')
  t.match(reply.body, {
    lineCount: 0,
    totalLines: 0,
    truncated: false,
    content: `[e.txt#${String(reply.body['tag'])}]`,
  })
  t.match(reply.body['notice'], 'empty')
  t.equal((await a.edit('e.txt', 'PUT 1.=1:\n+x')).code, 'EDIT_RANGE_INVALID')
  t.equal((await a.edit('e.txt', 'PUT <1:\n+x')).status, 200)
  t.equal(await s.get('e.txt'), 'x\n')
})

t.test('a clipped row ends in … and was not displayed; raw text counts as displayed', async (t) => {
  const s = await service(t)
  await s.put('w.txt', `${'x'.repeat(20_000)}\nshort\n`)
  const a = await s.session()
  const reply = await a.read('w.txt')
  t.match(reply.body['content'], /x…\n2:short$/)
  t.match(reply.body['notice'], '1 row was clipped')
  t.equal((await a.edit('w.txt', 'PUT 1.=1:\n+y')).code, 'EDIT_LINES_UNSEEN')
  const raw = await a.read('w.txt', { raw: true })
  t.equal(raw.body['content'], `${'x'.repeat(20_000)}\nshort\n`)
  t.equal((await a.edit('w.txt', 'PUT 1.=1:\n+y')).status, 200)
})

t.test('a window ends at its budget and says where to go on', async (t) => {
  const s = await service(t)
  await s.put('w.txt', `${'y'.repeat(10_000)}\n`.repeat(100))
  const a = await s.session()
  const first = await a.read('w.txt')
  t.ok(Buffer.byteLength(first.body['content'] as string) <= 262_144 + 100)
  t.equal(first.body['truncated'], true)
  const next = (first.body['lineCount'] as number) + 1
  t.match(first.body['notice'], `offset ${next}`)
  t.equal((await a.read('w.txt', { offset: next })).body['offset'], next)
})

t.test('raw text keeps terminators and loses only the byte order mark', async (t) => {
  const s = await service(t)
  await s.put('m.txt', '\uFEFFa\r\nb\nc\rd\n\ne')
  const a = await s.session()
  const reply = await a.read('m.txt', { raw: true })
  t.equal(reply.body['content'], 'a\r\nb\nc\rd\n\ne')
  t.match(reply.body, { bom: true, totalLines: 5, endsWithNewline: false, lineEnding: 'LF' })
})

t.test('Write creates, overwrites what was seen, and refuses what moved on', async (t) => {
  const s = await service(t)
  const a = await s.session()
  const made = await a.write('new/file.txt', 'a\nb\n')
  t.match(made.body, { created: true, bytes: 4, totalLines: 2, path: 'new/file.txt', warnings: [] })
  t.equal((await a.edit('new/file.txt', 'PUT 2.=2:\n+B')).status, 200, 'what it wrote it has seen')
  await s.put('new/file.txt', 'a\nforeign\n')
  const stale = await a.write('new/file.txt', 'c\n')
  t.equal(stale.code, 'WRITE_STALE')
  t.same(stale.body['anchors'], [2])
  t.match(stale.body['content'], '2:foreign')
  t.equal((await a.write('new/file.txt', 'c\n', { tag: stale.body['liveTag'] })).status, 200, 'its tag overrides')
  t.equal(await s.get('new/file.txt'), 'c\n')
})

t.test('Write says how many lines nobody saw, and writes no byte that is there already', async (t) => {
  const s = await service(t)
  await s.put('a.txt', lines(10))
  const a = await s.session()
  await a.read('a.txt', { limit: 4 })
  const reply = await a.write('a.txt', 'x\n')
  t.match(reply.body['warnings'], [{ code: 'OVERWROTE_UNSEEN', lines: 6 }])
  const same = await a.write('a.txt', 'x\n')
  t.notOk('review' in same.body)
  t.match(same.body, { created: false, warnings: [] })
})

t.test('Write strips pasted Read output, and nothing that only looks like it', async (t) => {
  const s = await service(t)
  await s.put('a.txt', 'a\nb\nc\n')
  const a = await s.session()
  const read = await a.read('a.txt')
  const pasted = String(read.body['content']).replace('2:b', '2:B')
  const reply = await a.write('a.txt', pasted)
  t.same(warned(reply), ['MARKUP_STRIPPED'])
  t.equal(await s.get('a.txt'), 'a\nB\nc\n', 'Read output has no final newline; the file keeps its own')
  const shown = await a.write('a.txt', '2:B\n3:c\n')
  t.same(warned(shown), ['MARKUP_STRIPPED'], 'headerless rows exactly as they were shown')
  t.equal(await s.get('a.txt'), 'B\nc\n')
  for (const literal of ['80: web\n', '1:x\n3:y\n', '[a.txt#0000]\nplain\n', '1:other\n']) {
    t.notOk(warned(await a.write('a.txt', literal)).includes('MARKUP_STRIPPED'), literal)
    t.equal(await s.get('a.txt'), literal)
  }
})

t.test('Write keeps line endings and the byte order mark of the file it overwrites', async (t) => {
  const s = await service(t)
  await s.put('crlf.txt', '\uFEFFa\r\nb\r\n')
  await s.put('plain.txt', 'a\nb\n')
  const a = await s.session()
  await a.read('crlf.txt')
  const reply = await a.write('crlf.txt', '\uFEFFx\ny\n')
  t.same(warned(reply), ['LINE_ENDING_KEPT'])
  t.equal(await s.get('crlf.txt'), '\uFEFFx\r\ny\r\n')
  await a.read('plain.txt')
  await a.write('plain.txt', '\uFEFFx\n')
  t.equal(await s.get('plain.txt'), 'x\n')
  await a.write('fresh.txt', '\uFEFFx\r\n')
  t.equal(await s.get('fresh.txt'), '\uFEFFx\r\n', 'a new file is written as given')
})

t.test('content that no text file can hold is refused', async (t) => {
  const s = await service(t)
  const a = await s.session()
  for (const content of ['a\0b', 'a\ud800b', '\udc00'])
    t.equal((await a.write('a.txt', content)).code, 'INVALID_ARGUMENT')
  t.equal((await a.write('a.txt', 'ok 😀\n')).status, 200)
})

t.test('a file registered without lines is checked for its version only', async (t) => {
  const s = await service(t)
  await s.put('a.txt', lines(20))
  const a = await s.session()
  const { body } = await a.post('/snapshots', { path: 'a.txt' })
  t.equal(body['seen'], null)
  t.equal((await a.edit('a.txt', 'PUT 9.=9:\n+nine', { tag: body['tag'] })).status, 200)
  const b = await s.session()
  const some = await b.post('/snapshots', { path: 'a.txt', seenLines: [{ start: 2, end: 3 }] })
  t.same(some.body['seen'], [{ start: 2, end: 3 }])
  t.equal((await b.edit('a.txt', 'CUT 2.=2', { tag: some.body['tag'], dryRun: true })).status, 200)
  t.equal((await b.edit('a.txt', 'CUT 4.=4', { tag: some.body['tag'], dryRun: true })).code, 'EDIT_LINES_UNSEEN')
  t.equal((await b.post('/snapshots', { path: 'a.txt', seenLines: [{ start: 3, end: 99 }] })).code, 'INVALID_ARGUMENT')
})

t.test('sessions end on delete, on their TTL, and forget on a workspace switch', async (t) => {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const s = await service(t, { now: () => now })
  await s.put('a.txt', 'a\n')
  const a = await s.session({ ttlSeconds: 60 })
  await a.read('a.txt')
  now += 59_000
  await a.read('a.txt')
  now += 59_000
  t.equal((await a.get('')).status, 200, 'tool calls slide the TTL')
  now += 2_000
  t.equal((await a.get('')).code, 'SESSION_NOT_FOUND', 'looking does not')
  const b = await s.session()
  await b.read('a.txt')
  t.equal((await s.call('PUT', `${b.url}/workspace`, { workspace: 'w' })).status, 200)
  t.equal((await b.edit('a.txt', 'CUT 1.=1')).code, 'EDIT_TAG_UNKNOWN')
  t.equal((await s.call('DELETE', b.url)).status, 204)
  t.equal((await b.read('a.txt')).code, 'SESSION_NOT_FOUND')
  t.equal((await s.call('POST', '/v1/sessions', { workspace: 'none' })).code, 'NOT_FOUND')
  t.equal((await s.call('POST', '/v1/sessions', { workspace: '../w' })).status, 404)
})

t.test('scratch files live outside every workspace, keep no review and go with the session', async (t) => {
  const s = await service(t)
  const a = await s.session()
  const scratch = String(a.opened['scratchRoot'])
  const made = await a.write(`${scratch}/notes.txt`, 'n\n')
  t.match(made.body, { root: 'scratch', created: true, path: `${scratch}/notes.txt` })
  t.notOk('review' in made.body)
  t.equal((await a.edit(`${scratch}/notes.txt`, 'PUT 1.=1:\n+m')).status, 200)
  const b = await s.session()
  t.equal((await b.read(`${scratch}/notes.txt`)).code, 'PATH_OUTSIDE_WORKSPACE', 'it is nobody else’s')
})

t.test('a workspace that went away under a session is not found, and nothing makes it anew', async (t) => {
  const s = await service(t)
  await s.put('a.txt', 'a\n')
  const a = await s.session()
  await a.read('a.txt')
  await rm(s.dir, { recursive: true })
  const calls = {
    read: () => a.read('a.txt'),
    edit: () => a.edit('a.txt', 'PUT 1.=1:\n+b'),
    write: () => a.write('new/b.txt', 'b\n'),
    grep: () => a.grep('a'),
  }
  for (const [name, call] of Object.entries(calls)) {
    const reply = await call()
    t.equal(reply.code, 'NOT_FOUND', name)
    t.match(reply.body['detail'], /workspace/, name)
  }
  await t.rejects(lstat(s.dir), { code: 'ENOENT' })
  await mkdir(s.dir)
  t.equal((await a.write('b.txt', 'b\n')).status, 200, 'and it may come back')
})

t.test('a grant on * is for every workspace without one of its own', async (t) => {
  const grants = new Map([
    ['w', 'read-write' as const],
    ['*', 'read-only' as const],
  ])
  const tokens = [{ sha256: sha256(Buffer.from('t')), tenant: 'one', grants }]
  const s = await service(t, { app: { tokens } })
  await mkdir(join(s.dir, '../other'))
  const auth = { authorization: 'Bearer t' }
  const listed = await s.call('GET', '/v1/workspaces', undefined, auth)
  t.same(listed.body['workspaces'], [
    { name: 'other', access: 'read-only' },
    { name: 'w', access: 'read-write' },
  ])
  const opened = await s.call('POST', '/v1/sessions', { workspace: 'other' }, auth)
  t.match(opened.body, { access: 'read-only' })
  const write = await s.call(
    'POST',
    `/v1/sessions/${String(opened.body['sessionId'])}/write`,
    { path: 'a', content: '' },
    auth,
  )
  t.equal(write.code, 'TOOL_DENIED')
  const switched = await s.call('POST', '/v1/sessions', { workspace: 'w', access: 'read-write' }, auth)
  t.match(switched.body, { access: 'read-write' })
  const url = `/v1/sessions/${String(switched.body['sessionId'])}`
  t.match((await s.call('PUT', `${url}/workspace`, { workspace: 'other' }, auth)).body, { access: 'read-only' })
  t.match((await s.call('GET', url, undefined, auth)).body, { access: 'read-only' })
  t.match((await s.call('PUT', `${url}/workspace`, { workspace: 'w' }, auth)).body, { access: 'read-write' })
})
