import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { limits } from '../../src/limits.js'
import type { WorkspacePort } from '../../src/workspace/port.js'
import type { Client, Reply, Service } from '../service.js'
import { closeServices, service } from '../service.js'

t.teardown(closeServices)

interface Found {
  readonly matches: { path: string; line: number; text: string }[]
  readonly files: { path: string; tag: string }[]
  readonly counts: { path: string; count: number; tag: string }[]
  readonly tags: Record<string, string>
  readonly content: string
  readonly count: number
  readonly truncated: boolean
  readonly skipped: { binary: number; ignored: number | null; tooLarge: number }
  readonly notice?: string
}

const found = (reply: Reply): Found => {
  if (reply.status !== 200) throw new Error(reply.text)
  return reply.body as unknown as Found
}

/** A folder beside the service's own. */
function folder(t: Test): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'anchorline-grep-test-')))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Files in order of age, newest first. */
async function put(s: Service, files: Record<string, string | Buffer>): Promise<void> {
  let seconds = 2_000_000_000
  for (const [path, content] of Object.entries(files)) {
    await s.put(path, content)
    await utimes(join(s.dir, path), seconds, --seconds)
  }
}

const cut = (client: Client, path: string, line: number): Promise<Reply> =>
  client.edit(path, `CUT ${line}.=${line}`, { dryRun: true })

t.test('a hit is an anchor for its line alone', async (t) => {
  const s = await service(t)
  await put(s, { 'src/a.ts': 'one\ntwo hit\nthree\n', 'b.txt': 'hit\n' })
  const client = await s.session()
  const answer = found(await client.grep('hit'))
  t.strictSame(answer, {
    matches: [
      { path: 'src/a.ts', line: 2, text: 'two hit' },
      { path: 'b.txt', line: 1, text: 'hit' },
    ],
    files: 2,
    tags: { 'src/a.ts': 'A127', 'b.txt': '0FC8' },
    content: '[src/a.ts#A127]\n2:two hit\n[b.txt#0FC8]\n1:hit',
    count: 2,
    truncated: false,
    skipped: { binary: 0, ignored: 0, tooLarge: 0 },
  })
  const tag = answer.tags['src/a.ts']
  t.equal((await client.edit('src/a.ts', 'CUT 2.=2', { tag, dryRun: true })).status, 200)
  t.match(await client.edit('src/a.ts', 'CUT 1.=1', { tag, dryRun: true }), { code: 'EDIT_LINES_UNSEEN' })
})

t.test('the tags are those of Read', async (t) => {
  const s = await service(t)
  await put(s, { a: 'hit \t\r\n', b: '\ufeffhit\r\nx', c: 'hit', d: `hit\n${'x'.repeat(100)}` })
  const client = await s.session()
  const { tags } = found(await client.grep('hit'))
  for (const path of ['a', 'b', 'c', 'd']) t.equal(tags[path], (await client.read(path)).body['tag'], path)
})

t.test('modes that show no line record that none was seen', async (t) => {
  const s = await service(t)
  await put(s, { a: 'hit\nhit\n', b: 'hit\n' })
  for (const outputMode of ['filesWithMatches', 'count']) {
    const client = await s.session()
    const answer = found(await client.grep('hit', { outputMode }))
    const { tags } = answer
    if (outputMode === 'count') {
      t.strictSame(answer.counts, [
        { path: 'a', count: 2, tag: tags['a'] },
        { path: 'b', count: 1, tag: tags['b'] },
      ])
      t.match(answer, { count: 3, files: 2, content: `[a#${tags['a']}] 2\n[b#${tags['b']}] 1` })
    } else {
      t.strictSame(answer.files, [
        { path: 'a', tag: tags['a'] },
        { path: 'b', tag: tags['b'] },
      ])
      t.match(answer, { count: 2, content: `[a#${tags['a']}]\n[b#${tags['b']}]` })
    }
    t.match(
      await client.edit('a', 'CUT 1.=1', { tag: tags['a'], dryRun: true }),
      { code: 'EDIT_LINES_UNSEEN' },
      outputMode,
    )
  }
})

