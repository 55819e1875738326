/**
 * What every call on a file stands on, and the one way to it: through its verified parent directory.
 *
 * A place that is not where it was resolved to is resolved once more before anything is said about it, so that what leads outside by now is refused as
 * outside and nothing else is told of it. Called by files and commits.
 */
import type { BigIntStats } from 'node:fs'
import { posix } from 'node:path'
import { invalidPath } from '../errors/invalid.js'
import { ToolError } from '../errors/tool-error.js'
import { Displaced, type Directory, type DirectoryUse, type OpenDirectory } from './directory.js'
import { codeOf, faultOf } from './faults.js'
import { rootOf } from './paths.js'
import type { FileIdentity, Roots, Target } from './port.js'
import type { Resolve } from './resolve.js'

export interface Ground {
  readonly openDirectory: OpenDirectory
  readonly resolve: Resolve
  readonly suggest: (roots: Roots, target: Target) => Promise<readonly string[]>
  /** Milliseconds of the wall clock, which the times of files are compared with. */
  readonly now: () => number
}

/** The place changed its meaning in mid-call but still lies inside: whoever can try again does. */
export class Unsteady extends Error {}

/**
 * Runs `work` in the parent directory of the target and closes it. Throws PATH_OUTSIDE_WORKSPACE, NOT_FOUND, INVALID_ARGUMENT, TOOL_DENIED,
 * TOOL_FAILED, and Unsteady.
 */
export async function inParent<T>(
  ground: Ground,
  roots: Roots,
  target: Target,
  use: DirectoryUse,
  work: (directory: Directory, name: string) => Promise<T>,
): Promise<T> {
  const root = rootOf(roots, target.canonical)
  if (root === undefined) throw new ToolError('PATH_OUTSIDE_WORKSPACE', { path: target.authored })
  if (root.dir === target.canonical) throw invalidPath({ kind: 'not a regular file', found: 'directory' }, target.field)
  try {
    const directory = await ground.openDirectory(posix.dirname(target.canonical), use)
    try {
      return await work(directory, posix.basename(target.canonical))
    } finally {
      // Closing cannot fail the call, so the call does not wait for it.
      void directory.close()
    }
  } catch (error) {
    throw isUnsteady(error) ? await explained(ground, roots, target) : faultOf(error, target.path, target.field)
  }
}

/** The file or a directory above it is not what it was when the path was resolved. */
export function isUnsteady(error: unknown): boolean {
  return error instanceof Displaced || ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '')
}

async function explained(ground: Ground, roots: Roots, target: Target): Promise<unknown> {
  try {
    const again = await ground.resolve(roots, target.authored, 'read', target.field)
    if (again.exists || again.canonical !== target.canonical) return new Unsteady(target.canonical)
    return new ToolError('NOT_FOUND', { what: 'file', name: target.path })
  } catch (refusal) {
    return refusal
  }
}

/** The identity of a regular file. Throws INVALID_ARGUMENT for anything else. */
export function identityOf(stats: BigIntStats, field: string): FileIdentity {
  if (!stats.isFile()) {
    const found = stats.isDirectory() ? 'directory' : stats.isSymbolicLink() ? 'link' : 'special file'
    throw invalidPath({ kind: 'not a regular file', found }, field)
  }
  return {
    dev: stats.dev,
    ino: stats.ino,
    size: stats.size,
    ctimeNs: stats.ctimeNs,
    mtimeNs: stats.mtimeNs,
    mode: Number(stats.mode & 0o7777n),
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    nlink: Number(stats.nlink),
  }
}
