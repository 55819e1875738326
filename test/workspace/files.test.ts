import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { settled } from '../../src/workspace/files.js'
import type { WorkspacePort } from '../../src/workspace/port.js'
import { codeOf, maxBytes, playground, refusalOf, resolved, rewrite } from './playground.js'

const place = await playground()
t.teardown(() => place.remove())

const load = async (path: string, port: WorkspacePort = place.port) =>
  port.load(place.roots, await port.resolve(place.roots, path, 'read'), maxBytes)
const collect = async (path: string, signal?: AbortSignal): Promise<Buffer> => {
  const { chunks } = await place.port.stream(place.roots, await resolved(place, path), 1 << 30, signal)
  const all: Buffer[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}
const openFiles = (): number => readdirSync('/proc/self/fd').length

t.test('a file is loaded whole, with what identifies it', async (t) => {
  place.put('a.txt', 'one\ntwo\n')
  const { bytes, identity } = await load('a.txt')
  t.equal(bytes.toString(), 'one\ntwo\n')
  t.match(identity, { size: 8n, mode: 0o644, nlink: 1, uid: process.getuid?.() })
  t.same(await place.port.identify(place.roots, await resolved(place, 'a.txt')), identity)
  place.put('empty.txt', '')
  t.equal((await load('empty.txt')).bytes.length, 0)
  t.equal((await collect('empty.txt')).length, 0)
})

t.test('a file is streamed whole, in chunks of its own buffers', async (t) => {
  const big = Buffer.alloc(1_000_003, 'abcdefg')
  place.put('big.txt', big)
  t.ok((await collect('big.txt')).equals(big))
  const aborted = AbortSignal.abort(new Error('the client is gone'))
  await t.rejects(collect('big.txt', aborted), /client is gone/)
  await t.rejects(
    load('big.txt', place.port).then(() => place.port.load(place.roots, target, maxBytes, aborted)),
    /client is gone/,
  )
})
const target = await resolved(place, 'big.txt')

t.test('a file over the limit is refused before it is read', async (t) => {
  place.put('large.txt', 'x'.repeat(100))
  const large = await resolved(place, 'large.txt')
  for (const work of [place.port.load(place.roots, large, 99), place.port.stream(place.roots, large, 99)]) {
    const refusal = await refusalOf(work)
    t.equal(refusal.code, 'FILE_TOO_LARGE')
    t.same(refusal.fields, { limitBytes: 99 })
  }
  t.equal((await place.port.load(place.roots, large, 100)).bytes.length, 100)
})

t.test('only regular files are read, and nothing waits for the other end of a pipe', async (t) => {
  mkdirSync(join(place.ws, 'folder'))
  execFileSync('mkfifo', [join(place.ws, 'pipe')])
  const server = createServer().listen(join(place.ws, 'socket'))
  t.teardown(() => server.close())
  await new Promise((listening) => server.once('listening', listening))
  const kinds = ['folder', 'pipe', 'socket', '.']
  try {
    execFileSync('mknod', [join(place.ws, 'device'), 'c', '1', '5'], { stdio: 'ignore' })
    kinds.push('device')
  } catch {
    t.comment('no device could be made here, that kind is left out')
  }
  for (const path of kinds) {
    const found = await resolved(place, path)
    const { port, roots } = place
    for (const work of [() => port.load(roots, found, maxBytes), () => port.stream(roots, found, maxBytes)]) {
      t.match((await refusalOf(work)).detail, /^path: is a (directory|special file)/, path)
    }
    t.equal(await codeOf(place.port.identify(place.roots, found)), 'INVALID_ARGUMENT', path)
  }
})

t.test('what does not exist is not found, or has no identity', async (t) => {
  const absent = await resolved(place, 'no/such.txt')
  t.equal(await codeOf(place.port.load(place.roots, absent, maxBytes)), 'NOT_FOUND')
  t.equal(await codeOf(place.port.stream(place.roots, absent, maxBytes)), 'NOT_FOUND')
  t.equal(await codeOf(place.port.loadForWriting(place.roots, absent, maxBytes)), 'NOT_FOUND')
  t.equal(await place.port.identify(place.roots, absent), undefined)
})

t.test('a target that was resolved is proven again by every call', async (t) => {
  place.put('moving/in.txt', 'inside\n')
  const before = await resolved(place, 'moving/in.txt')
  writeFileSync(join(place.outside, 'in.txt'), 'hush\n')
  renameSync(join(place.ws, 'moving'), join(place.ws, 'moved'))
  symlinkSync(place.outside, join(place.ws, 'moving'))
  const { port, roots } = place
  const works = [
    () => port.load(roots, before, maxBytes),
    () => port.stream(roots, before, maxBytes),
    () => port.identify(roots, before),
    () => port.loadForWriting(roots, before, maxBytes),
  ]
  for (const work of works) t.equal(await codeOf(work), 'PATH_OUTSIDE_WORKSPACE')
  rmSync(join(place.ws, 'moving'))
  symlinkSync('moved', join(place.ws, 'moving'))
  t.equal(
    await codeOf(port.load(roots, before, maxBytes)),
    'MUTATION_IN_PROGRESS',
    'another place inside is tried again',
  )
  rmSync(join(place.ws, 'moving'))
  writeFileSync(join(place.ws, 'moving'), '')
  t.equal(await codeOf(port.load(roots, before, maxBytes)), 'INVALID_ARGUMENT', 'the parent became a file')
  const leaf = await resolved(place, 'moved/in.txt')
  rmSync(leaf.canonical)
  symlinkSync(join(place.outside, 'secret.txt'), leaf.canonical)
  t.equal(await codeOf(port.load(roots, leaf, maxBytes)), 'PATH_OUTSIDE_WORKSPACE', 'the file became a link')
  const foreign = { ...leaf, canonical: join(place.outside, 'secret.txt') }
  t.equal(await codeOf(port.load(roots, foreign, maxBytes)), 'PATH_OUTSIDE_WORKSPACE', 'a target of nowhere')
})

t.test('a stream that changes underneath ends in a refusal', async (t) => {
  const changes: Record<string, (file: string) => void> = {
    grown: (file) => appendFileSync(file, 'more'),
    truncated: (file) => truncateSync(file, 10),
    rewritten: (file) => writeFileSync(file, 'y'.repeat(600_000)),
  }
  for (const [what, change] of Object.entries(changes)) {
    const file = place.put('stream.txt', 'x'.repeat(600_000))
    utimesSync(file, 1, 1)
    const { chunks } = await place.port.stream(place.roots, await resolved(place, 'stream.txt'), maxBytes)
    const reading = async (): Promise<void> => {
      for await (const chunk of chunks) if (chunk.length > 0) change(file)
    }
    t.equal(await codeOf(reading), 'MUTATION_IN_PROGRESS', what)
  }
})

t.test('bytes are of one moment: a file that never rests is not loaded, one that rests again is', async (t) => {
  place.put('restless.txt', 'x'.repeat(500_000))
  let writing = true
  let turn = 0
  const writer = (async () => {
    while (writing) {
      appendFileSync(join(place.ws, 'restless.txt'), `${turn++}\n`)
      await new Promise((next) => setImmediate(next))
    }
  })()
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () =>
      load('restless.txt').then(
        ({ bytes }) => bytes,
        (e: unknown) => e,
      ),
    ),
  )
  writing = false
  await writer
  for (const answer of answers) {
    if (!(answer instanceof Buffer)) t.match(answer, { code: 'MUTATION_IN_PROGRESS' })
    else t.match(answer.toString('latin1').slice(500_000), /^((\d+\n)*)$/, 'only whole appended rows')
  }
  t.match((await load('restless.txt')).bytes.length, Number)
})

