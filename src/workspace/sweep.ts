/**
 * Removes what a killed process left: temporary files whose owner is gone, scratch folders whose session is (reading §8.13, §8.15).
 *
 * Walks every folder through its verified descriptor, follows no link, and touches only names of the temporary form that are regular files, and scratch folders
 * that carry the mark of this service. What it cannot read or remove it leaves. Called by the port, at start and from time to time.
 */
import { lstat, unlink } from 'node:fs/promises'
import { posix } from 'node:path'
import { entriesOf, type Directory, type OpenDirectory } from './directory.js'
import type { Swept } from './port.js'
import { removeScratch, sessionOfMark } from './scratch.js'
import { isTempName, ownerGone } from './temp-names.js'

export interface SweepParts {
  readonly openDirectory: OpenDirectory
  readonly instance: string
  readonly now: () => number
  readonly foreignTempMs: number
  readonly sweepDirectories: number
}

/** Bounds the names of one folder that are held at once; a folder with more is swept as far as that. */
const entriesAtOnce = 100_000

/** `trees` are real paths; those that do not exist are passed over. */
export async function sweep(
  parts: SweepParts,
  trees: readonly string[],
  scratchDir: string,
  live: (sessionId: string) => Promise<boolean>,
): Promise<Swept> {
  const { removed: scratch, kept } = await sweepScratch(parts, scratchDir, live)
  const queue = [...trees, ...kept]
  let temps = 0
  let left = parts.sweepDirectories
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (left-- <= 0) return { temps, scratch, complete: false }
    await opened(parts, path, async (directory) => {
      for (const entry of await entriesOf(directory, entriesAtOnce)) {
        if (entry.kind === 'directory') queue.push(posix.join(directory.path, entry.name))
        else if (isTempName(entry.name) && (await sweepTemp(parts, directory, entry.name))) temps++
      }
    })
  }
  return { temps, scratch, complete: true }
}

/** Runs in a folder; one that is gone, displaced or forbidden is passed over. */
async function opened(parts: SweepParts, path: string, work: (directory: Directory) => Promise<void>): Promise<void> {
  const directory = await parts.openDirectory(path, 'whole').catch(() => undefined)
  if (directory === undefined) return
  try {
    await work(directory)
  } catch {
    // Half a folder is left for the next sweep.
  } finally {
    await directory.close()
  }
}

async function sweepTemp(parts: SweepParts, directory: Directory, name: string): Promise<boolean> {
  const found = await lstat(directory.at(name))
  if (!found.isFile()) return false
  if (!(await ownerGone(name, parts.instance, parts.now() - found.mtimeMs, parts.foreignTempMs))) return false
  return unlink(directory.at(name)).then(
    () => true,
    () => false,
  )
}

async function sweepScratch(
  parts: SweepParts,
  scratchDir: string,
  live: (sessionId: string) => Promise<boolean>,
): Promise<{ readonly removed: number; readonly kept: readonly string[] }> {
  const sessions: string[] = []
  await opened(parts, scratchDir, async (directory) => {
    for (const entry of await entriesOf(directory, entriesAtOnce)) {
      const session = sessionOfMark(entry.name)
      if (session !== undefined && entry.kind === 'file') sessions.push(session)
    }
  })
  const kept: string[] = []
  let removed = 0
  for (const session of sessions) {
    if (await live(session)) {
      kept.push(posix.join(scratchDir, session))
      continue
    }
    const gone = await removeScratch(parts.openDirectory, scratchDir, session).then(
      () => true,
      () => false,
    )
    if (gone) removed++
  }
  return { removed, kept }
}