t.test('numbers are those of Read and Edit whatever stands in the lines', async (t) => {
  const s = await service(t)
  await put(s, {
    'mod.py': 'alpha = 1\n\f\nbeta = "p\u2028q\u0085r\rs\vt"\r\n\0gamma = 3\n'.replace('\0', ''),
    'late.txt': `${'a\n'.repeat(9_000)}\0\nhit x\r\n`,
    'bom.txt': '\ufeffhit x\r\n',
  })
  const client = await s.session()
  t.strictSame(found(await client.grep('gamma')).matches, [{ path: 'mod.py', line: 4, text: 'gamma = 3' }])
  t.match(found(await client.grep('x$')).matches, [
    { path: 'late.txt', line: 9_002, text: 'hit x' },
    { path: 'bom.txt', line: 1, text: 'hit x' },
  ])
  t.match(
    found(await client.grep('^hit')).matches.map((m) => m.path),
    ['late.txt', 'bom.txt'],
  )
})

t.test('what is no text is skipped and counted', async (t) => {
  const s = await service(t, { settings: { maxFileBytes: 500 }, search: { maxFileBytes: 500 } })
  await put(s, {
    'a.txt': 'hit\n',
    'b.bin': Buffer.from('hit\0'),
    'c.txt': Buffer.from([0x68, 0x69, 0x74, 0xf1]),
    'd.txt': Buffer.from('\ufeffhit', 'utf16le'),
    'big.txt': 'hit\n'.repeat(200),
  })
  const client = await s.session()
  for (const outputMode of ['content', 'filesWithMatches', 'count']) {
    const answer = found(await client.grep('hit', { outputMode }))
    t.match(answer, { count: 1, truncated: false, skipped: { binary: 3, ignored: 0, tooLarge: 1 } }, outputMode)
    t.strictSame(Object.keys(answer.tags), ['a.txt'])
    t.match(answer.notice, /3 files with a match are not UTF-8 text.*1 file is larger than 500 bytes/)
  }
  t.match(found(await client.grep('hit', { path: 'b.bin' })), { count: 0, skipped: { binary: 1 } })
  t.match(found(await client.grep('hit', { path: 'big.txt' })), { count: 0, skipped: { tooLarge: 1 } })
})

t.test('a long row is shown around its match and does not count as displayed', async (t) => {
  const s = await service(t)
  const most = limits.maxLineChars
  const fits = `${'é'.repeat(most - 3)}hit`
  await put(s, {
    start: `hit${'x'.repeat(most)}\n`,
    middle: `${'漢'.repeat(most)}😀hit😀${'漢'.repeat(most)}\n`,
    end: `${'x'.repeat(most)}hit\n`,
    fits: `${fits}\n`,
    emoji: `${'😀'.repeat(most / 2)}\n`,
  })
  const client = await s.session()
  const answer = found(await client.grep('hit|^😀+$'))
  const texts = Object.fromEntries(answer.matches.map((match) => [match.path, match.text]))
  for (const [path, form] of Object.entries({ start: /^hitx+…$/, middle: /^…漢+😀hit😀漢+…$/, end: /^…x+hit$/ })) {
    t.match(texts[path], form)
    t.ok((texts[path] ?? '').length <= limits.grepWindowChars + 2, path)
    t.notOk((texts[path] ?? '').includes('\ufffd'))
    t.match(await client.edit(path, 'CUT 1.=1', { tag: answer.tags[path], dryRun: true }), {
      code: 'EDIT_LINES_UNSEEN',
    })
  }
  t.equal(texts['fits'], fits)
  t.equal(texts['emoji'], '😀'.repeat(most / 2))
  t.equal((await client.edit('fits', 'CUT 1.=1', { tag: answer.tags['fits'], dryRun: true })).status, 200)
  t.match(answer.notice, /3 rows show only the text around the match/)
})

t.test('a line of 20 MB takes no more room than another', { timeout: 60_000 }, async (t) => {
  const s = await service(t)
  await put(s, { 'm.js': `${'a'.repeat(10_000_000)}hit${'a'.repeat(10_000_000)}\nhit\n` })
  const reply = await (await s.session()).grep('hit')
  t.match(
    found(reply).matches.map((m) => m.line),
    [1, 2],
  )
  t.ok(reply.text.length < 4_000)
})

