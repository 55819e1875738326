import { fork } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ToolError } from '../../src/errors/tool-error.js'
import type { CommitAnswer, LoadedFile } from '../../src/workspace/port.js'
import { maxBytes, memoryDisk, picture, playground, temps } from './playground.js'

const secret = 'hush-of-the-race'
const seconds = 3

const patienceMs = 60_000

/** Races every operation against a process that exchanges the folders and files it works on for links to outside. */
t.test('whatever is swapped between check and use, nothing outside is read or written', async (t) => {
  const place = await playground({}, memoryDisk)
  t.teardown(() => place.remove())
  const { port, roots } = place
  for (const [folder, file] of [
    ['dir', 'in.txt'],
    ['up/mid', 'x.txt'],
    ['dir-2', 'leaf.txt'],
  ] as const) {
    place.put(join(folder, file), 'inside\n')
    mkdirSync(join(place.outside, folder), { recursive: true })
    writeFileSync(join(place.outside, folder, file), `${secret}\n`)
  }
  const before = picture(place.outside)
  const files = ['dir/in.txt', 'up/mid/x.txt', 'dir-2/leaf.txt']
  // Resolved while everything is still in its place: these go straight at the moment between check and use.
  const targets = await Promise.all(files.map((path) => port.resolve(roots, path, 'write')))
  const racer = fork(fileURLToPath(new URL('actor.js', import.meta.url)), ['swap', place.top], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const over = new Promise((exit) => racer.once('exit', exit))
  let rounds = ''
  racer.stdout?.on('data', (chunk: Buffer) => (rounds += chunk.toString()))

  const yes = async (): Promise<void> => {}
  const met = new Map<string, number>()
  const note = (what: string): void => void met.set(what, (met.get(what) ?? 0) + 1)
  const attempt = async (what: string, work: () => Promise<CommitAnswer | LoadedFile>): Promise<void> => {
    try {
      const answer = await work()
      if ('bytes' in answer) t.notOk(answer.bytes.includes(secret), what)
      note('bytes' in answer ? 'read' : answer.landed ? 'landed' : 'changed')
    } catch (error) {
      if (!(error instanceof ToolError)) throw error
      const refusal = error as ToolError
      if (refusal.status >= 500) t.fail(`${what}: ${refusal.detail}`)
      if (JSON.stringify([refusal.detail, refusal.fields]).includes(secret)) t.fail(`${what} tells of outside`)
      note(refusal.code)
    }
  }
  const at = (path: string) => port.resolve(roots, path, 'write')
  const load = async (path: string) => port.load(roots, await at(path), maxBytes)
  const started = Date.now()
  // On a busy machine the other process may come to its first swaps late.
  const raced = (): boolean => (met.get('PATH_OUTSIDE_WORKSPACE') ?? 0) > 0 || Date.now() - started > patienceMs
  for (let i = 0; Date.now() - started < seconds * 1_000 || !raced(); i++) {
    const bytes = Buffer.from(`inside ${i}\n`)
    await Promise.all(
      targets.flatMap((target) => [
        attempt(`load ${target.path} as resolved`, () => port.load(roots, target, maxBytes)),
        attempt(`load ${target.path} as resolved`, () => port.load(roots, target, maxBytes)),
      ]),
    )
    await Promise.all(
      files.flatMap((path, n) => [
        attempt(`load ${path}`, () => load(path)),
        attempt(`replace ${path} as resolved`, async () =>
          port.replace(roots, targets[n]!, await port.load(roots, targets[n]!, maxBytes), bytes, yes),
        ),
        attempt(`replace ${path}`, async () => port.replace(roots, await at(path), await load(path), bytes, yes)),
      ]),
    )
    const fresh = `dir/made-${i}/new.txt`
    await attempt('create', async () => port.create(roots, await at(fresh), bytes, yes))
    await attempt('move', async () =>
      port.move(roots, await at(fresh), await at(`up/mid/moved-${i}.txt`), await load(fresh), bytes, yes),
    )
    await attempt('carry', async () =>
      port.move(
        roots,
        await at(`up/mid/moved-${i}.txt`),
        await at(`dir/c-${i}.txt`),
        await load(`up/mid/moved-${i}.txt`),
        undefined,
        yes,
      ),
    )
    await attempt('remove', async () =>
      port.remove(roots, await at(`dir/c-${i}.txt`), await load(`dir/c-${i}.txt`), yes),
    )
  }
  racer.send('stop')
  await over
  t.comment(`${rounds.trim()} rounds of swaps; ${JSON.stringify(Object.fromEntries(met))}`)
  t.same(picture(place.outside), before)
  t.same(temps(place.top), [])
  for (const what of ['read', 'landed', 'PATH_OUTSIDE_WORKSPACE'])
    t.ok((met.get(what) ?? 0) > 0, `${what} was met, so it was a race`)
})
