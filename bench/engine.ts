/**
 * Milliseconds of processor time of one edit in process at three sizes: index and digest of the live text, parse of the ops, the pipeline, apply, digest of the result. Beside it what
 * cannot be avoided: one SHA-256 of the old and one of the new bytes. Prints; asserts nothing.
 *
 *     npm run build && node dist/bench/engine.js
 */
import { createHash } from 'node:crypto'
import type { Answers } from '../src/engine/facts.js'
import { run } from '../src/engine/facts.js'
import type { EngineBounds } from '../src/engine/input.js'
import { prepare } from '../src/engine/prepare.js'
import { revealBounds } from '../src/engine/reveal.js'
import { limits } from '../src/limits.js'
import { parseOps } from '../src/patch/parser.js'
import { Document } from '../src/text/document.js'
import { lineIds } from '../src/text/line-ids.js'
import { mapIds } from '../src/text/line-map.js'
import { LineSet } from '../src/text/line-set.js'

const bounds: EngineBounds = {
  reveal: revealBounds(false),
  expandedLines: limits.expandedLines,
  registerLines: limits.registerLines,
  registerBytes: limits.registerBytes,
  repairCandidates: limits.repairCandidates,
}

/** Processor time per round, which other work on the machine disturbs less than the clock on the wall. */
function measure(rounds: number, work: (round: number) => void): number {
  for (let i = 0; i < 20; i++) work(i)
  const before = process.cpuUsage()
  for (let i = 0; i < rounds; i++) work(i)
  const spent = process.cpuUsage(before)
  return (spent.user + spent.system) / 1_000 / rounds
}

for (const kilobytes of [10, 120, 1_200]) {
  const count = Math.round((kilobytes * 1_024) / 40)
  const text = Array.from({ length: count }, (_, i) => `line ${i} `.padEnd(39, 'abcdefgh') + '\n').join('')
  const bytes = Buffer.from(text)
  const seen = LineSet.all(count)
  const tagged = Document.trusted(bytes)
  const version = {
    tag: tagged.tag,
    versionDigest: tagged.versionDigest,
    textDigest: tagged.textDigest,
    seen,
    retained: true,
  }
  const middle = count >> 1
  const ops = (round: number): string =>
    `PUT ${middle}.=${middle + 1}:\n+edited ${round}\n+second\nCUT ${middle + 5}.=${middle + 6}`
  const edit = (live: Buffer, answers: Answers, round: number): void => {
    const document = Document.parse(live, limits.binaryProbeBytes)
    if (!(document instanceof Document)) throw new Error('not text')
    const input = { path: 'a.txt', ops: parseOps(ops(round)).ops, tag: tagged.tag, live: document, versions: [version] }
    const { result } = run(prepare(input, bounds), { language: () => false, ...answers })
    if (result.tag === tagged.tag && round < 0) throw new Error('no change')
  }
  const drifted = Buffer.from(`// a line that somebody put above\n${text}`)
  const answers: Answers = {
    text: () => tagged,
    lineMap: ({ from, to }) => mapIds(lineIds(from, to), { maxEdits: limits.diffMaxEdits, timeMs: 1_000 }),
  }
  const rounds = kilobytes > 1_000 ? 200 : 1_000
  const direct = measure(rounds, (round) => edit(bytes, {}, round))
  const recovered = measure(rounds, (round) => edit(drifted, answers, round))
  const floor = measure(rounds, () => {
    createHash('sha256').update(bytes).digest()
    createHash('sha256').update(drifted).digest()
  })
  const shown = (ms: number): string => `${ms.toFixed(3)} ms (${(ms / floor).toFixed(1)} ×)`
  console.log(
    `${kilobytes} KB: edit ${shown(direct)}, recovered ${shown(recovered)}, two digests alone ${floor.toFixed(3)} ms`,
  )
}
