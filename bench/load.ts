/**
 * The load test: agents call the service over loopback, and beside it a floor server that does only the I/O nobody can avoid.
 *
 *     npm run load                              every cell, about five minutes
 *     npm run load -- --seconds 10 --connections 16 --only read,edit-text --processes 1 --servers floor,memory
 *     npm run load -- --profile edit-text       where the processor time of one process goes
 *     npm run load -- --no-save                 prints and keeps nothing
 *
 * Cells of one kind follow each other on every server, so that what else the machine does touches all of them. A run is kept in bench/results/ by its date. Redis is left out where there
 * is no redis-server.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { packageRoot } from '../src/package-root.js'
import { profileReport } from './load-profile.js'
import type { Row } from './load-report.js'
import { figuresOf, tableOf } from './load-report.js'
import type { Group } from './load-servers.js'
import { startFloor, startRedis, startService } from './load-servers.js'
import type { Cell } from './load-traffic.js'
import { runCell, warmUpSeconds } from './load-traffic.js'

const kinds: Readonly<Record<string, Pick<Cell, 'mix' | 'kind'>>> = {
  read: { mix: { read: 100 }, kind: 'both' },
  grep: { mix: { grep: 100 }, kind: 'both' },
  'edit-text': { mix: { edit: 100 }, kind: 'text' },
  'edit-code': { mix: { edit: 100 }, kind: 'code' },
  write: { mix: { write: 100 }, kind: 'text' },
  mix: { mix: { read: 60, grep: 10, edit: 25, write: 5 }, kind: 'both' },
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '8' },
    processes: { type: 'string', default: '1,3' },
    servers: { type: 'string', default: 'floor,memory,redis' },
    only: { type: 'string', default: Object.keys(kinds).join(',') },
    profile: { type: 'string' },
    'no-save': { type: 'boolean', default: false },
  },
})
const numberOf = (text: string, most: number): number => {
  const number = Number(text)
  if (!(number >= 1 && number <= most)) throw new Error(`${text} is not a number from 1 to ${most}`)
  return number
}
const seconds = numberOf(values.seconds, 120)
const connections = numberOf(values.connections, 256)

const folder = mkdtempSync(join(tmpdir(), 'anchorline-load-'))
const workspaces = join(folder, 'workspaces')
const workspace = join(workspaces, 'load')
const scratch = join(folder, 'scratch')
for (const each of [workspace, scratch]) mkdirSync(each, { recursive: true })
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

function cellOf(what: string): Cell {
  const kind = kinds[what]
  if (kind === undefined) throw new Error(`${what} is none of ${Object.keys(kinds).join(', ')}`)
  return { ...kind, connections, seconds }
}

async function measureAll(): Promise<void> {
  const before = loadavg()[0] ?? 0
  const redis = values.servers.includes('redis') ? await startRedis() : undefined
  if (redis === undefined && values.servers.includes('redis')) console.log('no redis-server here: Redis is left out')
  const rows: Row[] = []
  for (const processes of values.processes.split(',').map((text) => numberOf(text, 16))) {
    const groups = await startGroups(processes, redis?.url)
    for (const what of values.only.split(',')) {
      for (const group of groups) {
        const row = { what, server: group.name, processes, outcome: await runCell(group, workspace, cellOf(what)) }
        rows.push(row)
        process.stderr.write(
          `${tableOf([...rows])
            .split('\n')
            .slice(rows.length === 1 ? 0 : -1)
            .join('\n')}\n`,
        )
      }
    }
    await Promise.all(groups.map((group) => group.stop()))
  }
  await redis?.stop()
  const report = reportOf(rows, before)
  console.log(report)
  if (!values['no-save']) save(report, rows)
}

async function startGroups(processes: number, redisUrl: string | undefined): Promise<Group[]> {
  const wanted = values.servers.split(',')
  const common = { workspaces, scratch, processes }
  return Promise.all([
    ...(wanted.includes('floor') ? [startFloor(workspaces, processes)] : []),
    ...(wanted.includes('memory') ? [startService(common)] : []),
    ...(redisUrl === undefined ? [] : [startService({ ...common, redisUrl })]),
  ])
}

function reportOf(rows: readonly Row[], loadBefore: number): string {
  return [
    `# Load test, ${new Date().toISOString().slice(0, 10)}`,
    '',
    `Node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB; load average before the run ${loadBefore.toFixed(1)}.`,
    `The generator shares the cores. ${connections} connections, one call at a time each; ${seconds} s a cell after ${warmUpSeconds} s of warm-up; ten files of 2 to 200 KB an agent; Read shows 200 lines.`,
    '"edit-text" edits files of no known language, "edit-code" TypeScript, which is parsed before the answer; the mix is read 60 %, grep 10 %, edit 25 %, write 5 % on both.',
    'The floor is bare Fastify: read, SHA-256, JSON; for a change also a temporary file, fsync and rename.',
    ...(loadBefore > availableParallelism() / 2
      ? [
          '**Other work kept the machine busy**, which a call of many steps suffers from more than one of few: the shares are a lower bound.',
        ]
      : []),
    '',
    tableOf(rows),
    '',
  ].join('\n')
}

function save(report: string, rows: readonly Row[]): void {
  const results = join(packageRoot(import.meta.url), 'bench', 'results')
  mkdirSync(results, { recursive: true })
  const name = join(results, `${new Date().toISOString().slice(0, 10)}-load`)
  writeFileSync(`${name}.md`, report)
  writeFileSync(`${name}.json`, `${JSON.stringify(rows.map(figuresOf), null, 1)}\n`)
}

async function profile(what: string): Promise<void> {
  const profiles = join(folder, 'profiles')
  mkdirSync(profiles)
  const nodeArgs = ['--cpu-prof', '--cpu-prof-dir', profiles]
  const group = await startService({ workspaces, scratch, processes: 1, nodeArgs })
  const outcome = await runCell(group, workspace, cellOf(what))
  await group.stop()
  const ended = performance.now()
  console.log(tableOf([{ what, server: 'memory', processes: 1, outcome }]))
  console.log(profileReport(profiles, { from: ended - outcome.from, until: ended - outcome.until }))
}

await (values.profile === undefined ? measureAll() : profile(values.profile))