t.test('a young or future ctime proves nothing', (t) => {
  const at = (ctimeMs: number): Parameters<typeof settled>[0] => ({
    ...{ dev: 1n, ino: 1n, size: 1n, mtimeNs: 0n, mode: 0, uid: 0, gid: 0, nlink: 1 },
    ctimeNs: BigInt(ctimeMs) * 1_000_000n,
  })
  t.ok(settled(at(1_000), 1_101, 100))
  t.notOk(settled(at(1_000), 1_100, 100))
  t.notOk(settled(at(1_000), 1_000, 100))
  t.notOk(settled(at(5_000), 1_000, 100))
  t.end()
})

t.test('near names: alike in Unicode, elsewhere, a slip; never what is denied', async (t) => {
  const other = await playground()
  t.teardown(() => other.remove())
  other.put('docs/Re\u0301sume\u0301.md', 'nfd\n')
  other.put('pkg/core/mod.py', 'm\n')
  other.put('src/handler.ts', 'h\n')
  other.put('private/token.txt', 'k\n')
  other.put('public/tokens.txt', 'k\n')
  other.put('node_modules/x/mod.py', 'm\n')
  symlinkSync(join(other.outside, 'secret.txt'), join(other.ws, 'secrets.txt'))
  const near = async (path: string): Promise<unknown> => {
    const refusal = await refusalOf(
      other.port.load(other.roots, await other.port.resolve(other.roots, path, 'read'), maxBytes),
    )
    return refusal.fields['suggestions']
  }
  t.same(await near('docs/Résumé.md'), ['docs/Re\u0301sume\u0301.md'])
  t.same(await near('docs/RÉSUMÉ.md'), ['docs/Re\u0301sume\u0301.md'])
  t.same(await near('pkg/mod.py'), ['pkg/core/mod.py'])
  t.same(await near('mod.py'), ['pkg/core/mod.py'])
  t.same(await near('src/handlre.ts'), ['src/handler.ts'])
  t.same(await near('scr/handler.ts'), ['src/handler.ts'])
  t.same(await near('src/hаndler.ts'), ['src/handler.ts'], 'a Cyrillic look-alike')
  t.same(await near('private.txt'), [])
  t.same(await near('token.txt'), [], 'neither the denied file nor one far away by name')
  t.same(await near('public/token.txt'), ['public/tokens.txt'])
  t.same(await near('secret.txt'), [], 'no links')
  for (let i = 0; i < 20; i++) other.put(`many/case-${i}.txt`, '')
  t.equal(((await near('many/case-x.txt')) as string[]).length, 5)
})

