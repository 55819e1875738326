/** The command that shows blocks, as whoever adds a language runs it. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

t.test('a file that cannot be read is told in one line', async (t) => {
  const script = fileURLToPath(new URL('../../src/syntax/show-blocks.js', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '/missing.ts'], { encoding: 'utf8' })
  t.same({ status, stdout }, { status: 1, stdout: '' })
  t.match(stderr, /^\/missing\.ts cannot be read: ENOENT[^\n]*\n$/)
})
