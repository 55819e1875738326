/**
 * What the disk side costs beside the bare calls it cannot do without: `node dist/bench/workspace.js`. Prints milliseconds per call, the median of many.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open, readFile, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWorkspace } from '../src/workspace/disk.js'
import { thisInstance } from '../src/workspace/temp-names.js'

const top = mkdtempSync(join(tmpdir(), 'anchorline-bench-'))
const folder = join(top, 'workspaces/ws/src/lib/deep')
mkdirSync(folder, { recursive: true })
const port = createWorkspace({
  ...{ workspacesDir: join(top, 'workspaces'), scratchDir: join(top, 'scratch'), externalRoots: [] },
  ...{ denyRead: [], denyWrite: ['**/.git', '**/.git/**'], instance: await thisInstance(), now: Date.now },
  random: () => randomBytes(8).toString('hex'),
})
const roots = await port.roots('ws', 'a-session-of-the-bench', [])

async function median(times: number, work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = []
  for (let i = 0; i < times; i++) {
    const started = performance.now()
    await work()
    taken.push(performance.now() - started)
  }
  return taken.sort((a, b) => a - b)[times >> 1] ?? 0
}

async function bareReplace(file: string, bytes: Buffer): Promise<void> {
  await readFile(file)
  const temp = await open(`${file}.tmp`, 'wx')
  await temp.writeFile(bytes)
  await temp.sync()
  await temp.close()
  await rename(`${file}.tmp`, file)
  const dir = await open(folder)
  await dir.sync()
  await dir.close()
}

for (const bytes of [10_000, 120_000, 1_200_000]) {
  const file = join(folder, `${bytes}.txt`)
  const text = Buffer.alloc(bytes, 'a row of text\n')
  writeFileSync(file, text)
  const path = `src/lib/deep/${bytes}.txt`
  const target = await port.resolve(roots, path, 'write')
  const load = async (): Promise<unknown> => port.load(roots, await port.resolve(roots, path, 'read'), 1 << 26)
  const replace = async (): Promise<unknown> =>
    port.replace(roots, target, await port.load(roots, target, 1 << 26), text, async () => {})
  const rows = {
    'bare read': await median(300, () => readFile(file)),
    'resolve and load': await median(300, load),
    'bare load and replace, durable': await median(40, () => bareReplace(file, text)),
    'load and replace': await median(40, replace),
  }
  for (const [what, ms] of Object.entries(rows))
    console.log(`${String(bytes).padStart(9)} bytes  ${ms.toFixed(3).padStart(8)} ms  ${what}`)
}
rmSync(top, { recursive: true })
