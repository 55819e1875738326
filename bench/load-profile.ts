/**
 * Where the processor time of a service goes: self time of a V8 profile, by file and by function. Reads the profiles that `node --cpu-prof` leaves behind.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** Milliseconds before the process ended: which part of its life is looked at. */
export interface Part {
  readonly from: number
  readonly until: number
}

/** Lines of text about the main thread. */
export function profileReport(folder: string, part: Part): string {
  const profiles = readdirSync(folder)
    .filter((name) => name.endsWith('.cpuprofile'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Profile)
  const main = profiles.find(({ nodes }) => nodes.some(({ callFrame }) => callFrame.url.endsWith('/src/main.js')))
  if (main === undefined) return 'no profile was written'
  const times = selfTimes(main, part)
  const total = totalOf(times)
  const byFile = new Map<string, number>()
  for (const [name, ms] of times) {
    const [, file = name] = / \((.*?)(?::\d+)?\)$/.exec(name) ?? []
    byFile.set(file, (byFile.get(file) ?? 0) + ms)
  }
  return [
    `busy for ${total.toFixed(0)} ms; share by file`,
    ...top(byFile, total, 25),
    '',
    'share by function',
    ...top(times, total, 30),
  ].join('\n')
}

const totalOf = (times: ReadonlyMap<string, number>): number => [...times.values()].reduce((sum, ms) => sum + ms, 0)

function selfTimes({ nodes, samples, timeDeltas }: Profile, part: Part): Map<string, number> {
  let left = timeDeltas.reduce((sum, each) => sum + each, 0) / 1_000
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const times = new Map<string, number>()
  for (const [at, id] of samples.entries()) {
    const ms = (timeDeltas[at] ?? 0) / 1_000
    left -= ms
    const name = names.get(id) ?? '?'
    if (left > part.from || left < part.until) continue
    if (name === '(idle)' || name === '(root)') continue
    times.set(name, (times.get(name) ?? 0) + ms)
  }
  return times
}

function nameOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  if (url === '') return functionName
  const file = url.replace(/^.*\/node_modules\//, '').replace(/^.*\/dist\//, '')
  return `${functionName || '(anonymous)'} (${file}:${lineNumber + 1})`
}

function top(times: ReadonlyMap<string, number>, total: number, count: number): string[] {
  return [...times]
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([name, ms]) => `${((100 * ms) / total).toFixed(1).padStart(5)} %  ${name}`)
}
