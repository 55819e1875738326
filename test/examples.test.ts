/**
 * The example orchestrator against the real service on a real socket, and its types against the committed interface document.
 */
import { spawnSync } from 'node:child_process'
import { mkdir, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript'
import t from 'tap'
import { agentLoop } from '../examples/agent-loop.js'
import { packageRoot } from '../src/package-root.js'
import { closeServices, service } from './service.js'

t.teardown(closeServices)

t.test('the example plays its script: refused, retried with what the refusal showed, rolled back', async (t) => {
  const { app, root } = await service(t)
  await mkdir(join(root, 'workspaces', 'demo'))
  const shown = await agentLoop(await app.listen({ host: '127.0.0.1', port: 0 }))
  t.match(shown[1], /^EDIT_LINES_UNSEEN/)
  t.match(shown[4], /^EDIT_PARSE_FAILED/)
  t.match(shown.at(-1), /^applied/)
  t.same(await readdir(join(root, 'workspaces', 'demo')), [], 'it leaves no trace')
})

t.test('without a service it says so in one line', async (t) => {
  const script = fileURLToPath(new URL('../examples/agent-loop.js', import.meta.url))
  // Port 1 is reserved and nothing listens there.
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'http://127.0.0.1:1'], { encoding: 'utf8' })
  t.same({ status, stdout }, { status: 1, stdout: '' })
  t.match(stderr, /^http:\/\/127\.0\.0\.1:1 cannot be reached; start the service with npm start, or name its URL\n$/)
})

t.test('the types of its client are those of the interface document', async (t) => {
  const root = packageRoot(import.meta.url)
  const made = await openapiTS(pathToFileURL(join(root, 'openapi/openapi.json')), { defaultNonNullable: false })
  const committed = await readFile(join(root, 'examples/api.d.ts'), 'utf8')
  t.ok(committed === `${COMMENT_HEADER}${astToString(made)}`, 'npm run example:types makes them anew')
})
