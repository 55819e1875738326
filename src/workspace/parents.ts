/**
 * The folders above a new file: made when they are missing, taken away again when nothing came of it (reading §4.6, §8.13).
 *
 * Every folder is made through the verified one above it, and only inside a root; the scratch root of a session is itself made here, at the first write into
 * it. Called by commits.
 */
import { mkdir, rmdir } from 'node:fs/promises'
import { posix } from 'node:path'
import { Displaced, type Directory, type OpenDirectory } from './directory.js'
import { codeOf } from './faults.js'
import { rootOf } from './paths.js'
import type { Roots, Target } from './port.js'
import { markScratch } from './scratch.js'

export interface Parents {
  /** The parent of the target, opened `whole`. The caller closes it. */
  readonly directory: Directory
  /** Real absolute paths of the folders that were made, outermost first. */
  readonly created: readonly string[]
}

/** Opens the parent folder of the target and makes what is missing of it. Makes nothing when it throws: the system's errors, Displaced. */
export async function openParents(openDirectory: OpenDirectory, roots: Roots, target: Target): Promise<Parents> {
  const { directory, missing } = await deepest(openDirectory, roots, posix.dirname(target.canonical))
  const created: string[] = []
  let at = directory
  try {
    for (const name of missing) {
      const path = posix.join(at.path, name)
      if (await makeFolder(at, name, roots)) created.push(path)
      const next = await openDirectory(path, 'whole')
      await at.close()
      at = next
    }
    return { directory: at, created }
  } catch (error) {
    await at.close()
    await pruneFolders(openDirectory, roots, created)
    throw error
  }
}

/** The deepest folder of the chain that exists, and the names missing below it. */
async function deepest(
  openDirectory: OpenDirectory,
  roots: Roots,
  path: string,
): Promise<{ readonly directory: Directory; readonly missing: readonly string[] }> {
  const missing: string[] = []
  for (let at = path; ; at = posix.dirname(at)) {
    // Above a root there is nothing to make, but the scratch root of a session is missing until now.
    const above = rootOf(roots, at) === undefined
    if (above && at !== posix.dirname(roots.scratch)) throw new Displaced(at)
    try {
      return { directory: await openDirectory(at, 'whole'), missing }
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
      if (above) return { directory: await remade(openDirectory, at), missing }
      missing.unshift(posix.basename(at))
    }
  }
}

/** The directory of all scratch folders, which somebody cleared away. */
async function remade(openDirectory: OpenDirectory, scratchDir: string): Promise<Directory> {
  await mkdir(scratchDir, { recursive: true, mode: 0o700 })
  return openDirectory(scratchDir, 'whole')
}

/** True when the folder was made, false when somebody else was quicker. */
async function makeFolder(parent: Directory, name: string, roots: Roots): Promise<boolean> {
  const isScratch = posix.join(parent.path, name) === roots.scratch
  if (isScratch) await markScratch(parent, name)
  try {
    await mkdir(parent.at(name), isScratch ? 0o700 : 0o777)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
  await parent.sync()
  return true
}

/**
 * Removes those of the folders that are empty, innermost first, up to the first that is not. Roots stay. Never throws: an empty folder that is left behind
 * harms nobody.
 */
export async function pruneFolders(
  openDirectory: OpenDirectory,
  roots: Roots,
  created: readonly string[],
): Promise<void> {
  for (const path of created.toSorted((a, b) => b.length - a.length)) {
    const root = rootOf(roots, path)
    if (root === undefined || root.dir === path) return
    try {
      const parent = await openDirectory(posix.dirname(path), 'whole')
      try {
        await rmdir(parent.at(posix.basename(path)))
      } finally {
        await parent.close()
      }
    } catch {
      return
    }
  }
}
