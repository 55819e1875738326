/**
 * The other process of the workspace tests: `actor.js ROLE TOP` over a playground that the test made. Not a test itself.
 *
 * `unprivileged` tries what a user without rights meets and prints it as JSON. `swap` exchanges folders and files of the workspace for links to outside and back,
 * as fast as it can, until it is told to stop or ten seconds have passed, and prints the rounds.
 * `write` changes files through the port until it is killed and notes in `TOP/log` what it begins and what has landed.
 */
import { appendFileSync, renameSync, statSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../src/errors/tool-error.js'
import { createWorkspace } from '../../src/workspace/disk.js'
import { thisInstance } from '../../src/workspace/temp-names.js'
import { generation } from './generation.js'

const [role, top] = process.argv.slice(2)
if (top === undefined) throw new Error('actor.js ROLE TOP')

const port = createWorkspace({
  ...{ workspacesDir: join(top, 'workspaces'), scratchDir: join(top, 'scratch') },
  ...{ externalRoots: [], denyRead: [], denyWrite: [], instance: await thisInstance(), now: Date.now },
  random: () => Math.random().toString(36).slice(2, 12).padEnd(8, '0'),
})
const yes = async (): Promise<void> => {}

const roles: Record<string, () => Promise<void>> = { unprivileged, swap, write }
await roles[role ?? '']?.()

async function unprivileged(): Promise<void> {
  const roots = await port.roots('nobody', 'a-session-of-nobody', [])
  const told: Record<string, string> = {}
  const at = (path: string) => port.resolve(roots, path, 'write')
  const load = async (path: string) => port.load(roots, await at(path), 1_000)
  const attempt = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    told[what] = await work().then(
      () => 'ok',
      (error: unknown) => (error instanceof ToolError ? (error as ToolError).code : String(error)),
    )
  }
  const replace = async (path: string) => port.replace(roots, await at(path), await load(path), Buffer.from('y'), yes)
  const move = async (from: string, to: string) =>
    port.move(roots, await at(from), await at(to), await load(from), Buffer.from('y'), yes)
  const create = async (path: string) => port.create(roots, await at(path), Buffer.from('y'), yes)
  await attempt('may not read', () => load('open/secret.txt'))
  await attempt('may not write', async () => port.loadForWriting(roots, await at('open/fixed.txt'), 1_000))
  await attempt('replace what may not be written', () => replace('open/fixed.txt'))
  await attempt('remove what may not be written', async () =>
    port.remove(roots, await at('open/fixed.txt'), await load('open/fixed.txt'), yes),
  )
  await attempt('move what may not be written', () => move('open/fixed.txt', 'open/moved.txt'))
  await attempt('create where names may not be made', () => create('shut/new.txt'))
  await attempt('replace where names may not be made', () => replace('shut/a.txt'))
  await attempt('move out of where names may not be taken', () => move('shut/a.txt', 'open/a.txt'))
  await attempt('move into where names may not be made', () => move('open/theirs.txt', 'shut/b.txt'))
  await attempt('look behind a closed folder', () => load('closed/a.txt'))
  await attempt('write in a closed folder', () => create('closed/b.txt'))
  await attempt('read through a folder that may not be listed', () => load('blind/a.txt'))
  await attempt('replace another’s file that may be written', () => replace('open/theirs.txt'))
  told['its mode'] = (statSync(join(roots.workspace.dir, 'open/theirs.txt')).mode & 0o7777).toString(8)
  console.log(JSON.stringify(told))
}

async function swap(): Promise<void> {
  const [ws, outside] = [join(top ?? '', 'workspaces/ws'), join(top ?? '', 'outside')]
  const places: readonly (readonly [string, string])[] = [
    [join(ws, 'dir'), join(outside, 'dir')],
    [join(ws, 'up'), join(outside, 'up')],
    [join(ws, 'dir-2/leaf.txt'), join(outside, 'dir/in.txt')],
  ]
  const told = new AbortController()
  process.once('message', () => told.abort())
  const started = Date.now()
  let rounds = 0
  while (!told.signal.aborted && Date.now() - started < 10_000) {
    for (const [place, target] of places) {
      // A call that lands in between may have put something at the name; the round is then over for this place.
      try {
        renameSync(place, `${place}.away`)
        symlinkSync(target, place)
      } catch {
        // Taken.
      }
    }
    if (rounds % 3 === 0) await new Promise((next) => setImmediate(next))
    for (const [place] of places) {
      try {
        unlinkSync(place)
        renameSync(`${place}.away`, place)
      } catch {
        // Not ours.
      }
    }
    if (++rounds % 3 !== 0) await new Promise((next) => setImmediate(next))
  }
  console.log(String(rounds))
  process.disconnect()
}

async function write(): Promise<void> {
  const roots = await port.roots('ws', 'a-session-that-is-killed', [])
  const log = (text: string): void => appendFileSync(join(top ?? '', 'log'), `${text}\n`)
  const at = (path: string) => port.resolve(roots, path, 'write')
  const load = async (path: string) => port.load(roots, await at(path), 1 << 22)
  process.send?.('ready')
  for (let n = 1; ; n++) {
    log(`begin ${n}`)
    const bytes = generation(n)
    await port.replace(roots, await at('main.txt'), await load('main.txt'), bytes, yes)
    log(`landed ${n}`)
    await port.create(roots, await at(`made/${n}/new.txt`), bytes, yes)
    await port.move(
      roots,
      await at(`made/${n}/new.txt`),
      await at(`moved/${n}.txt`),
      await load(`made/${n}/new.txt`),
      generation(n + 1),
      yes,
    )
    await port.move(
      roots,
      await at(`moved/${n}.txt`),
      await at('moved/last.txt'),
      await load(`moved/${n}.txt`),
      undefined,
      yes,
    )
    await port.remove(roots, await at('moved/last.txt'), await load('moved/last.txt'), yes)
  }
}
