/**
 * Near names for a path that does not exist (contract §9.2 in spirit; issued with NOT_FOUND).
 *
 * Looks in the folder where the path stopped existing, then for the same file name elsewhere, nearest folders first, within a bound on folders and names.
 * Never follows links, never names what DENY_READ covers, never leaves the root of the path. Called by the port.
 */
import { posix } from 'node:path'
import type { Denies } from './deny.js'
import { entriesOf, type Entry, type OpenDirectory } from './directory.js'
import { relativeTo, rootOf, shown, type RootOf } from './paths.js'
import type { Roots, Target } from './port.js'
import { isTempName } from './temp-names.js'

export interface NearBounds {
  readonly nearNames: number
  readonly nearDirectories: number
  readonly nearEntries: number
}

/** How near: spelled alike but for Unicode form and case, the same name elsewhere, or a slip of the pen. */
const rank = { alike: 0, elsewhere: 1, slip: 2 } as const

interface Candidate {
  readonly path: string
  readonly rank: (typeof rank)[keyof typeof rank]
  readonly distance: number
}

/** As many as there are threads for the file system. */
const foldersAtOnce = 4

/** Names that differ only in Unicode form, width or case fold to one text. */
export function folded(name: string): string {
  return name.normalize('NFKC').toLowerCase().normalize('NFKC')
}

export class NearNames {
  private directoriesLeft: number
  private entriesLeft: number
  private readonly found: Candidate[] = []

  private constructor(
    private readonly openDirectory: OpenDirectory,
    private readonly root: RootOf,
    private readonly denyRead: Denies,
    bounds: NearBounds,
  ) {
    this.directoriesLeft = bounds.nearDirectories
    this.entriesLeft = bounds.nearEntries
  }

  /** Existing paths near the target, nearest first, in the form in which they are shown. */
  static async of(
    openDirectory: OpenDirectory,
    denyRead: Denies,
    bounds: NearBounds,
    roots: Roots,
    target: Target,
  ): Promise<readonly string[]> {
    const root = rootOf(roots, target.canonical)
    if (root === undefined || root.dir === target.canonical) return []
    const near = new NearNames(openDirectory, root, denyRead, bounds)
    await near.lookBeside(target.canonical)
    await near.lookElsewhere(posix.basename(target.canonical))
    const best = near.found.sort((a, b) => a.rank - b.rank || a.distance - b.distance || (a.path < b.path ? -1 : 1))
    const paths = new Set(best.map((c) => shown(root, c.path)))
    paths.delete(target.path)
    return [...paths].slice(0, bounds.nearNames)
  }

  private async list(path: string): Promise<readonly Entry[] | undefined> {
    if (this.directoriesLeft-- <= 0 || this.entriesLeft <= 0) return undefined
    try {
      const directory = await this.openDirectory(path, 'whole')
      try {
        const entries = await entriesOf(directory, this.entriesLeft)
        this.entriesLeft -= entries.length
        return entries.filter((entry) => entry.kind !== 'other' && this.mayName(posix.join(path, entry.name)))
      } finally {
        await directory.close()
      }
    } catch {
      return undefined
    }
  }

  private mayName(path: string): boolean {
    return !this.denyRead(relativeTo(this.root.dir, path)) && !isTempName(posix.basename(path))
  }

  private add(path: string, of: Candidate['rank'], distance: number): void {
    this.found.push({ path, rank: of, distance })
  }

  /** Compares the first missing name with its neighbours, and follows a folder that is spelled alike to the rest of the path. */
  private async lookBeside(path: string): Promise<void> {
    let folder = this.root.dir
    const rest = relativeTo(this.root.dir, path).split('/')
    for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
      const entries = await this.list(folder)
      if (entries === undefined) return
      const last = rest.length === 0
      const exact = entries.find((entry) => entry.name === name && entry.kind === 'directory')
      if (!last && exact !== undefined) {
        folder = posix.join(folder, name)
        continue
      }
      const wanted = last ? entries : entries.filter((entry) => entry.kind === 'directory')
      const alike = wanted.filter((entry) => folded(entry.name) === folded(name))
      if (last) {
        for (const entry of alike) this.add(posix.join(folder, entry.name), rank.alike, 0)
        this.addSlips(folder, name, wanted)
        return
      }
      const near = alike[0] ?? wanted.find((entry) => slips(folded(name), folded(entry.name)) !== undefined)
      if (near === undefined) return
      folder = posix.join(folder, near.name)
    }
  }

  private addSlips(folder: string, name: string, entries: readonly Entry[]): void {
    const from = folded(name)
    for (const entry of entries) {
      const distance = slips(from, folded(entry.name))
      if (distance !== undefined && distance > 0) this.add(posix.join(folder, entry.name), rank.slip, distance)
    }
  }

  /** Files of that name anywhere below the root, nearest to it first. */
  private async lookElsewhere(name: string): Promise<void> {
    const wanted = folded(name)
    let folders = [this.root.dir]
    while (folders.length > 0 && this.directoriesLeft > 0 && this.entriesLeft > 0) {
      const batch = folders.slice(0, foldersAtOnce)
      const below: string[] = []
      for (const [i, entries] of (await Promise.all(batch.map((folder) => this.list(folder)))).entries()) {
        for (const entry of entries ?? []) {
          const path = posix.join(batch[i] ?? '', entry.name)
          if (entry.kind === 'file' && folded(entry.name) === wanted) {
            this.add(path, rank.elsewhere, relativeTo(this.root.dir, path).split('/').length)
          }
          if (entry.kind === 'directory' && !['.git', 'node_modules'].includes(entry.name)) below.push(path)
        }
      }
      folders = [...folders.slice(foldersAtOnce), ...below]
    }
  }
}

/**
 * The number of slips (a letter more, less, other, or two swapped) between two names, undefined when it is more than a third of the shorter one or three.
 * Work is bounded by the length of the names alone.
 */
export function slips(a: string, b: string): number | undefined {
  const most = Math.min(3, Math.floor(Math.min(a.length, b.length) / 3))
  if (Math.abs(a.length - b.length) > most) return undefined
  const far = most + 1
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = new Array<number>(b.length + 1).fill(far)
    next[0] = i
    for (let j = Math.max(1, i - most); j <= Math.min(b.length, i + most); j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min((row[j] ?? far) + 1, (next[j - 1] ?? far) + 1, (row[j - 1] ?? far) + same)
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (before[j - 2] ?? far) + 1)
      next[j] = Math.min(least, far)
    }
    before = row
    row = next
  }
  const distance = row[b.length] ?? far
  return distance <= most ? distance : undefined
}

/** Names near `name` among `names`, nearest first. */
export function nearest(name: string, names: readonly string[], most: number): readonly string[] {
  const from = folded(name)
  return names
    .map((each) => ({ each, distance: folded(each) === from ? 0 : slips(from, folded(each)) }))
    .filter((c): c is { each: string; distance: number } => c.distance !== undefined)
    .sort((a, b) => a.distance - b.distance || (a.each < b.each ? -1 : 1))
    .slice(0, most)
    .map((c) => c.each)
}
