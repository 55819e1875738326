/**
 * How often boundary repair changes what real people wrote: replays the changes between published versions of packages, prints each hunk that repair changed.
 *
 *     node .build/NAME/bench/repair-replay.js [folder]
 *
 * Fetches neighbouring versions of a few packages with the ordinary npm client into a temporary folder (or one that is given and kept) and needs the
 * network for that. Not a test: the test of the same kind runs on files at hand.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { isUtf8 } from 'node:buffer'
import { Document } from '../src/text/document.js'
import type { Changed, Tally } from '../test/engine/repair-replay.js'
import { emptySlips, emptyTally, printed, replay, replaySlips } from '../test/engine/repair-replay.js'

/** Name and two neighbouring versions. Chosen for many languages and for hands that write by themselves: sources, not bundles. */
const pairs: readonly (readonly [name: string, from: string, to: string])[] = [
  ['express', '4.18.3', '4.21.0'],
  ['lodash', '4.17.15', '4.17.21'],
  ['rxjs', '7.5.0', '7.8.1'],
  ['vue', '3.3.0', '3.4.0'],
  ['eslint', '8.40.0', '8.57.0'],
  ['webpack', '5.80.0', '5.95.0'],
  ['axios', '1.3.0', '1.7.0'],
  ['zod', '3.21.0', '3.23.8'],
  ['bootstrap', '5.2.0', '5.3.3'],
  ['node-gyp', '9.0.0', '10.2.0'],
  ['fastify', '4.10.0', '5.0.0'],
  ['prettier', '2.8.0', '2.8.8'],
  ['three', '0.155.0', '0.160.0'],
  ['@babel/traverse', '7.20.0', '7.25.0'],
  ['@types/node', '20.1.0', '20.16.0'],
  ['react-native', '0.72.0', '0.73.0'],
  ['tree-sitter-rust', '0.21.0', '0.24.0'],
  ['svelte', '4.0.0', '4.2.19'],
  ['date-fns', '2.29.0', '2.30.0'],
  ['nan', '2.17.0', '2.22.0'],
]

/** Bytes of a file that is replayed: parsing a file once for each of its hunks takes as long as the file is large. */
const maxBytes = 150_000
const maxHunksPerFile = 60
/** Hunks of a file in which slips are made, each in a call with all the others. */
const maxSlippedHunks = 6

function unpacked(folder: string, name: string, version: string): string {
  const target = join(folder, `${name.replace('/', '+')}-${version}`)
  if (existsSync(target)) return target
  const out = execFileSync('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', folder], {
    encoding: 'utf8',
  })
  mkdirSync(target)
  execFileSync('tar', [
    '-xzf',
    join(folder, out.trim().split('\n').at(-1) ?? ''),
    '-C',
    target,
    '--strip-components',
    '1',
  ])
  return target
}

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile() && !/\.min\.|\.map$|bundle/.test(entry.name))
      yield relative(folder, join(entry.parentPath, entry.name))
  }
}

function textOf(path: string): string | undefined {
  if (!existsSync(path) || statSync(path).size > maxBytes) return undefined
  const bytes = readFileSync(path)
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : undefined
}

function replayPair(from: string, to: string, tally: Tally): void {
  for (const path of filesIn(from)) {
    const old = textOf(join(from, path))
    const next = textOf(join(to, path))
    if (old === undefined || next === undefined || old === next) continue
    const before = tally.changed.length
    replay(path, old, next, tally, maxHunksPerFile)
    replaySlips(path, old, next, slipped, maxSlippedHunks, (slip, hunk, base) =>
      console.log(`\n${printed({ path, way: 'whole', hunk, said: `${slip}: made into something else` }, base)}`),
    )
    for (const changed of tally.changed.slice(before)) console.log(`\n${printed(changed, Document.fromText(old))}`)
  }
}

function summary(tally: Tally, way: Changed['way']): string {
  const own = tally.changed.filter((changed) => changed.way === way)
  const count = (is: (said: string) => boolean): number => own.filter(({ said }) => is(said)).length
  const refused = count((said) => said.startsWith('refused'))
  const kept = count((said) => said.includes('kept')) - refused
  return `${way}: ${tally.judged[way]} replacements judged, ${count((said) => said.includes('dropped'))} lost restated rows, ${kept} kept a row, ${refused} refused`
}

const given = process.argv[2]
const folder = given ?? mkdtempSync(join(tmpdir(), 'repair-replay-'))
mkdirSync(folder, { recursive: true })
const total = emptyTally()
const slipped = emptySlips()
try {
  for (const [name, from, to] of pairs) {
    const started = performance.now()
    const before = total.replacements
    replayPair(unpacked(folder, name, from), unpacked(folder, name, to), total)
    console.log(
      `# ${name} ${from} → ${to}: ${total.replacements - before} replacements, ${((performance.now() - started) / 1000).toFixed(1)} s`,
    )
  }
} finally {
  if (given === undefined) rmSync(folder, { recursive: true })
}
console.log(
  `# ${total.files} files, ${total.hunks} hunks, ${total.replacements} replacements, ${total.verdicts} texts parsed`,
)
console.log(`# ${summary(total, 'whole')}`)
console.log(`# ${summary(total, 'single')}`)
console.table(slipped)
