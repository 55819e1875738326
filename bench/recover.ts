/**
 * What drift recovery costs and how much of it succeeds.
 *
 *     node bench/recover.js                     time by size of file and number of foreign hunks
 *     node bench/recover.js replay OLD NEW      two folders: edits of the older files, replayed on the newer ones
 *     node bench/recover.js history REPO [N]    the same over consecutive versions of every file in the last N commits of a git repository
 *
 * A replay makes edits whose named lines the newer version left together and unchanged, and prints how many were recovered and why others declined.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { place, proveAnchors } from '../src/engine/recover.js'
import { resolvedOp } from '../src/engine/resolved.js'
import type { ResolvedOp } from '../src/engine/resolved.js'
import type { DeclineReason } from '../src/errors/declines.js'
import { limits } from '../src/limits.js'
import { Document } from '../src/text/document.js'
import { lineIds } from '../src/text/line-ids.js'
import type { UnchangedRun } from '../src/text/line-map.js'
import { documentMap, mapIds } from '../src/text/line-map.js'
import { LineRange } from '../src/text/line-range.js'

const bounds = { maxEdits: limits.diffMaxEdits, timeMs: limits.diffTimeMs }

/** A small generator of numbers below `n`, the same on every run. */
function dice(seed: number): (n: number) => number {
  let state = seed
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return (state >>> 8) % n
  }
}

// — time —

/** Something like source text: functions with repeated closers and blank lines between them. */
function source(bytes: number): string[] {
  const lines: string[] = []
  for (let size = 0, i = 0; size < bytes; i++) {
    const block = [
      `export function handler${i}(request, reply) {`,
      `  const value = lookup(request.params.id, ${i})`,
      '  if (value === undefined) {',
      `    reply.code(404).send({ error: 'missing ${i}' })`,
      '    return',
      '  }',
      `  reply.send({ value, at: ${i * 7} })`,
      '}',
      '',
    ]
    lines.push(...block)
    size += block.join('\n').length + 1
  }
  return lines
}

/** `hunks` changes spread over the text: lines changed, added, deleted, and functions added. */
function drift(lines: readonly string[], hunks: number): string[] {
  const roll = dice(7)
  const result: string[] = []
  let from = 0
  for (let hunk = 0; hunk < hunks; hunk++) {
    const at = Math.floor(((hunk + 0.25) * lines.length) / hunks)
    result.push(...lines.slice(from, at))
    const kind = roll(4)
    if (kind === 0) result.push(`// changed ${hunk}`)
    else if (kind === 1) result.push(`  log(${hunk})`, '')
    else if (kind === 2) result.push(`function added${hunk}() {`, '    return', '  }', '}', '')
    from = kind === 1 || kind === 2 ? at : at + 1
  }
  return [...result, ...lines.slice(from)]
}

function replaceLine(line: number): ResolvedOp {
  const range = LineRange.inclusive(line, line)
  const written = { opsLine: 1, header: `PUT ${line}.=${line}:` }
  const op = { kind: 'put', at: { kind: 'range', first: line, last: line }, rows: ['new'], ...written } as const
  return resolvedOp(op, range, op.rows, 'body', [range])
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? 0
}

