/** Descriptors: closed once, and never under an operation that still runs. */
import { constants, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Descriptor } from '../../src/workspace/descriptor.js'

const isOpen = (descriptor: Descriptor): boolean => {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor.number}`) !== ''
  } catch {
    return false
  }
}

for (const end of ['close', 'drop'] as const)
  t.test(`${end} waits for what still runs, happens once, and nothing works afterwards`, async (t) => {
    const path = join(t.testdir({ f: 'some bytes' }), 'f')
    const descriptor = await Descriptor.open(path, constants.O_RDONLY)
    const [first, second] = [Buffer.alloc(4), Buffer.alloc(6)]
    const reads = [descriptor.read(first, 0, 4, 0), descriptor.read(second, 0, 6, 4)]
    const ended = descriptor[end]()
    await t.rejects(descriptor.stat(), { code: 'EBADF' }, 'it takes nothing new')
    t.equal(isOpen(descriptor), true, 'it is open while they run')
    t.same(await Promise.all(reads), [4, 6])
    t.equal(Buffer.concat([first, second]).toString(), 'some bytes')
    await ended
    t.equal(isOpen(descriptor), false)
    const other = await Descriptor.open(path, constants.O_RDONLY)
    await descriptor[end]()
    t.equal(isOpen(other), true, 'a number that was given away again is left alone')
    await other.drop()
  })

t.test('all bytes are written, from the start on', async (t) => {
  const path = join(t.testdir({ f: '' }), 'f')
  writeFileSync(path, 'xxxxxxxxxxxxxxxx')
  const descriptor = await Descriptor.open(path, constants.O_RDWR)
  const bytes = Buffer.alloc(3_000_000, 'abc')
  await descriptor.writeAll(bytes)
  await descriptor.writeAll(new Uint8Array(0))
  await descriptor.chmod(0o640)
  await descriptor.sync()
  t.equal(Number((await descriptor.stat()).mode & 0o777n), 0o640)
  t.equal(await descriptor.read(Buffer.alloc(1), 0, 1, bytes.length), 0, 'nothing is behind the end')
  await descriptor.close()
  t.ok(readFileSync(path).equals(bytes))
})

t.test('what cannot be opened says why', async (t) => {
  await t.rejects(Descriptor.open(join(t.testdir({}), 'none'), constants.O_RDONLY), { code: 'ENOENT' })
})
