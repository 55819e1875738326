/**
 * Kills a process in the middle of its writes, again and again, and looks at what it left (contract of the workspace port: each commit lands wholly or changes
 * nothing). Called by crash.test.ts and, with many rounds, by test/long/crash.ts. Not a test itself.
 */
import { fork } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { generation, generationOf } from './generation.js'
import { picture, playground, temps, type Playground } from './playground.js'

export interface CrashReport {
  readonly rounds: number
  /** Rounds after which a temporary file was there to be swept. */
  readonly orphaned: number
  /** Generations that landed in all rounds together. */
  readonly landed: number
  /** What was wrong, in words; empty when nothing was. */
  readonly faults: readonly string[]
}

/** `chance` gives numbers in [0, 1) and so the moments of the kills. */
export async function crashRounds(rounds: number, chance: () => number): Promise<CrashReport> {
  const place = await playground()
  const faults: string[] = []
  let [orphaned, landed] = [0, 0]
  try {
    place.put('bystander.txt', 'still here\n')
    for (let round = 1; round <= rounds; round++) {
      place.put('main.txt', generation(0))
      rmSync(join(place.top, 'log'), { force: true })
      await killedAfter(place.top, chance() * 60)
      const fault = (what: string): void => void faults.push(`round ${round}: ${what}`)
      if (temps(place.top).length > 0) orphaned++
      landed += checkFiles(place, fault)
      const swept = await place.port.sweep(async () => false)
      if (!swept.complete || temps(place.top).length > 0) fault(`${temps(place.top).join(', ')} survived the sweep`)
      for (const name of ['made', 'moved']) rmSync(join(place.ws, name), { recursive: true, force: true })
      const left = Object.keys(picture(place.ws))
      if (left.join() !== 'bystander.txt,main.txt') fault(`left behind: ${left.join(', ')}`)
      if (place.text('bystander.txt') !== 'still here\n') fault('another file changed')
    }
  } finally {
    place.remove()
  }
  return { rounds, orphaned, landed, faults }
}

/** Starts the writing process and kills it so many milliseconds after it began. */
async function killedAfter(top: string, ms: number): Promise<void> {
  const child = fork(fileURLToPath(new URL('actor.js', import.meta.url)), ['write', top], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const gone = new Promise((exit) => child.once('exit', exit))
  await Promise.race([new Promise((ready) => child.once('message', ready)), gone])
  await new Promise((later) => setTimeout(later, ms))
  child.kill('SIGKILL')
  await gone
}

/** The generation of main.txt; it lies between the last that had landed and the last that was begun. */
function checkFiles(place: Playground, fault: (what: string) => void): number {
  const log = join(place.top, 'log')
  const rows = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []
  const last = (word: string): number => Number(rows.findLast((row) => row.startsWith(word))?.split(' ')[1] ?? 0)
  const main = generationOf(readFileSync(join(place.ws, 'main.txt')))
  if (main === undefined) fault('main.txt is neither wholly old nor wholly new')
  else if (main < last('landed') || main > last('begin'))
    fault(`main.txt is ${main}, landed ${last('landed')}, begun ${last('begin')}`)
  for (const [path, bytes] of Object.entries(picture(place.ws))) {
    if (!/^(made|moved)\/.*[^/]$/.test(path) || path.includes('.anchorline-')) continue
    if (generationOf(Buffer.from(bytes, 'latin1')) === undefined) fault(`${path} is not whole`)
  }
  return main ?? 0
}
