import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { isInstance, isTempName, ownerGone, tempName, thisInstance } from '../../src/workspace/temp-names.js'
import { picture, playground } from './playground.js'

const random = '0123456789abcdef'
const hour = 3_600_000
const nobody = async (): Promise<boolean> => false

/** The instance of a process of this host that has ended. */
async function endedInstance(): Promise<string> {
  const child = spawn(process.execPath, ['-e', ''])
  await new Promise((exit) => child.once('exit', exit))
  return (await thisInstance()).replace(/\.\d+\.\d+$/, `.${child.pid}.123`)
}

t.test('an instance is a host, a process and when it started', async (t) => {
  const mine = await thisInstance()
  t.ok(isInstance(mine))
  t.equal(mine, await thisInstance(hostname()))
  t.not(mine, await thisInstance('another-host'))
  t.ok(isTempName(tempName(mine, random)) && isTempName(tempName(mine, 'a-b_c-D0')))
  for (const odd of ['', 'short', '../../../x', 'a b c d e f']) t.throws(() => tempName(mine, odd), TypeError)
  for (const name of [
    '.anchorline-x.tmp',
    `${tempName(mine, random)}~`,
    `x${tempName(mine, random)}`,
    '.anchorline-a.1.2-../x.tmp',
    '',
  ]) {
    t.notOk(isTempName(name), name)
  }
})

t.test('an owner is gone when its process is, or when nobody here can tell and the file is old', async (t) => {
  const mine = await thisInstance()
  const gone = (owner: string, ageMs: number): Promise<boolean> => ownerGone(tempName(owner, random), mine, ageMs, hour)
  t.notOk(await gone(mine, 10 * hour), 'my own')
  t.ok(await gone(await endedInstance(), 0), 'a process that ended')
  t.ok(await gone(mine.replace(/\d+$/, '1'), 0), 'an earlier process with my number')
  const host = mine.split('.')[0]!
  t.notOk(await gone(`${host}.${process.ppid}.${await startOf(process.ppid)}`, 10 * hour), 'a process that lives')
  t.notOk(await gone('0123456789ab.1.2', hour - 1), 'another host, young')
  t.ok(await gone('0123456789ab.1.2', hour + 1), 'another host, old')
  t.notOk(await ownerGone('x.tmp', mine, 10 * hour, hour), 'no name of ours')
})
async function startOf(pid: number): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  const text = await readFile(`/proc/${pid}/stat`, 'latin1')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19]!
}

t.test('the sweep takes orphaned files wherever they are, and nothing else', async (t) => {
  const place = await playground()
  t.teardown(() => place.remove())
  const orphan = tempName(await endedInstance(), random)
  const [mine, foreign] = [tempName(await thisInstance(), random), tempName('0123456789ab.1.2', random)]
  for (const dir of ['', 'a/', 'a/b/c/', 'node_modules/x/']) {
    place.put(`${dir}keep.txt`, 'k\n')
    place.put(dir + orphan, 'half')
  }
  place.put(mine, 'under way')
  place.put(`a/${foreign}`, 'young')
  place.put(`a/b/${foreign}`, 'old')
  utimesSync(join(place.ws, `a/b/${foreign}`), new Date(), new Date(Date.now() - 2 * hour))
  writeFileSync(join(place.external, orphan), 'half')
  writeFileSync(join(place.outside, orphan), 'not ours to touch')
  mkdirSync(join(place.ws, `d/${orphan}`), { recursive: true })
  symlinkSync(place.outside, join(place.ws, 'out'))
  symlinkSync(
    join(place.outside, 'secret.txt'),
    join(place.ws, 'a/b/c', tempName(await endedInstance(), 'another-one')),
  )
  const before = picture(place.outside)
  t.same(await place.port.sweep(nobody), { temps: 6, scratch: 0, complete: true })
  t.same(picture(place.outside), before)
  const left = Object.keys(picture(place.ws)).filter((path) => path.includes('.anchorline-'))
  t.same(left.length, 4, left.join())
  t.ok(
    existsSync(join(place.ws, mine)) &&
      existsSync(join(place.ws, `a/${foreign}`)) &&
      existsSync(join(place.ws, `d/${orphan}`)),
  )
  t.same(await place.port.sweep(nobody), { temps: 0, scratch: 0, complete: true })
})

t.test('the sweep takes scratch folders whose session is gone, and never a folder that is not marked', async (t) => {
  const place = await playground()
  t.teardown(() => place.remove())
  const orphan = tempName(await endedInstance(), random)
  for (const session of ['session-alive', 'session-gone']) {
    const roots = await place.port.roots('ws', session, [])
    const target = await place.port.resolve(roots, join(roots.scratch, 'sub/n.txt'), 'write')
    await place.port.create(roots, target, Buffer.from('n\n'), async () => {})
    writeFileSync(join(roots.scratch, orphan), 'half')
  }
  mkdirSync(join(place.scratchDir, 'somebody-elses-folder'))
  writeFileSync(join(place.scratchDir, 'somebody-elses-folder/x'), 'x')
  symlinkSync(place.outside, join(place.scratchDir, 'session-link'))
  const live = async (session: string): Promise<boolean> => session === 'session-alive'
  t.same(await place.port.sweep(live), { temps: 1, scratch: 1, complete: true })
  t.same(Object.keys(picture(place.scratchDir)), [
    ...['.anchorline-scratch-session-alive', 'session-alive/', 'session-alive/sub/', 'session-alive/sub/n.txt'],
    ...['session-link', 'somebody-elses-folder/', 'somebody-elses-folder/x'],
  ])
})