t.test('headLimit bounds entries, and the count tells of the rest', async (t) => {
  const s = await service(t)
  await put(s, Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`f${i}`, 'hit\nhit\nno\n'])))
  const client = await s.session()
  const rows = found(await client.grep('hit', { headLimit: 3 }))
  t.strictSame(
    rows.matches.map(({ path, line }) => `${path}:${line}`),
    ['f0:1', 'f0:2', 'f1:1'],
  )
  t.match(rows, {
    count: 10,
    files: 5,
    truncated: true,
    notice: /the first 3 of 10 matching lines in 5 files, newest file first; .*headLimit \(now 3/,
  })
  t.match(await cut(client, 'f1', 1), { code: 'EDIT_TAG_UNKNOWN' }, 'with a wrong tag')
  t.equal((await client.edit('f1', 'CUT 1.=1', { tag: rows.tags['f1'], dryRun: true })).status, 200)
  t.match(
    await client.edit('f1', 'CUT 2.=2', { tag: rows.tags['f1'], dryRun: true }),
    { code: 'EDIT_LINES_UNSEEN' },
    'a line that was not shown',
  )
  t.match(found(await client.grep('hit', { headLimit: 10 })), { count: 10, truncated: false })
  t.match(found(await client.grep('hit', { headLimit: 2, outputMode: 'filesWithMatches' })), {
    count: 5,
    truncated: true,
    files: [{ path: 'f0' }, { path: 'f1' }],
  })
  t.match(found(await client.grep('hit', { headLimit: 2, outputMode: 'count' })), { count: 10, truncated: true })
  t.match(await client.grep('hit', { headLimit: 5_001 }), { code: 'INVALID_ARGUMENT' })
})

t.test('an answer ends at its byte budget', async (t) => {
  const s = await service(t)
  await put(s, { a: `hit ${'x'.repeat(10_000)}\n`.repeat(100) })
  const answer = found(await (await s.session()).grep('hit'))
  t.ok(answer.truncated)
  t.ok(Buffer.byteLength(answer.content) < limits.grepContentBytes + 2 * limits.maxLineChars)
  t.match(answer, { count: 100, notice: /the answer ends at 262144 bytes/ })
})

t.test('a search never evicts what was read, and the newest files are remembered', async (t) => {
  const s = await service(t)
  const many = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`many/f${i}`, `hit ${i}\n`]))
  await put(s, { 'read.txt': 'hit\nmore\n', 'read2.txt': 'hit\n', ...many })
  const client = await s.session()
  await client.read('read.txt')
  await client.read('read2.txt')
  const answer = found(await client.grep('hit', { path: 'many' }))
  t.equal(Object.keys(answer.tags).length, 80, 'files without room still show their tag')
  t.match(answer.notice, /files are beyond what a session remembers/)
  t.equal((await client.edit('read.txt', 'CUT 2.=2', { dryRun: true })).status, 200)
  t.equal((await client.edit('read2.txt', 'CUT 1.=1', { dryRun: true })).status, 200)
  t.equal(
    (await client.edit('many/f0', 'CUT 1.=1', { tag: answer.tags['many/f0'], dryRun: true })).status,
    200,
    'the first one',
  )
  t.match(await client.edit('many/f79', 'CUT 1.=1', { tag: answer.tags['many/f79'], dryRun: true }), {
    code: 'EDIT_TAG_UNKNOWN',
  })
})

t.test('what ignore rules leave out is told, and naming it finds it', async (t) => {
  const s = await service(t)
  await put(s, { '.gitignore': 'gen/\n', 'gen/maker.py': 'SPECIAL\n', 'src/a.py': 'x\n' })
  const client = await s.session()
  t.match(found(await client.grep('SPECIAL')), {
    count: 0,
    content: 'No line matches.',
    skipped: { ignored: 1 },
    notice: /1 file was left out by ignore rules; includeIgnored/,
  })
  for (const fields of [{ path: 'gen' }, { path: 'gen/maker.py' }, { path: './gen/' }, { includeIgnored: true }])
    t.match(
      found(await client.grep('SPECIAL', fields)),
      { count: 1, matches: [{ path: 'gen/maker.py' }] },
      JSON.stringify(fields),
    )
})

t.test('a path is one that the caller could use, through links as well', async (t) => {
  const s = await service(t)
  await put(s, { 'real/d/a': 'hit\n' })
  await symlink('real/d', join(s.dir, 'link'))
  await symlink('real/d/a', join(s.dir, 'file'))
  const client = await s.session()
  for (const [path, shown] of Object.entries({
    link: 'link/a',
    'link/': 'link/a',
    file: 'file',
    'real//d/.': 'real/d/a',
  })) {
    const answer = found(await client.grep('hit', { path }))
    t.strictSame(
      answer.matches.map((m) => m.path),
      [shown],
      path,
    )
    t.equal((await client.edit(shown, 'CUT 1.=1', { tag: answer.tags[shown], dryRun: true })).status, 200)
  }
  t.strictSame(
    found(await client.grep('hit')).matches.map((m) => m.path),
    ['real/d/a'],
    'links are not followed',
  )
})

