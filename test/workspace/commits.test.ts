import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { CommitAnswer } from '../../src/workspace/port.js'
import { tempName, thisInstance } from '../../src/workspace/temp-names.js'
import { changes, yes } from './changes.js'
import { codeOf, picture, resolved, rewrite, temps } from './playground.js'

const { place, mode, loaded, create, remove, move, test } = await changes()
const { ws, port, roots } = place
const changed = { landed: false, why: 'changed' }

/** Several changes of the disk as one. */
const inTurn =
  (...steps: (() => void)[]) =>
  (): void => {
    for (const step of steps) step()
  }

test('a file is replaced whole, its link and its mode stay', async (t) => {
  place.put('docs/real.md', 'one\n')
  symlinkSync('docs/real.md', join(ws, 'guide.md'))
  t.same(await rewrite(place, 'guide.md', 'two\n'), { landed: true, hardLinkSplit: false, createdParents: [] })
  t.equal(readlinkSync(join(ws, 'guide.md')), 'docs/real.md')
  t.equal(place.text('docs/real.md'), 'two\n')
  for (const bits of [0o600, 0o644, 0o755, 0o664, 0o640, 0o2755, 0o4711]) {
    place.put('bits', 'a')
    chmodSync(join(ws, 'bits'), bits)
    await rewrite(place, 'bits', 'b')
    t.equal(mode('bits'), bits.toString(8))
    rmSync(join(ws, 'bits'))
  }
})

test('a private file is private at every moment, and so is its temporary one', async (t) => {
  place.put('key.pem', 'k1\n')
  chmodSync(join(ws, 'key.pem'), 0o600)
  const seen: string[] = []
  await rewrite(place, 'key.pem', 'k2\n', async () => {
    for (const path of [...temps(ws), 'key.pem']) seen.push(mode(path))
  })
  t.same(seen, ['600', '600'])
  t.equal(mode('key.pem'), '600')
})

test(
  'owner and group are kept where that is permitted',
  async (t) => {
    place.put('theirs.txt', 'a\n')
    chownSync(join(ws, 'theirs.txt'), 1234, 4321)
    chmodSync(join(ws, 'theirs.txt'), 0o640)
    await rewrite(place, 'theirs.txt', 'b\n')
    t.match(statSync(join(ws, 'theirs.txt')), { uid: 1234, gid: 4321 })
    t.equal(mode('theirs.txt'), '640')
    await move('theirs.txt', 'moved/theirs.txt', 'c\n')
    t.match(statSync(join(ws, 'moved/theirs.txt')), { uid: 1234, gid: 4321 })
    const target = await resolved(place, 'again.txt', 'write')
    await port.create(roots, target, Buffer.from('d\n'), yes, 0o600, { uid: 1234, gid: 4321 })
    t.match(statSync(join(ws, 'again.txt')), { uid: 1234, gid: 4321 })
    t.equal(mode('again.txt'), '600')
  },
  process.getuid?.() !== 0 && 'only root may give files away',
)

test('a changed mode or owner is no changed file, and the newest one is kept', async (t) => {
  place.put('mode.txt', 'a\n')
  t.match(
    await rewrite(place, 'mode.txt', 'b\n', async () => {
      chmodSync(join(ws, 'mode.txt'), 0o600)
    }),
    { landed: true },
  )
  t.equal(place.text('mode.txt'), 'b\n')
  t.equal(mode('mode.txt'), '600')
})

test('a hard link is split, and said', async (t) => {
  place.put('src.md', 'one\n')
  linkSync(join(ws, 'src.md'), join(place.outside, 'dep.md'))
  t.match(await rewrite(place, 'src.md', 'two\n'), { landed: true, hardLinkSplit: true })
  t.equal(readFileSync(join(place.outside, 'dep.md'), 'utf8'), 'one\n')
  t.match(await rewrite(place, 'src.md', 'three\n'), { landed: true, hardLinkSplit: false })
})