t.test('near names cost the same in a tree of any size', async (t) => {
  const other = await playground()
  t.teardown(() => other.remove())
  for (let i = 0; i < 300; i++) other.put(`d${i % 30}/e${i}/file-${i}.txt`, '')
  const suggest = async (path: string): Promise<readonly string[]> =>
    other.port.suggest(other.roots, await other.port.resolve(other.roots, path, 'read'))
  const started = performance.now()
  t.same(await suggest('file-7.txt'), ['d7/e7/file-7.txt'])
  t.same(await suggest(`${'z'.repeat(250)}.txt`), [])
  t.ok(performance.now() - started < 5_000)
})

t.test('leftovers are looked at by their real path, below the operator’s directories alone', async (t) => {
  const file = place.put('left/over.txt', 'left\n')
  const digest = '6ac3d6c2ebc1d0b9d7ad2bd1f5ba7e1b5d2d9d7b5f3f5d4c0bd1c8b1ac2fa1f3'
  t.equal((await place.port.inspect(file))?.toString(), 'left\n')
  const nothing = [
    join(place.outside, 'secret.txt'),
    join(place.ws, 'none'),
    join(place.ws, 'left'),
    `${place.ws}/left/../left/over.txt`,
    place.ws,
    '/etc/passwd',
    'left/over.txt',
  ]
  symlinkSync(file, join(place.ws, 'left/link'))
  symlinkSync(join(place.ws, 'left'), join(place.ws, 'left-too'))
  for (const path of [...nothing, join(place.ws, 'left/link'), join(place.ws, 'left-too/over.txt')]) {
    t.equal(await place.port.inspect(path), undefined, path)
    await place.port.removeExact(path, digest)
  }
  await place.port.removeExact(file, digest)
  t.equal(place.text('left/over.txt'), 'left\n', 'other bytes stay')
  const { createHash } = await import('node:crypto')
  await place.port.removeExact(file, createHash('sha256').update('left\n').digest('hex'))
  t.equal(await place.port.inspect(file), undefined)
  const small = await place.portWith({ maxFileBytes: 3 })
  place.put('left/large.txt', 'large\n')
  t.equal(await small.inspect(join(place.ws, 'left/large.txt')), undefined)
})

t.test('no call keeps a file open', async (t) => {
  place.put('handles.txt', 'h\n')
  const before = openFiles()
  const found = await resolved(place, 'handles.txt')
  for (let i = 0; i < 30; i++) {
    await load('handles.txt')
    await collect('handles.txt')
    await rewrite(place, 'handles.txt', `h ${i}\n`)
    await rewrite(place, 'handles.txt', 'x', async () => Promise.reject(new Error('no'))).catch(() => undefined)
    await codeOf(place.port.load(place.roots, found, 1))
    await codeOf(load('no-such.txt'))
    const { chunks } = await place.port.stream(place.roots, found, maxBytes)
    await chunks[Symbol.asyncIterator]().return?.()
    const half = await place.port.stream(place.roots, found, maxBytes)
    for await (const chunk of half.chunks) if (chunk.length > 0) break
  }
  await new Promise((later) => setTimeout(later, 50))
  t.ok(openFiles() <= before, `${openFiles()} open, ${before} before`)
})

t.test('without /proc the weaker way keeps the same rules for what holds still', async (t) => {
  const port = await place.portWith({ descriptorPaths: false })
  place.put('weak/a.txt', 'a\n')
  const found = await port.resolve(place.roots, 'weak/a.txt', 'write')
  const base = await port.load(place.roots, found, maxBytes)
  t.match(await port.replace(place.roots, found, base, Buffer.from('b\n'), async () => {}), { landed: true })
  t.equal(place.text('weak/a.txt'), 'b\n')
  renameSync(join(place.ws, 'weak'), join(place.ws, 'weaker'))
  symlinkSync(place.outside, join(place.ws, 'weak'))
  t.equal(await codeOf(port.load(place.roots, found, maxBytes)), 'PATH_OUTSIDE_WORKSPACE')
})
