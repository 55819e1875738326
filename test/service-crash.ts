/**
 * Rounds of killing the real process while several sessions write and edit over HTTP, and of looking at what it left (reading §8.4, §8.5). Not a test itself.
 *
 * Every version of a file is whole when its first and last line name the same generation and it has the right length; an answered write is on disk until
 * a later one replaces it.
 */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../src/main.js', import.meta.url))
const LINES = 2_000

export interface ServiceCrashReport {
  readonly rounds: number
  readonly answered: number
  readonly unanswered: number
  readonly faults: readonly string[]
}

/** `chance` gives numbers in [0, 1) and so the moments of the kills. One process serves a round; the next one sweeps what it left. */
export async function serviceCrashRounds(rounds: number, chance: () => number): Promise<ServiceCrashReport> {
  const top = mkdtempSync(join(tmpdir(), 'anchorline-crash-'))
  const dir = join(top, 'workspaces', 'w')
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'bystander.txt'), 'still here\n')
  const faults: string[] = []
  const newest = new Map<string, Bounds>()
  let [answered, unanswered] = [0, 0]
  let running: Running | undefined
  try {
    for (let round = 1; round <= rounds; round++) {
      const service = await start(top)
      running = service
      let begun = (): void => undefined
      const firstAnswer = new Promise<void>((resolve) => (begun = resolve))
      const writers = ['a.txt', 'b.txt', 'c.txt'].map((file) => write(service.url, file, newest, begun))
      await firstAnswer
      await sleep(chance() * 100)
      service.child.kill('SIGKILL')
      await once(service.child, 'close')
      for (const tally of await Promise.all(writers)) {
        answered += tally.answered
        unanswered += tally.unanswered
      }
      check(dir, newest, (what) => faults.push(`round ${round}: ${what}`))
    }
    const last = await start(top)
    running = last
    await sleep(500)
    last.child.kill('SIGTERM')
    await once(last.child, 'close')
    const temps = readdirSync(dir).filter((name) => name.startsWith('.anchorline-'))
    if (temps.length > 0) faults.push(`${temps.join(', ')} survived the sweep`)
  } finally {
    running?.child.kill('SIGKILL')
    rmSync(top, { recursive: true, force: true })
  }
  return { rounds, answered, unanswered, faults }
}

/** Generations of a file: the newest that was answered and the newest that was begun. */
interface Bounds {
  answered: number
  begun: number
}

interface Running {
  readonly child: ChildProcess
  readonly url: string
}

async function start(top: string): Promise<Running> {
  const child = spawn(process.execPath, [program], {
    env: {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      WORKSPACES_DIR: join(top, 'workspaces'),
      SCRATCH_DIR: join(top, 'scratch'),
      SYNTAX_WORKERS: '1',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let out = ''
  for await (const chunk of child.stdout) {
    out += String(chunk)
    const url = /listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(out)?.[1]
    if (url !== undefined) return { child, url }
  }
  throw new Error(`the service ended before it listened: ${out}`)
}

const textOf = (generation: number): string =>
  Array.from({ length: LINES }, (_, i) => `generation ${generation} line ${i + 1}\n`).join('')

/** Writes one generation after the other until the service is gone; every second one by an Edit of all lines. */
async function write(
  url: string,
  file: string,
  newest: Map<string, Bounds>,
  onAnswer: () => void,
): Promise<{ answered: number; unanswered: number }> {
  const bounds = newest.get(file) ?? { answered: 0, begun: 0 }
  newest.set(file, bounds)
  let answered = 0
  try {
    const { sessionId } = await post(`${url}/v1/sessions`, { workspace: 'w' })
    for (;;) {
      const generation = ++bounds.begun
      const content = textOf(generation)
      const calls = `${url}/v1/sessions/${String(sessionId)}`
      const edits = generation % 2 === 0 && answered > 0
      const answer = edits
        ? await post(`${calls}/edit`, {
            path: file,
            tag: await tagOf(calls, file),
            ops: `PUT 1.=${LINES}:\n${content.replace(/^/gm, '+').replace(/\n\+$/, '')}`,
          })
        : await post(`${calls}/write`, { path: file, content })
      if (typeof answer['tag'] !== 'string') throw new Error(`refused: ${JSON.stringify(answer).slice(0, 200)}`)
      bounds.answered = generation
      answered++
      onAnswer()
    }
  } catch (error) {
    onAnswer()
    if (error instanceof Error && error.message.startsWith('refused')) throw error
    return { answered, unanswered: 1 }
  }
}

async function tagOf(calls: string, file: string): Promise<unknown> {
  return (await post(`${calls}/read`, { path: file, limit: LINES }))['tag']
}

async function post(url: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await answer.json()) as Record<string, unknown>
}

function check(dir: string, newest: Map<string, Bounds>, fault: (what: string) => void): void {
  if (readFileSync(join(dir, 'bystander.txt'), 'utf8') !== 'still here\n') fault('another file changed')
  for (const [file, bounds] of newest) {
    if (bounds.begun === 0 || !readdirSync(dir).includes(file)) {
      if (bounds.answered > 0) fault(`${file} is gone`)
      continue
    }
    const text = readFileSync(join(dir, file), 'utf8')
    const generation = Number(/^generation (\d+) /.exec(text)?.[1] ?? NaN)
    if (text !== textOf(generation)) fault(`${file} is neither wholly old nor wholly new`)
    else if (generation < bounds.answered || generation > bounds.begun) {
      fault(`${file} is ${generation}, answered ${bounds.answered}, begun ${bounds.begun}`)
    }
    // What was begun and did not land never will: the next generation starts above it.
    bounds.answered = generation
  }
}
