import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { changes } from './changes.js'
import { picture, refusalOf, rewrite } from './playground.js'

const { place, loaded, create, remove, move, test } = await changes()
const { ws, port, roots } = place

test('the process may not write: denied, where a rename would succeed too', async (t) => {
  const told = await asNobody(place.top)
  t.same(told, {
    'may not read': 'TOOL_DENIED',
    'may not write': 'TOOL_DENIED',
    'replace what may not be written': 'TOOL_DENIED',
    'remove what may not be written': 'TOOL_DENIED',
    'move what may not be written': 'TOOL_DENIED',
    'create where names may not be made': 'TOOL_DENIED',
    'replace where names may not be made': 'TOOL_DENIED',
    'move out of where names may not be taken': 'TOOL_DENIED',
    'move into where names may not be made': 'TOOL_DENIED',
    'look behind a closed folder': 'TOOL_DENIED',
    'write in a closed folder': 'TOOL_DENIED',
    'read through a folder that may not be listed': 'ok',
    'replace another’s file that may be written': 'ok',
    'its mode': '666',
  })
})

/** Runs actor.js without any privilege and gives what it met. */
async function asNobody(top: string): Promise<unknown> {
  const root = process.getuid?.() === 0
  const dir = join(top, 'workspaces/nobody')
  const put = (path: string, bits: number, folder = false): void => {
    if (folder) mkdirSync(join(dir, path))
    else writeFileSync(join(dir, path), 'x\n')
    chmodSync(join(dir, path), bits)
  }
  mkdirSync(dir)
  for (const [path, bits] of [
    ['open', 0o777],
    ['shut', 0o755],
    ['closed', 0o755],
    ['blind', 0o777],
  ] as const)
    put(path, bits, true)
  put('open/secret.txt', 0o000)
  put('open/fixed.txt', 0o444)
  put('open/theirs.txt', 0o666)
  put('shut/a.txt', 0o666)
  put('closed/a.txt', 0o666)
  put('blind/a.txt', 0o666)
  chmodSync(join(dir, 'closed'), 0o000)
  chmodSync(join(dir, 'blind'), 0o711)
  if (!root) chmodSync(join(dir, 'shut'), 0o555)
  chmodSync(top, 0o755)
  const actor = fileURLToPath(new URL('actor.js', import.meta.url))
  const child = spawn(process.execPath, [actor, 'unprivileged', top], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(root ? { uid: 65_534, gid: 65_534 } : {}),
  })
  const chunks: Buffer[] = []
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer)
  for (const path of ['closed', 'blind', 'shut', 'open/secret.txt']) chmodSync(join(dir, path), 0o755)
  return JSON.parse(Buffer.concat(chunks).toString())
}

/** A tmpfs of the size at `dir`, or the reason why there is none. */
function mounted(dir: string, options: string): string | false {
  mkdirSync(dir, { recursive: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dir], { stdio: 'pipe' })
    return false
  } catch {
    rmdirSync(dir)
    return 'this user may not mount a file system'
  }
}

const small = join(ws, 'small')
const noMount = mounted(small, 'size=128k')
t.teardown(() => noMount || execFileSync('umount', [small]))

test(
  'a full disk is the disk’s fault, and the file is as it was',
  async (t) => {
    place.put('small/a.txt', 'one\n')
    const big = 'x'.repeat(300_000)
    for (const work of [() => rewrite(place, 'small/a.txt', big), () => create('small/deep/er/b.txt', big)]) {
      const refusal = await refusalOf(work)
      t.equal(refusal.code, 'TOOL_FAILED')
      t.match(refusal.detail, 'the disk is full')
    }
    t.same(picture(small), { 'a.txt': 'one\n' })
  },
  noMount,
)

test(
  'a move across file systems is refused',
  async (t) => {
    place.put('across.txt', 'a\n')
    place.put('small/back.txt', 'b\n')
    for (const [from, to] of [
      ['across.txt', 'small/x/across.txt'],
      ['small/back.txt', 'x/back.txt'],
    ] as const) {
      for (const text of ['new\n', undefined]) {
        const refusal = await refusalOf(move(from, to, text))
        t.equal(refusal.code, 'INVALID_ARGUMENT')
        t.match(refusal.detail, /^ops: .*another file system/)
      }
      t.ok(existsSync(join(ws, from)))
      t.notOk(existsSync(join(ws, to.split('/').slice(0, 2).join('/'))) && to.startsWith('small/x'))
    }
    t.notOk(existsSync(join(ws, 'x')) || existsSync(join(small, 'x')))
  },
  noMount,
)

test(
  'a read-only mount is read and never written',
  async (t) => {
    place.put('small/fixed.txt', 'one\n')
    execFileSync('mount', ['-o', 'remount,ro', small])
    t.teardown(() => execFileSync('mount', ['-o', 'remount,rw', small]))
    const at = picture(small)
    const fixed = await loaded('small/fixed.txt')
    t.equal(fixed.base.bytes.toString(), 'one\n')
    place.put('writable.txt', 'w\n')
    const works = [
      () => port.loadForWriting(roots, fixed.target, 1_000),
      () => rewrite(place, 'small/fixed.txt', 'two\n'),
      () => create('small/new/n.txt', 'n\n'),
      () => remove('small/fixed.txt'),
      () => move('small/fixed.txt', 'small/b.txt', 'x'),
      () => move('writable.txt', 'small/w.txt', 'x'),
    ]
    for (const [i, work] of works.entries()) {
      const refusal = await refusalOf(work)
      t.match(
        [refusal.code, refusal.detail],
        i === 5 ? ['INVALID_ARGUMENT'] : ['TOOL_FAILED', 'mounted read-only'],
        `work ${i}`,
      )
    }
    t.same(picture(small), at)
  },
  noMount,
)