t.test('scratch and external roots are searched under absolute paths', async (t) => {
  const external = folder(t)
  await writeFile(join(external, 'e.txt'), 'hit\n')
  const s = await service(t, { externalRoots: [external] })
  const client = await s.session({ externalRoots: [external] })
  t.match(found(await client.grep('hit', { path: external })).matches, [{ path: `${external}/e.txt` }])
  const scratch = String(client.opened['scratchRoot'])
  t.match(found(await client.grep('hit', { path: scratch })), { count: 0 }, 'nothing was written there yet')
  await client.write(`${scratch}/d/s.txt`, 'hit\n')
  t.match(found(await client.grep('hit', { path: scratch })).matches, [{ path: `${scratch}/d/s.txt` }])
  t.equal(found(await client.grep('hit')).count, 0)
})

t.test('what cannot be searched is refused', async (t) => {
  const s = await service(t, { denyRead: ['private/**', '**/*.key'] })
  await put(s, { 'src/a': 'hit\n', 'private/a': 'hit\n', 'b.key': 'hit\n' })
  execFileSync('mkfifo', [join(s.dir, 'pipe')])
  await symlink(join(s.root, 'scratch'), join(s.dir, 'out'))
  const client = await s.session()
  const rows: readonly [Record<string, unknown>, string, RegExp?][] = [
    [{ pattern: 'foo(bar[' }, 'INVALID_ARGUMENT', /pattern: .* at character 8.* literal: true/],
    [{ pattern: '(?!x)' }, 'INVALID_ARGUMENT', /look-around/],
    [{ pattern: 'a\nb' }, 'INVALID_ARGUMENT', /line break/],
    [{ pattern: 'a\nb', literal: true }, 'INVALID_ARGUMENT', /line break/],
    [{ pattern: 'a\0b' }, 'INVALID_ARGUMENT', /NUL/],
    [{ pattern: 'a\ud800b' }, 'INVALID_ARGUMENT', /surrogate/],
    [{ pattern: '' }, 'INVALID_ARGUMENT'],
    [{ include: '[a' }, 'INVALID_ARGUMENT', /include: opens "\["/],
    [{ include: '*'.repeat(100) }, 'INVALID_ARGUMENT', /wildcards/],
    [{ path: 'src/b' }, 'NOT_FOUND'],
    [{ path: '../x' }, 'PATH_OUTSIDE_WORKSPACE'],
    [{ path: 'out' }, 'PATH_OUTSIDE_WORKSPACE'],
    [{ path: 'pipe' }, 'INVALID_ARGUMENT', /special file/],
    [{ path: 'private/a' }, 'TOOL_DENIED'],
    [{ path: 'private' }, 'TOOL_DENIED'],
    [{ path: '' }, 'INVALID_ARGUMENT'],
  ]
  for (const [fields, code, words] of rows) {
    const reply = await client.grep('hit', fields)
    t.equal(reply.code, code, JSON.stringify(fields))
    if (words) t.match(reply.body['detail'], words)
    t.match(reply.body['content'], code)
  }
  t.match(
    found(await client.grep('hit')),
    { count: 1, matches: [{ path: 'src/a' }], skipped: { ignored: 0 } },
    'denied files are not there',
  )
  t.match(await s.call('POST', '/v1/sessions/nobody/grep', { pattern: 'hit' }), { code: 'SESSION_NOT_FOUND' })
})

t.test('literal, case and arguments that look like options', async (t) => {
  const s = await service(t)
  await put(s, { a: 'foo(bar[0])\n--files\n-e x\nHIT\n' })
  const client = await s.session()
  t.match(found(await client.grep('foo(bar[', { literal: true })), { count: 1 })
  t.match(found(await client.grep('--files')), { count: 1, matches: [{ line: 2 }] })
  t.match(found(await client.grep('-e')), { count: 1, matches: [{ line: 3 }] })
  t.match(found(await client.grep('hit')), { count: 0 })
  t.match(found(await client.grep('hit', { caseInsensitive: true })), { count: 1 })
  t.match(found(await client.grep('h(a+)+$|(x+x+)+y')), { count: 0 })
})

/** Runs `act` between the search and the first look at a file. */
const after =
  (act: (path: string) => Promise<void>) =>
  (port: WorkspacePort): WorkspacePort => ({
    ...port,
    load: async (roots, target, maxBytes, signal) => {
      await act(target.canonical)
      return port.load(roots, target, maxBytes, signal)
    },
  })