/** Milliseconds of processor time, so that a busy machine does not change the picture. */
function spent(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function timeTable(): void {
  console.log(
    'file      hunks   lines numbered      map    proof    apply    total ms  outcome (median processor time of 40)',
  )
  for (const bytes of [10_000, 120_000, 1_200_000]) {
    const lines = source(bytes)
    for (const hunks of [1, 20, 500]) {
      if (hunks * 4 > lines.length) continue
      const tagged = Document.fromText(lines.join('\n') + '\n')
      const live = Document.fromText(drift(lines, hunks).join('\n') + '\n')
      const target = lines.findIndex((line, i) => i > lines.length / 2 && line.startsWith('  reply.send')) + 1
      const steps: number[][] = [[], [], [], [], []]
      let outcome = ''
      for (let round = 0; round < 40; round++) {
        const times = [spent()]
        const ids = lineIds(tagged, live)
        times.push(spent())
        const map = mapIds(ids, bounds, () => performance.now())
        times.push(spent())
        const ops = [replaceLine(target)]
        const proof = proveAnchors({ tagged, live, ops, seen: 'unknown', map })
        const placed = proof.proven ? place(proof, ops) : proof
        times.push(spent())
        if ('edit' in placed) placed.edit.apply(live)
        times.push(spent())
        outcome = 'edit' in placed ? 'recovered' : placed.reason.kind
        for (let i = 0; i < 4; i++) steps[i]?.push((times[i + 1] ?? 0) - (times[i] ?? 0))
        steps[4]?.push((times[4] ?? 0) - (times[0] ?? 0))
      }
      const [numbered, map, proof, apply, total] = steps.map((s) => median(s).toFixed(2).padStart(9))
      const size = `${Math.round(bytes / 1000)} KB`.padEnd(8)
      console.log(
        `${size} ${String(hunks).padStart(6)} ${String(lines.length).padStart(7)}${numbered}${map}${proof}${apply}${total}     ${outcome}`,
      )
    }
  }
}

// — replay —

interface Tally {
  pairs: number
  edits: number
  recovered: number
  /** Recovered although the anchors with their neighbours stand in the newer text more than once. */
  repeated: number
  readonly declined: Map<string, number>
  readonly examples: Map<string, string>
}

const newTally = (): Tally => ({
  pairs: 0,
  edits: 0,
  recovered: 0,
  repeated: 0,
  declined: new Map(),
  examples: new Map(),
})

/** Up to forty edits per pair, of one to five lines, half of them near a change. */
function replayPair(name: string, older: Buffer, newer: Buffer, untouched: Tally, apart: Tally): void {
  const tagged = Document.parse(older, limits.binaryProbeBytes)
  const live = Document.parse(newer, limits.binaryProbeBytes)
  if (!(tagged instanceof Document) || !(live instanceof Document) || tagged.versionDigest === live.versionDigest)
    return
  const map = documentMap(tagged, live, bounds)
  if ('gaveUp' in map) return
  untouched.pairs++
  apart.pairs++
  const roll = dice(tagged.lineCount * 31 + live.lineCount)
  const liveRows = live.trimmedLines()
  for (let i = 0; i < 40; i++) {
    const run = map.runs[roll(map.runs.length)]
    if (!run) return
    const length = Math.min(1 + roll(5), run.length)
    const atEdge = roll(4)
    const at = atEdge === 0 ? 0 : atEdge === 1 ? run.length - length : roll(run.length - length + 1)
    const range = new LineRange(run.from + at, run.from + at + length)
    const op = { ...replaceLine(range.start), range, replacements: [{ range, rows: ['new'] }], anchors: [range] }
    const proof = proveAnchors({ tagged, live, ops: [op], seen: 'unknown', map })
    const inside = neighbours(range, run, tagged, live) === 2
    count(untouched, proof, `${name}:${range.start}`)
    if (inside) count(apart, proof, `${name}:${range.start}`)
    if (proof.proven && repeats(tagged, liveRows, range)) {
      untouched.repeated++
      if (inside) apart.repeated++
    }
  }
}

function neighbours(range: LineRange, run: UnchangedRun, tagged: Document, live: Document): number {
  const above = range.start > run.from || (run.from === 1 && run.to === 1)
  const end = run.from + run.length
  const below = range.end < end || (end > tagged.lineCount && run.to + run.length > live.lineCount)
  return Number(above) + Number(below)
}

function count(tally: Tally, proof: { proven: true } | { proven: false; reason: DeclineReason }, where: string): void {
  tally.edits++
  if (proof.proven) tally.recovered++
  else {
    const { kind } = proof.reason
    tally.declined.set(kind, (tally.declined.get(kind) ?? 0) + 1)
    if (!tally.examples.has(kind)) tally.examples.set(kind, where)
  }
}

function repeats(tagged: Document, liveRows: readonly string[], range: LineRange): boolean {
  const first = Math.max(1, range.start - 1)
  const last = Math.min(tagged.lineCount, range.end)
  const wanted = Array.from({ length: last - first + 1 }, (_, i) => tagged.trimmed(first + i))
  let found = 0
  for (let at = 0; at + wanted.length <= liveRows.length; at++) {
    if (wanted.every((row, i) => row === liveRows[at + i])) found++
  }
  return found > 1
}

function print(title: string, tally: Tally): void {
  const share = ((100 * tally.recovered) / Math.max(1, tally.edits)).toFixed(2)
  console.log(
    `${title}: ${tally.pairs} pairs of versions, ${tally.edits} edits, ${tally.recovered} recovered (${share} %)`,
  )
  console.log(`  of these ${tally.repeated} whose lines and neighbours occur more than once in the newer text`)
  for (const [kind, times] of [...tally.declined].sort((a, b) => b[1] - a[1])) {
    console.log(`  declined: ${kind} ${times} (${tally.examples.get(kind) ?? ''})`)
  }
}

const titles = ['named lines untouched', 'named lines and both neighbours untouched'] as const

function replayFolders(older: string, newer: string): void {
  const tallies = [newTally(), newTally()] as const
  for (const path of filesBelow(older)) {
    const now = join(newer, relative(older, path))
    if (existsSync(now) && statSync(path).size < limits.retainedBytesPerFile) {
      replayPair(relative(older, path), readFileSync(path), readFileSync(now), ...tallies)
    }
  }
  titles.forEach((title, i) => print(title, tallies[i] ?? newTally()))
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

function replayHistory(repository: string, commits: number): void {
  const git = (...args: string[]): Buffer =>
    execFileSync('git', ['-C', repository, ...args], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] })
  const tallies = [newTally(), newTally()] as const
  const hashes = git('log', '--no-merges', '--format=%H', '-n', String(commits)).toString().split('\n').filter(Boolean)
  for (const hash of hashes) {
    const changed = git('diff-tree', '-r', '--no-commit-id', '--diff-filter=M', '--raw', '-z', hash)
      .toString()
      .split('\0')
    for (let i = 0; i + 1 < changed.length; i += 2) {
      const [, , before = '', after = ''] = (changed[i] ?? '').split(' ')
      replayPair(changed[i + 1] ?? '', git('cat-file', 'blob', before), git('cat-file', 'blob', after), ...tallies)
    }
  }
  titles.forEach((title, i) => print(title, tallies[i] ?? newTally()))
}

const [mode, first = '', second = ''] = process.argv.slice(2)
if (mode === 'replay') replayFolders(first, second)
else if (mode === 'history') replayHistory(first, Number(second || 500))
else timeTable()
