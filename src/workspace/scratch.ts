/**
 * The scratch folders of sessions, and removing whole trees without leaving them (reading §8.13).
 *
 * A folder that was made for a session has an empty file beside it that says so. Only what has such a mark is ever swept, so that a scratch directory which also
 * holds other things loses none of them. Called by the port, the sweep and whoever makes the folder.
 */
import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { readdir, rename, rmdir, unlink } from 'node:fs/promises'
import { posix } from 'node:path'
import type { Directory, OpenDirectory } from './directory.js'
import { codeOf } from './faults.js'

const markForm = /^\.anchorline-scratch-([A-Za-z0-9_-]{1,128})$/
const markOf = (sessionId: string): string => `.anchorline-scratch-${sessionId}`

/** One name of safe characters. Throws TypeError otherwise, which is a fault of this service. */
export function checkSessionId(sessionId: string): void {
  if (!markForm.test(markOf(sessionId))) throw new TypeError('a session id that is no plain name')
}

/** The session whose folder the mark speaks of, undefined for any other name. */
export function sessionOfMark(name: string): string | undefined {
  return markForm.exec(name)?.[1]
}

/** Before the folder is made, so that no folder is without its mark. */
export async function markScratch(scratchDir: Directory, sessionId: string): Promise<void> {
  const file = await scratchDir.open(markOf(sessionId), constants.O_WRONLY | constants.O_CREAT, 0o600)
  await file.close()
}

/** Removes the folder of a session and its mark. Never throws for what is already gone; throws the system's errors. */
export async function removeScratch(
  openDirectory: OpenDirectory,
  scratchDir: string,
  sessionId: string,
): Promise<void> {
  checkSessionId(sessionId)
  await quietly(async () => {
    const parent = await openDirectory(scratchDir, 'whole')
    try {
      await removeTree(openDirectory, parent, sessionId)
      await quietly(() => unlink(parent.at(markOf(sessionId))))
    } finally {
      await parent.close()
    }
  })
}

/** Removes what is under `name`, folders with everything in them. Links are removed, never followed. */
async function removeTree(openDirectory: OpenDirectory, parent: Directory, name: string): Promise<void> {
  try {
    await unlink(parent.at(name))
    return
  } catch (error) {
    // What Linux, and what POSIX answers for a directory.
    if (codeOf(error) === 'ENOENT') return
    if (!['EISDIR', 'EPERM'].includes(codeOf(error) ?? '')) throw error
  }
  const directory = await openDirectory(posix.join(parent.path, name), 'whole')
  try {
    for (const entry of await plainNames(directory)) await removeTree(openDirectory, directory, entry)
  } finally {
    await directory.close()
  }
  await quietly(() => rmdir(parent.at(name)))
}

/** The names in a directory. One that is not UTF-8 is renamed first, because it could not be opened by name. */
async function plainNames(directory: Directory): Promise<readonly string[]> {
  const names: string[] = []
  for (const [i, raw] of (await readdir(directory.at('.'), { encoding: 'buffer' })).entries()) {
    const name = isUtf8(raw) ? raw.toString() : `.anchorline-removing-${i}`
    if (!isUtf8(raw)) await rename(Buffer.concat([Buffer.from(directory.at('')), raw]), directory.at(name))
    names.push(name)
  }
  return names
}

async function quietly(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}
