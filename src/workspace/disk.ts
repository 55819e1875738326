/**
 * The workspace on a real disk: puts the parts together behind the port.
 *
 * Decides nothing itself. Called by main and by tests, which hand in whatever differs between machines.
 */
import { limits } from '../limits.js'
import { Commits } from './commits.js'
import { denyRule } from './deny.js'
import { directoryOpener, hasDescriptorPaths } from './directory.js'
import { Files } from './files.js'
import type { Ground } from './ground.js'
import { Leftovers } from './leftovers.js'
import { NearNames } from './names.js'
import { pruneFolders } from './parents.js'
import { inside } from './paths.js'
import type { WorkspacePort } from './port.js'
import { resolver } from './resolve.js'
import { RootDirectories } from './roots.js'
import { checkSessionId, removeScratch } from './scratch.js'
import { sweep } from './sweep.js'
import { isInstance } from './temp-names.js'

export interface WorkspaceOptions {
  /** Every directory directly below it is a workspace. */
  readonly workspacesDir: string
  /** Holds one folder per session; made when it is missing. Outside every workspace. */
  readonly scratchDir: string
  /** What sessions may ask for as further roots, with everything below. */
  readonly externalRoots: readonly string[]
  readonly denyRead: readonly string[]
  readonly denyWrite: readonly string[]
  /** Of `thisInstance()`: names the owner of temporary files. */
  readonly instance: string
  /** 8 to 64 characters of [0-9A-Za-z_-] that nobody can guess. */
  readonly random: () => string
  /** Milliseconds of the wall clock, for comparison with the times of files. */
  readonly now: () => number
  /** Bytes of a file that Edit and Write accept; no leftover of theirs is larger. */
  readonly maxFileBytes?: number
  /** False on volumes without hard links; what the file system answers is heeded either way. */
  readonly hardLinks?: boolean
  /** False takes the weaker way that machines without /proc are left with. */
  readonly descriptorPaths?: boolean
}

/** Throws Error for options that cannot be served. Touches no disk yet. */
export function createWorkspace(options: WorkspaceOptions): WorkspacePort {
  if (!isInstance(options.instance)) throw new Error(`not the name of an instance: ${options.instance}`)
  const { now, instance, random, maxFileBytes = limits.maxFileBytes } = options
  const openDirectory = directoryOpener(options.descriptorPaths ?? hasDescriptorPaths())
  const denyRead = denyRule(options.denyRead)
  const denyWrite = denyRule(options.denyWrite)
  const directories = new RootDirectories({ ...options, bounds: limits })
  const resolve = resolver({ aliases: () => directories.aliases(), denyRead, denyWrite, bounds: limits })
  const suggest: Ground['suggest'] = (roots, target) => NearNames.of(openDirectory, denyRead, limits, roots, target)
  const ground: Ground = { openDirectory, resolve, suggest, now }
  const files = new Files(ground, limits)
  const leftovers = new Leftovers({ openDirectory, files, bases: () => directories.bases(), maxFileBytes })
  const temps = { instance, random, hardLinks: options.hardLinks ?? true, ...limits }
  const commits = new Commits(ground, files, temps)

  return {
    workspaces: () => directories.names(),
    roots: (workspace, sessionId, externalRoots, mayOpen = () => true) =>
      directories.of(resolve, workspace, sessionId, externalRoots, mayOpen),
    openedRoots: (workspace, sessionId, externalRoots) =>
      directories.opened(resolve, workspace, sessionId, externalRoots),
    dropScratch: async (sessionId) => {
      checkSessionId(sessionId)
      await removeScratch(openDirectory, await directories.scratch(), sessionId).catch(() => undefined)
    },
    resolve,
    suggest,
    load: (...call) => files.load('reading', ...call),
    loadForWriting: (...call) => files.load('writing', ...call),
    stream: files.stream.bind(files),
    identify: files.identify.bind(files),
    replace: commits.replace.bind(commits),
    create: commits.create.bind(commits),
    remove: commits.remove.bind(commits),
    move: commits.move.bind(commits),
    pruneEmptyParents: (roots, target, created) => {
      const above = created.filter((folder) => inside(folder, target.canonical))
      return pruneFolders(openDirectory, roots, above)
    },
    inspect: leftovers.inspect.bind(leftovers),
    removeExact: leftovers.removeExact.bind(leftovers),
    sweep: async (live) =>
      sweep({ openDirectory, instance, now, ...limits }, await directories.trees(), await directories.scratch(), live),
    writable: () => directories.writable(),
  }
}
