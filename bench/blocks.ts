/**
 * Block resolution at three sizes, cold (a text that no thread has seen) and warm (the same text again), and the delay of the event loop while 4 MB parses run. Beside the
 * time on the clock stands the processor time of all threads, which other work on the machine changes little. Prints; asserts nothing.
 *
 *     npm run build && node dist/bench/blocks.js
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createSyntax } from '../src/syntax/pool.js'

const unit = (i: number): string =>
  `export function f${i}(a: number): number {\n  if (a > ${i}) {\n    return a\n  }\n  return f${i}(a + 1)\n}\n\n`

function textOf(bytes: number, salt: number): string {
  let text = `const salt = ${salt}\n`
  for (let i = 0; text.length < bytes; i++) text += unit(i)
  return text
}

function spread(times: number[]): string {
  times.sort((a, b) => a - b)
  const at = (share: number): string =>
    (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(1)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

const syntax = createSyntax()
const first = performance.now()
await syntax.blocksAt('a.ts', 'const a = {\n}\n', [1])
console.log(`first answer, thread and grammar included: ${(performance.now() - first).toFixed(0)} ms`)
const warming = process.cpuUsage()
await syntax.ready()
console.log(`all grammars loaded: ${(process.cpuUsage(warming).user / 1_000).toFixed(0)} ms of processor time`)
let declined = 0
const resolve = async (text: string): Promise<number> => {
  const started = performance.now()
  const [answer] = await syntax.blocksAt('a.ts', text, [2])
  // On a busy machine the largest text may not be parsed within its time limit.
  if (answer?.found !== true) declined++
  return performance.now() - started
}
let salt = 0
for (const [name, bytes, rounds] of [
  ['10 KB', 10_000, 100],
  ['200 KB', 200_000, 30],
  ['4 MB', 4_000_000, 5],
] as const) {
  const cold: number[] = []
  const warm: number[] = []
  const processor: number[] = []
  for (let i = 0; i < rounds; i++) {
    const text = textOf(bytes, salt++)
    const before = process.cpuUsage()
    cold.push(await resolve(text))
    const { user, system } = process.cpuUsage(before)
    processor.push((user + system) / 1_000)
    warm.push(await resolve(text))
  }
  console.log(`${name}: cold ${spread(cold)}, of processor time ${spread(processor)}; warm ${spread(warm)}`)
}
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
await Promise.all(Array.from({ length: 4 }, () => resolve(textOf(4_000_000, salt++))))
delay.disable()
console.log(
  `event loop while 4 MB parses run: p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, longest ${(delay.max / 1e6).toFixed(1)} ms`,
)
console.log(`${declined} calls declined`)
await syntax.close()
