/**
 * Real changes through boundary repair, as far as the installed packages hold them: a package that is there in two versions, and the two builds of one source.
 * Every change is written as a minimal diff; what repair makes of it is printed.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../src/package-root.js'
import { Document } from '../../src/text/document.js'
import type { Hunk, Slip } from './repair-replay.js'
import { emptySlips, emptyTally, printed, replay, replaySlips } from './repair-replay.js'

const modules = join(packageRoot(import.meta.url), 'node_modules')

/** Bytes of a file that is replayed, and hunks of it: a file is parsed once for each hunk that repair looks at. */
const maxBytes = 60_000
const maxHunks = 40

type Pair = readonly [from: string, to: string, renamed?: readonly [string, string]]

/** Every package below another one's node_modules, paired with the one at the top. */
function* versions(): Generator<Pair> {
  for (const entry of readdirSync(modules, { withFileTypes: true, recursive: true })) {
    if (!entry.isDirectory() || basename(entry.parentPath) !== 'node_modules' || entry.parentPath === modules) continue
    const inner = join(entry.parentPath, entry.name)
    const outer = join(modules, entry.name)
    if (versionOf(inner) !== versionOf(outer)) yield [inner, outer]
  }
}

function* builds(): Generator<Pair> {
  yield [join(modules, '@sinclair/typebox/build/cjs'), join(modules, '@sinclair/typebox/build/esm'), ['.js', '.mjs']]
  for (const name of readdirSync(modules)) {
    const dist = join(modules, name, 'dist')
    if (existsSync(join(dist, 'commonjs'))) yield [join(dist, 'commonjs'), join(dist, 'esm')]
  }
}

function versionOf(folder: string): unknown {
  const file = join(folder, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }).version : undefined
}

function* changes([from, to, renamed]: Pair): Generator<readonly [path: string, old: string, next: string]> {
  if (!existsSync(from) || !existsSync(to)) return
  for (const entry of readdirSync(from, { withFileTypes: true, recursive: true })) {
    const path = relative(from, join(entry.parentPath, entry.name))
    if (!entry.isFile() || path.includes('node_modules') || !/\.(?:[cm]?[jt]s|json|md)$/.test(path)) continue
    const other = join(to, renamed ? path.replace(renamed[0], renamed[1]) : path)
    if (!existsSync(other) || statSync(join(from, path)).size > maxBytes || statSync(other).size > maxBytes) continue
    const [old, next] = [readFileSync(join(from, path), 'utf8'), readFileSync(other, 'utf8')]
    if (old !== next) yield [path, old, next]
  }
}

t.test('the minimal diff between two real versions of a file comes out as it went in', async (t) => {
  const tally = emptyTally()
  for (const pair of [...versions(), ...builds()]) {
    for (const [path, old, next] of changes(pair)) {
      const before = tally.changed.length
      replay(path, old, next, tally, maxHunks)
      for (const changed of tally.changed.slice(before)) t.comment(printed(changed, Document.fromText(old)))
    }
  }
  const whole = tally.changed.filter(({ way }) => way === 'whole').length
  const single = tally.changed.length - whole
  t.comment(
    `${tally.files} files, ${tally.hunks} hunks; changed ${whole} of ${tally.judged.whole} in whole, ${single} of ${tally.judged.single} alone`,
  )
  t.ok(tally.judged.whole > 2_000, 'thousands of hunks')
  t.ok(whole * 5_000 < tally.judged.whole, 'fewer than 1 in 5,000 changed')
  // Half of a change often does not parse; then repair may see a slip where there is none.
  t.ok(single * 100 < tally.judged.single, 'fewer than 1 in 100 changed where each hunk stands alone')
})

t.test('a slip at the end of a range is mended, or left, but never made into something else', async (t) => {
  const slips = emptySlips()
  const print = (slip: Slip, hunk: Hunk, base: Document): void => {
    t.comment(printed({ path: slip, way: 'whole', hunk, said: 'made into something else' }, base))
  }
  for (const pair of versions())
    for (const [path, old, next] of changes(pair)) replaySlips(path, old, next, slips, 3, print)
  t.comment(JSON.stringify(slips))
  const all = (fate: 'mended' | 'other' | 'left broken'): number =>
    Object.values(slips).reduce((sum, of) => sum + of[fate], 0)
  t.ok(all('mended') > 200)
  t.ok(all('other') * 50 < all('mended'))
  t.ok(
    slips['swallows above'].mended + slips['swallows below'].mended > all('left broken'),
    'most swallowed rows come back',
  )
})