test('a new file gets its folders, and a folder that was made is named', async (t) => {
  const told: string[][] = []
  const target = await resolved(place, 'n/e/w/file.txt', 'write')
  const answer = await port.create(roots, target, Buffer.from('x\n'), async (made) => void told.push([...made]))
  const made = ['n', 'n/e', 'n/e/w'].map((path) => join(ws, path))
  t.same(answer, { landed: true, hardLinkSplit: false, createdParents: made })
  t.same(told, [made], 'before it lands')
  t.match(await create('n/e/other.txt', 'y\n'), { createdParents: [] })
  unlinkSync(target.canonical)
  await port.pruneEmptyParents(roots, target, made)
  t.notOk(existsSync(join(ws, 'n/e/w')))
  t.ok(existsSync(join(ws, 'n/e/other.txt')), 'a folder that is used stays')
  await port.pruneEmptyParents(roots, target, [place.outside, ws, join(ws, 'n')])
  t.ok(existsSync(place.outside) && existsSync(join(ws, 'n')))
  const before = process.umask(0o077)
  await create('masked.txt', 'x')
  process.umask(before)
  t.equal(mode('masked.txt'), '600', 'the umask applies to what asks for no mode')
})

test('a name that is taken is a conflict, whatever has it', async (t) => {
  place.put('taken/file.txt', 'mine\n')
  mkdirSync(join(ws, 'taken/dir'))
  symlinkSync('nowhere-yet', join(ws, 'taken/dangling'))
  place.put('from.txt', 'from\n')
  const at = picture(ws)
  for (const path of ['taken/file.txt', 'taken/dir', 'taken']) {
    t.equal(await codeOf(create(path, 'x')), 'CONFLICT', `create ${path}`)
    t.equal(await codeOf(move('from.txt', path, 'x')), 'CONFLICT', `move to ${path}`)
    t.equal(await codeOf(move('from.txt', path)), 'CONFLICT', `carry to ${path}`)
  }
  for (const work of [
    create,
    (path: string, text: string, confirm: () => Promise<void>) => move('from.txt', path, text, confirm),
  ]) {
    const racing = async (): Promise<void> => writeFileSync(join(ws, 'race.txt'), 'theirs\n')
    t.equal(await codeOf(work('race.txt', 'ours\n', racing)), 'CONFLICT', 'one that appears in mid-call')
    t.equal(place.text('race.txt'), 'theirs\n')
    unlinkSync(join(ws, 'race.txt'))
  }
  t.same(picture(ws), at)
})

test('a file that changes in mid-call is left as it is', async (t) => {
  const file = join(ws, 'live.txt')
  const changes: Record<string, () => void> = {
    written: () => writeFileSync(file, 'theirs'),
    'written at the same length': () => writeFileSync(file, 'ONE\n'),
    appended: () => appendFileSync(file, 'more'),
    truncated: () => writeFileSync(file, ''),
    deleted: () => unlinkSync(file),
    replaced: inTurn(
      () => writeFileSync(`${file}.new`, 'theirs'),
      () => renameSync(`${file}.new`, file),
    ),
    'replaced by a link': inTurn(
      () => unlinkSync(file),
      () => symlinkSync(join(place.outside, 'secret.txt'), file),
    ),
    'replaced by a folder': inTurn(
      () => unlinkSync(file),
      () => mkdirSync(file),
    ),
  }
  const works: Record<string, (confirm: () => Promise<void>) => Promise<CommitAnswer>> = {
    replace: (confirm) => rewrite(place, 'live.txt', 'ours\n', confirm),
    remove: (confirm) => remove('live.txt', confirm),
    move: (confirm) => move('live.txt', 'gone/to.txt', 'ours\n', confirm),
    carry: (confirm) => move('live.txt', 'gone/to.txt', undefined, confirm),
  }
  for (const [what, change] of Object.entries(changes)) {
    for (const [work, run] of Object.entries(works)) {
      for (const age of ['young', 'old']) {
        rmSync(file, { recursive: true, force: true })
        place.put('live.txt', 'one\n')
        if (age === 'old') await new Promise((later) => setTimeout(later, 120))
        let after: unknown
        const answer = await run(async () => {
          change()
          after = withoutTemps(picture(ws))
        }).catch((error: unknown) => error)
        t.same(answer, changed, `${work}, ${what}, ${age}`)
        t.same(withoutTemps(picture(ws)), after, 'the disk is as the change left it')
      }
    }
  }
  rmSync(file, { recursive: true, force: true })
  t.equal(readFileSync(join(place.outside, 'secret.txt'), 'utf8'), 'hush\n')
})
/** Without what the call had made when it was interrupted, which has to be gone afterwards. */
const withoutTemps = (all: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(all).filter(([path]) => !path.includes('.anchorline-') && path !== 'gone/'))

