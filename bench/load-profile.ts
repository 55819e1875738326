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

/** Lines of text: the main thread, which is the one with the most samples that are not idle. */
export function profileReport(folder: string): string {
  const profiles = readdirSync(folder)
    .filter((name) => name.endsWith('.cpuprofile'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Profile)
  const busiest = profiles.map(selfTimes).sort((a, b) => totalOf(b) - totalOf(a))[0]
  if (busiest === undefined) return 'no profile was written'
  const total = totalOf(busiest)
  const byFile = new Map<string, number>()
  for (const [name, ms] of busiest) {
    const [, file = name] = / \((.*?)(?::\d+)?\)$/.exec(name) ?? []
    byFile.set(file, (byFile.get(file) ?? 0) + ms)
  }
  return [
    `busy for ${total.toFixed(0)} ms; share by file`,
    ...top(byFile, total, 25),
    '',
    'share by function',
    ...top(busiest, total, 30),
  ].join('\n')
}

const totalOf = (times: ReadonlyMap<string, number>): number => [...times.values()].reduce((sum, ms) => sum + ms, 0)

function selfTimes({ nodes, samples, timeDeltas }: Profile): Map<string, number> {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const times = new Map<string, number>()
  for (const [at, id] of samples.entries()) {
    const name = names.get(id) ?? '?'
    if (name === '(idle)' || name === '(root)') continue
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[at] ?? 0) / 1_000)
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
