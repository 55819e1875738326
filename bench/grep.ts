/**
 * Grep beside ripgrep itself on one tree, what other calls feel while it runs, and what a window of a huge file costs. Prints; asserts nothing.
 *
 *     npm run build && node dist/bench/grep.js [megabytes of the tree = 60] [megabytes of the file = 1024]
 *
 * Rounds of both alternate, so that other work on the machine hits them alike; figures are medians. "rg" is one run that prints the matching lines with their numbers,
 * under the same ignore rules; Grep sorts by age, loads and hashes every file that it shows, finds its lines again in the loaded bytes and records them.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { rgPath } from '@vscode/ripgrep'
import { limits } from '../src/limits.js'
import { createMemoryStore } from '../src/sessions/memory.js'
import { createSyntax } from '../src/syntax/pool.js'
import { createTools } from '../src/tools/create-tools.js'
import { noMetrics } from '../src/tools/metrics.js'
import type { Call } from '../src/tools/tools.js'
import { createWorkspace } from '../src/workspace/disk.js'
import { createSaveHooks } from '../src/workspace/hooks.js'
import { createSearch } from '../src/workspace/search.js'
import { thisInstance } from '../src/workspace/temp-names.js'

const run = promisify(execFile)
const rounds = 11
const [treeMegabytes = 60, fileMegabytes = 1_024] = process.argv.slice(2).map(Number)
const top = realpathSync(mkdtempSync(join(tmpdir(), 'anchorline-bench-')))
const workspace = join(top, 'workspaces', 'w')

/** Source-like files of 5 to 40 KB in 200 directories; `needle` stands on one line in 2,000, `gen/` is ignored. */
function makeTree(): number {
  const words = [
    'const',
    'value',
    'return',
    'function',
    'import',
    'export',
    'await',
    'class',
    'string',
    'number',
    'for',
    'Map',
    'path',
    'line',
  ]
  let state = 7
  const dice = (n: number): number => ((state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0) >>> 8) % n
  let bytes = 0
  let files = 0
  for (; bytes < treeMegabytes * 1_000_000; files++) {
    let text = ''
    for (let line = 100 + dice(600); line > 0; line--) {
      const row = Array.from({ length: 6 }, () => words[dice(words.length)]).join(' ')
      text += `${'  '.repeat(dice(4))}${row}${dice(2_000) === 0 ? ' needle' : ''}\n`
    }
    const at = join(workspace, files % 20 === 0 ? 'gen' : `p${files % 20}`, `d${files % 10}`, `f${files}.ts`)
    mkdirSync(dirname(at), { recursive: true })
    writeFileSync(at, text)
    bytes += text.length
  }
  writeFileSync(join(workspace, '.gitignore'), 'gen/\n*.log\n')
  return files
}

const median = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

/** Milliseconds of processor time of this process and of the children that it has waited for; Linux tells both. */
function processorTime(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0)
  return ticks * 10
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