test('a touched file with the same bytes is the same file', async (t) => {
  place.put('touched.txt', 'one\n')
  const touch = async (): Promise<void> => utimesSync(join(ws, 'touched.txt'), new Date(), new Date())
  t.match(await rewrite(place, 'touched.txt', 'two\n', touch), { landed: true })
  const again = async (): Promise<void> => {
    writeFileSync(join(ws, 'copy'), 'two\n')
    renameSync(join(ws, 'copy'), join(ws, 'touched.txt'))
  }
  t.match(await rewrite(place, 'touched.txt', 'three\n', again), { landed: true })
  t.equal(place.text('touched.txt'), 'three\n')
})

test('a write in the same tick of the file system’s clock as the one before it is noticed', async (t) => {
  for (let i = 0; i < 40; i++) {
    place.put('tick.txt', `a${i}\n`)
    const { target, base } = await loaded('tick.txt')
    writeFileSync(target.canonical, `b${i}\n`)
    if (i === 0) await new Promise((later) => setTimeout(later, 150))
    t.same(await port.replace(roots, target, base, Buffer.from('c\n'), yes), changed)
    t.equal(place.text('tick.txt'), `b${i}\n`)
  }
})

test('a folder that changes in mid-call takes nothing with it', async (t) => {
  const works: Record<string, (confirm: () => Promise<void>) => Promise<CommitAnswer>> = {
    replace: (confirm) => rewrite(place, 'fold/a.txt', 'ours\n', confirm),
    create: (confirm) => create('fold/new.txt', 'ours\n', confirm),
    remove: (confirm) => remove('fold/a.txt', confirm),
    'move out': (confirm) => move('fold/a.txt', 'b.txt', 'ours\n', confirm),
    'move in': (confirm) => move('other.txt', 'fold/in.txt', 'ours\n', confirm),
    'carry in': (confirm) => move('other.txt', 'fold/in.txt', undefined, confirm),
  }
  const swaps: Record<string, () => void> = {
    'moved outside': () => renameSync(join(ws, 'fold'), join(place.outside, 'fold')),
    'a link outside': inTurn(
      () => renameSync(join(ws, 'fold'), join(ws, 'was')),
      () => symlinkSync(place.outside, join(ws, 'fold')),
    ),
    'a file': inTurn(
      () => renameSync(join(ws, 'fold'), join(ws, 'was')),
      () => writeFileSync(join(ws, 'fold'), 'f'),
    ),
  }
  for (const [what, swap] of Object.entries(swaps)) {
    for (const [work, run] of Object.entries(works)) {
      place.put('fold/a.txt', 'one\n')
      place.put('other.txt', 'other\n')
      const answer = await run(async () => swap())
      t.same(answer, changed, `${work}, ${what}`)
      const [inside, outside] = [picture(ws), picture(place.outside)]
      for (const all of [inside, outside]) t.notOk(Object.values(all).includes('ours\n'), `${work}, ${what}`)
      t.equal(inside['other.txt'], 'other\n')
      for (const path of [join(ws, 'fold'), join(ws, 'was'), join(place.outside, 'fold')])
        rmSync(path, { recursive: true, force: true })
    }
  }
  t.same(Object.keys(picture(place.outside)).sort(), ['dep.md', 'secret.txt'])
})

test('a confirmation that fails aborts with its own error and leaves nothing', async (t) => {
  place.put('abort.txt', 'one\n')
  const at = picture(ws)
  const no = async (): Promise<void> =>
    Promise.reject(Object.assign(new Error('lost the permit'), { code: 'ENOENT', errno: -2 }))
  const works = [
    () => rewrite(place, 'abort.txt', 'x', no),
    () => create('ab/or/t.txt', 'x', no),
    () => remove('abort.txt', no),
    () => move('abort.txt', 'ab/or/t.txt', 'x', no),
    () => move('abort.txt', 'ab/or/t.txt', undefined, no),
  ]
  for (const work of works) await t.rejects(work(), /lost the permit/)
  t.same(picture(ws), at)
})

