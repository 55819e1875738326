/**
 * The floor of the load test: bare Fastify doing for each call only what no implementation can leave out. Read: the file, its SHA-256, the window as JSON. Grep: ripgrep,
 * and the SHA-256 of the files with a hit. Edit: the file and its SHA-256, one line replaced, the SHA-256 of the result, a temporary file, fsync, rename. Write: the last four.
 *
 * It has no sessions, checks nothing and must never serve anybody: whatever path it is given it opens. Listens on loopback. Started by the load test.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rgPath } from '@vscode/ripgrep'
import fastify from 'fastify'

interface Call {
  Params: { sessionId: string }
  Body: { path: string; offset: number; limit: number; ops: string; content: string; pattern: string }
}

const workspace = join(process.env['WORKSPACES_DIR'] ?? '', 'load')
const app = fastify({ bodyLimit: 16 * 1024 * 1024 })
const run = promisify(execFile)
let made = 0

const tagOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex').slice(-4).toUpperCase()

/** The offset of the `n`th line, 0-based; the length of the text when there are fewer. */
function lineStart(bytes: Buffer, n: number, from = 0): number {
  let at = from
  for (let i = 0; i < n; i++) {
    const end = bytes.indexOf(10, at)
    if (end === -1) return bytes.length
    at = end + 1
  }
  return at
}

async function replaceFile(path: string, bytes: Buffer): Promise<void> {
  const temporary = `${path}.${process.pid}.${made++}`
  const handle = await open(temporary, 'wx')
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, path)
}

app.get('/readyz', async () => ({ status: 'ready' }))
app.post('/v1/sessions', async () => ({ sessionId: 'floor' }))
app.delete('/v1/sessions/:sessionId', async () => ({}))

app.post<Call>('/v1/sessions/:sessionId/read', async ({ body: { path, offset, limit } }) => {
  const bytes = await readFile(join(workspace, path))
  const tag = tagOf(bytes)
  const start = lineStart(bytes, offset - 1)
  const end = lineStart(bytes, limit, start)
  return { path, tag, offset, content: bytes.toString('utf8', start, end), fileBytes: bytes.length }
})

app.post<Call>('/v1/sessions/:sessionId/grep', async ({ body: { path, pattern } }) => {
  const args = [
    '--no-config',
    '--line-number',
    '--no-heading',
    '--with-filename',
    '-e',
    pattern,
    '--',
    join(workspace, path),
  ]
  const { stdout } = await run(rgPath, args, { maxBuffer: 16 * 1024 * 1024 })
  const matches = stdout
    .split('\n')
    .filter((row) => row !== '')
    .map((row) => {
      const [file = '', line = '', ...text] = row.split(':')
      return { path: file, line: Number(line), text: text.join(':') }
    })
  const tags: Record<string, string> = {}
  for (const file of new Set(matches.map((match) => match.path))) tags[file] = tagOf(await readFile(file))
  return { matches, tags }
})

app.post<Call>('/v1/sessions/:sessionId/edit', async ({ body: { path, ops } }) => {
  const file = join(workspace, path)
  const bytes = await readFile(file)
  const previousTag = tagOf(bytes)
  const [, line = '1', text = ''] = /^PUT (\d+)\.=\d+:\n\+(.*)$/.exec(ops) ?? []
  const start = lineStart(bytes, Number(line) - 1)
  const end = lineStart(bytes, 1, start)
  const result = Buffer.concat([bytes.subarray(0, start), Buffer.from(`${text}\n`), bytes.subarray(end)])
  await replaceFile(file, result)
  return { path, tag: tagOf(result), previousTag }
})

app.post<Call>('/v1/sessions/:sessionId/write', async ({ body: { path, content } }) => {
  const bytes = Buffer.from(content)
  await replaceFile(join(workspace, path), bytes)
  return { path, tag: tagOf(bytes), bytes: bytes.length }
})

process.once('SIGTERM', () => process.exit(0))
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) })