async function main(): Promise<void> {
  const files = makeTree()
  const store = createMemoryStore({
    now: Date.now,
    monotonic: () => performance.now(),
    random: () => randomBytes(16).toString('base64url'),
  })
  const syntax = createSyntax({ maxWorkers: 1 })
  const tools = createTools({
    store,
    workspace: createWorkspace({
      workspacesDir: join(top, 'workspaces'),
      scratchDir: join(top, 'scratch'),
      externalRoots: [],
      denyRead: [],
      denyWrite: [],
      instance: await thisInstance(),
      random: () => randomBytes(12).toString('hex'),
      now: Date.now,
    }),
    syntax,
    search: createSearch(),
    hooks: createSaveHooks([], limits.binaryProbeBytes),
    metrics: noMetrics,
    log: { warn: () => undefined, error: () => undefined },
    settings: { ...limits },
    now: Date.now,
    randomId: () => randomBytes(18).toString('base64url'),
  })
  const caller = { tenant: 'bench' }
  const { sessionId } = await tools.createSession(caller, { workspace: 'w' })
  const call: Call = { caller, sessionId, requestId: 'bench', signal: new AbortController().signal }
  console.log(`tree of ${files} files, ${treeMegabytes} MB`)

  const searches = [
    ['content, 200 of many rows', 'needle', 'content'],
    ['content, a pattern without literal', 'p\\w+ l\\w+ needle', 'content'],
    ['content, no match', 'haystack', 'content'],
    ['filesWithMatches', 'needle', 'filesWithMatches'],
    ['count', 'needle', 'count'],
  ] as const
  for (const [name, pattern, outputMode] of searches) {
    const mode = { content: '--line-number', filesWithMatches: '--files-with-matches', count: '--count' }[outputMode]
    const args = ['--no-config', '--hidden', '--no-require-git', '--glob=!.git', mode, `--regexp=${pattern}`, '.']
    const times = { rg: [] as number[], grep: [] as number[] }
    const spent = { rg: 0, grep: 0 }
    const byRipgrep = (): Promise<unknown> =>
      run(rgPath, args, { cwd: workspace, maxBuffer: 1 << 28 }).catch(() => undefined)
    for (let round = 0; round < rounds; round++) {
      const before = processorTime()
      times.rg.push(await timed(byRipgrep))
      const between = processorTime()
      times.grep.push(await timed(() => tools.grep(call, { pattern, outputMode })))
      spent.rg += between - before
      spent.grep += processorTime() - between
    }
    const [rg, grep] = [median(times.rg), median(times.grep)]
    console.log(
      `${name}: rg ${rg.toFixed(0)} ms, Grep ${grep.toFixed(0)} ms, ratio ${(grep / rg).toFixed(2)}; ` +
        `processor time ${(spent.rg / rounds).toFixed(0)} and ${(spent.grep / rounds).toFixed(0)} ms`,
    )
  }

  writeFileSync(join(workspace, 'small.txt'), 'one\ntwo\n')
  const read = (): Promise<unknown> => tools.read(call, { path: 'small.txt' })
  const calm: number[] = []
  for (let i = 0; i < 200; i++) calm.push(await timed(read))
  const busy: number[] = []
  let searching = true
  const load = Promise.all(
    Array.from({ length: 8 }, () => tools.grep(call, { pattern: '(\\w+ )+needle' }).catch(() => undefined)),
  ).then(() => (searching = false))
  while (searching) busy.push(await timed(read))
  await load
  const high = (times: readonly number[]): number =>
    [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0
  console.log(
    `Read of a small file: median ${median(calm).toFixed(1)} ms, 99th ${high(calm).toFixed(1)} ms; ` +
      `beside eight searches: median ${median(busy).toFixed(1)} ms, 99th ${high(busy).toFixed(1)} ms (${busy.length} reads)`,
  )

  for (const [name, chunk] of [
    ['lines of 64 bytes', Buffer.from(`${'x'.repeat(63)}\n`.repeat(16_384))],
    ['lines of 64 bytes that end in CRLF', Buffer.from(`${'x'.repeat(62)}\r\n`.repeat(16_384))],
    ['one line', Buffer.alloc(1_048_576, 'x')],
  ] as const) {
    const huge = openSync(join(workspace, 'huge.txt'), 'w')
    for (let i = 0; i < fileMegabytes; i++) writeSync(huge, chunk)
    closeSync(huge)
    const before = process.memoryUsage().rss
    let peak = before
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5)
    const offset = chunk.includes(10) ? Math.floor((fileMegabytes * 16_384) / 2) : 1
    const seconds = (await timed(() => tools.read(call, { path: 'huge.txt', offset, limit: 100 }))) / 1_000
    clearInterval(watch)
    console.log(
      `Read of 100 lines of ${fileMegabytes} MB, ${name}: ${seconds.toFixed(2)} s, ` +
        `memory grew by ${((peak - before) / 1_048_576).toFixed(0)} MiB`,
    )
  }
  await syntax.close()
  await store.close()
}

try {
  await main()
} finally {
  rmSync(top, { recursive: true, force: true })
}