test('moving publishes the new name and takes the old one away', async (t) => {
  place.put('old.sh', '#!/bin/sh\n')
  chmodSync(join(ws, 'old.sh'), 0o755)
  t.match(await move('old.sh', 'bin/new.sh', '#!/bin/bash\n'), { landed: true, createdParents: [join(ws, 'bin')] })
  t.notOk(existsSync(join(ws, 'old.sh')))
  t.equal(place.text('bin/new.sh'), '#!/bin/bash\n')
  t.equal(mode('bin/new.sh'), '755')
  const inode = statSync(join(ws, 'bin/new.sh')).ino
  t.match(await move('bin/new.sh', 'bin/carried.sh'), { landed: true, hardLinkSplit: false, createdParents: [] })
  t.equal(statSync(join(ws, 'bin/carried.sh')).ino, inode, 'as it is')
  t.match(await remove('bin/carried.sh'), { landed: true })
  t.same(picture(join(ws, 'bin')), {})
})

test('planted names are never opened, and enough of them is a refusal', async (t) => {
  const instance = await thisInstance()
  const planted = [0, 1, 2].map((i) => tempName(instance, `planted${i}`))
  let turn = 0
  const naive = await place.portWith({ random: () => `planted${turn++}` })
  place.put('victim.txt', 'one\n')
  symlinkSync(join(place.outside, 'secret.txt'), join(ws, planted[0]!))
  symlinkSync(join(place.outside, 'absent.txt'), join(ws, planted[1]!))
  writeFileSync(join(ws, planted[2]!), 'theirs')
  const { target, base } = await loaded('victim.txt', naive)
  t.match(await naive.replace(roots, target, base, Buffer.from('two\n'), yes), { landed: true })
  t.equal(place.text('victim.txt'), 'two\n')
  t.equal(readFileSync(join(ws, planted[2]!), 'utf8'), 'theirs')
  t.notOk(existsSync(join(place.outside, 'absent.txt')))
  t.equal(readFileSync(join(place.outside, 'secret.txt'), 'utf8'), 'hush\n')
  const stuck = await place.portWith({ random: () => 'planted2' })
  t.equal(await codeOf(create('stuck.txt', 'x', yes, stuck)), 'CONFLICT')
  for (const name of planted) unlinkSync(join(ws, name))
})

test('on a file system without hard links a reserved name does their work', async (t) => {
  const plain = await place.portWith({ hardLinks: false })
  t.match(await create('plain/one.txt', 'one\n', yes, plain), { landed: true })
  t.equal(await codeOf(create('plain/one.txt', 'two\n', yes, plain)), 'CONFLICT')
  const racing = async (): Promise<void> => writeFileSync(join(ws, 'plain/race.txt'), 'theirs\n')
  t.equal(await codeOf(create('plain/race.txt', 'ours\n', racing, plain)), 'CONFLICT')
  t.match(await move('plain/one.txt', 'plain/two.txt', 'two\n', yes, plain), { landed: true })
  t.match(await move('plain/two.txt', 'plain/three.txt', undefined, yes, plain), { landed: true })
  t.same(picture(join(ws, 'plain')), { 'race.txt': 'theirs\n', 'three.txt': 'two\n' })
})

test('scratch is made at the first write into it and dropped with the session', async (t) => {
  const file = join(roots.scratch, 'notes/n.txt')
  t.notOk(existsSync(roots.scratch))
  const target = await resolved(place, file, 'write')
  t.match(await port.create(roots, target, Buffer.from('n\n'), yes), { landed: true })
  t.equal(readFileSync(file, 'utf8'), 'n\n')
  t.equal((statSync(roots.scratch).mode & 0o777).toString(8), '700')
  symlinkSync(place.outside, join(roots.scratch, 'out'))
  mkdirSync(join(roots.scratch, 'deep/er'), { recursive: true })
  writeFileSync(Buffer.concat([Buffer.from(`${roots.scratch}/`), Buffer.from([0xff, 0xfe])]), 'no UTF-8')
  mkdirSync(Buffer.concat([Buffer.from(`${roots.scratch}/`), Buffer.from([0xff, 0xfd])]))
  await port.dropScratch('a-session-of-the-tests')
  await port.dropScratch('a-session-of-the-tests')
  await port.dropScratch('never-there')
  t.same(picture(place.scratchDir), {})
  t.equal(readFileSync(join(place.outside, 'secret.txt'), 'utf8'), 'hush\n')
  await t.rejects(port.dropScratch('../ws'), TypeError)
  rmSync(place.scratchDir, { recursive: true })
  t.match(
    await port.create(roots, target, Buffer.from('n\n'), yes),
    { landed: true },
    'also when all of it was cleared away',
  )
})