t.test('lines, text and tag are of the same bytes when the file changes in between', async (t) => {
  const s = await service(t, { around: after((path) => writeFile(path, 'new\nnew\nhit new\n')) })
  await put(s, { a: 'hit old\n' })
  const client = await s.session()
  const answer = found(await client.grep('hit'))
  t.strictSame(answer.matches, [{ path: 'a', line: 3, text: 'hit new' }])
  t.equal(answer.tags['a'], (await client.read('a')).body['tag'])
})

t.test('a file that holds no match any more is left out and told', async (t) => {
  const s = await service(t, {
    around: after((path) => (path.endsWith('a') ? writeFile(path, 'gone\n') : Promise.resolve())),
  })
  await put(s, { a: 'hit\n', b: 'hit\n' })
  const client = await s.session()
  for (const outputMode of ['content', 'filesWithMatches', 'count']) {
    await put(s, { a: 'hit\n' })
    t.match(
      found(await client.grep('hit', { outputMode })),
      { count: 1, notice: /1 file changed during the search/ },
      outputMode,
    )
  }
})

t.test('a file that became a link to the outside shows nothing', async (t) => {
  const s = await service(t, {
    around: after(async (path) => {
      if (path.endsWith('/a')) execFileSync('ln', ['-sfn', join(s.root, 'scratch/secret'), path])
    }),
  })
  await put(s, { a: 'hit\n' })
  await mkdir(join(s.root, 'scratch'), { recursive: true })
  await writeFile(join(s.root, 'scratch/secret'), 'hit hush\n')
  const reply = await (await s.session()).grep('hit')
  t.match(found(reply), { count: 0, notice: /changed/ })
  t.notMatch(reply.text, 'hush')
})

t.test('a search that finds nothing in its time is TIMEOUT, one that found something is an answer', async (t) => {
  const rg = join(folder(t), 'rg')
  await writeFile(rg, '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 })
  const stuck = await service(t, { search: { rgPath: rg, searchMs: 200, searchCountMs: 50 } })
  await put(stuck, { a: 'hit\n' })
  const reply = await (await stuck.session()).grep('hit')
  t.equal(reply.status, 504)
  t.match(reply.body, { code: 'TIMEOUT', retriable: true, detail: /name a path or an include glob/ })
  const few = await service(t, { search: { searchFiles: 3 } })
  await put(few, Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, 'hit\n'])))
  t.match(found(await (await few.session()).grep('hit')), {
    truncated: true,
    notice: /more files match than are remembered/,
  })
})

t.test('a search is told to whoever listens', async (t) => {
  const s = await service(t)
  await put(s, { a: 'hit\n' })
  const client = await s.session()
  await client.grep('hit', { outputMode: 'count' })
  const session = await s.store.open(client.id, false)
  if (!session) throw new Error('no session')
  const stop = new AbortController()
  for await (const event of s.store.events({ sessionId: client.id, epoch: session.epoch }, '0', stop.signal)) {
    if (event.type !== 'searched') continue
    t.match(event.data, { pattern: 'hit', path: '.', outputMode: 'count', count: 1, files: 1, truncated: false })
    break
  }
  stop.abort()
})

t.test('a named file whose lines are cut off says how many there are', async (t) => {
  const s = await service(t)
  await s.put('h.txt', 'foo\n'.repeat(10))
  const a = await s.session()
  const reply = await a.grep('foo', { path: 'h.txt', headLimit: 3 })
  t.match(reply.body, { count: 10, truncated: true, notice: /^the first 3 of 10 / })
  t.equal((reply.body['matches'] as unknown[]).length, 3)
})

t.test('a group that closes before it opens is no pattern, in a set or behind a backslash it is text', async (t) => {
  const s = await service(t)
  await s.put('a.txt', 'foo\nbar)\n')
  const a = await s.session()
  for (const pattern of [')', ')(', 'foo)|(bar', 'a))']) {
    const reply = await a.grep(pattern, { path: 'a.txt' })
    t.match(reply.body, { code: 'INVALID_ARGUMENT', detail: /literal: true/ }, pattern)
  }
  for (const pattern of ['[)]', '[^](]\\)', '\\)', '[[:alpha:]]\\)', '(r)\\)']) {
    t.equal((await a.grep(pattern, { path: 'a.txt' })).body['count'], 1, pattern)
  }
  t.equal((await a.grep(')', { path: 'a.txt', literal: true })).body['count'], 1)
})
