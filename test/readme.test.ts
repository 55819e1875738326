/** The first edit of the README, played as a reader pastes it: the real service on a real socket, bash, curl, and a copy of the demo workspace. */
import { execFile } from 'node:child_process'
import { cp, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { packageRoot } from '../src/package-root.js'
import { programPath } from './programs.js'
import { closeServices, service } from './service.js'

t.teardown(closeServices)

const root = packageRoot(import.meta.url)
const readme = await readFile(join(root, 'README.md'), 'utf8')
const section = /^## A first edit\n(.*?)^## /ms.exec(readme)?.[1] ?? ''
const blocks = [...section.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, body = '']) => ({ language, body }))
const commands = blocks.filter(({ language }) => language === 'sh').map(({ body }) => body)
const outputs = blocks.filter(({ language }) => language === '').map(({ body }) => body)

t.test('the first edit of the README prints what it shows, and once more after that', async (t) => {
  t.equal(commands.length, 3)
  for (const name of ['bash', 'curl'])
    if (programPath({ names: [name], debianPackage: name }) === undefined) throw new Error(`this test needs ${name}`)
  const s = await service(t)
  const demo = join(s.root, 'workspaces', 'demo')
  await cp(join(root, 'workspaces/demo'), demo, { recursive: true })
  const before = await readFile(join(demo, 'src/inventory.ts'), 'utf8')
  const url = await s.app.listen({ host: '127.0.0.1', port: 0 })
  const script = commands.join('echo ---\n').replace('http://127.0.0.1:8080', url)
  for (const time of ['first', 'second']) {
    const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
      cwd: s.root,
    })
    t.equal(stderr, '')
    const shown = stdout.replaceAll(/#[0-9A-F]{4}\b/g, '#TAG').replaceAll(/\btag [0-9A-F]{4}\b/g, 'tag TAG')
    t.same(shown.split('---\n'), outputs, `the ${time} time`)
    t.equal(await readFile(join(demo, 'src/inventory.ts'), 'utf8'), before, 'the file is as it was')
    t.same(
      (await readdir(s.root)).filter((name) => name.endsWith('.json')),
      [],
    )
  }
})
