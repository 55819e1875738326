/**
 * The four ways to change the disk: replace, create, remove, move (reading §8.3, §8.4, §8.15).
 *
 * Each prepares everything beside the file, lets the caller confirm, takes a last look, and lands in one step of the file system. Until that step every refusal,
 * fault or change of the file leaves the disk as it was. Between the last look and that step a foreign process may still write; no system call closes
 * that gap, and the permits of the store keep this service's own calls out of it. Called by the port.
 */
import { access, lstat, unlink } from 'node:fs/promises'
import { constants } from 'node:fs'
import { invalidPath } from '../errors/invalid.js'
import { ToolError } from '../errors/tool-error.js'
import { Displaced, type Directory } from './directory.js'
import { codeOf, faultOf } from './faults.js'
import { mayWrite, settled, type Files } from './files.js'
import { identityOf, inParent, isUnsteady, Unsteady, type Ground } from './ground.js'
import { openParents, pruneFolders, type Parents } from './parents.js'
import { rootOf } from './paths.js'
import type { CommitAnswer, Confirm, FileIdentity, Landed, LoadedFile, Owner, Roots, Target } from './port.js'
import { takeFreeName, TempFile, type Dress, type TempParts } from './temp-file.js'

const changed: CommitAnswer = { landed: false, why: 'changed' }

/** Keeps what `confirm` throws from being taken for an error of the disk. */
class NotConfirmed extends Error {
  constructor(readonly thrown: unknown) {
    super('not confirmed')
  }
}

export class Commits {
  constructor(
    private readonly ground: Ground,
    private readonly files: Files,
    private readonly parts: TempParts & { readonly settledMs: number },
  ) {}

  async replace(
    roots: Roots,
    target: Target,
    base: LoadedFile,
    bytes: Uint8Array,
    confirm: Confirm,
    mode?: number,
  ): Promise<CommitAnswer> {
    return this.atSource(roots, target, base, async (directory, name) => {
      const temp = await TempFile.write(this.parts, directory, bytes, dressOf(base.identity, mode))
      try {
        const live = await this.confirmed(directory, name, target, base, confirm)
        if (live === undefined) return changed
        if (!sameDress(live, base.identity)) await temp.wear(dressOf(live, mode))
        await temp.replace(name)
        return await this.landed(directory, live.nlink > 1)
      } finally {
        await temp.discard()
      }
    })
  }

  async create(
    roots: Roots,
    target: Target,
    bytes: Uint8Array,
    confirm: Confirm,
    mode?: number,
    owner?: Owner,
  ): Promise<CommitAnswer> {
    const landing = this.atDestination(roots, target, async ({ directory, created }, name) => {
      const temp = await TempFile.write(
        this.parts,
        directory,
        bytes,
        mode === undefined ? undefined : { mode, ...owner },
      )
      try {
        await run(confirm, created)
        if (!(await directory.inPlace())) return changed
        await temp.publish(name)
        return await this.landed(directory, false, created)
      } finally {
        await temp.discard()
      }
    })
    return landing.catch(unwrap)
  }

  async remove(roots: Roots, target: Target, base: LoadedFile, confirm: Confirm): Promise<CommitAnswer> {
    return this.atSource(roots, target, base, async (directory, name) => {
      if ((await this.confirmed(directory, name, target, base, confirm)) === undefined) return changed
      await unlink(directory.at(name))
      return this.landed(directory, false)
    })
  }

  async move(
    roots: Roots,
    source: Target,
    dest: Target,
    base: LoadedFile,
    bytes: Uint8Array | undefined,
    confirm: Confirm,
    mode?: number,
  ): Promise<CommitAnswer> {
    return this.atSource(roots, source, base, async (from, oldName) => {
      await access(from.at('.'), constants.W_OK | constants.X_OK)
      return this.atDestination(roots, dest, async (to, newName) => {
        if ((await from.stat()).dev !== (await to.directory.stat()).dev) {
          throw invalidPath({ kind: 'across file systems' }, dest.field)
        }
        const dress = dressOf(base.identity, mode)
        const temp = bytes === undefined ? undefined : await TempFile.write(this.parts, to.directory, bytes, dress)
        try {
          const live = await this.confirmed(from, oldName, source, base, confirm, to.created)
          if (live === undefined || !(await to.directory.inPlace())) return changed
          if (temp !== undefined && !sameDress(live, base.identity)) await temp.wear(dressOf(live, mode))
          await this.carry(from, oldName, live, to.directory, newName, temp)
          return await this.landed(from, temp !== undefined && live.nlink > 1, to.created)
        } finally {
          await temp?.discard()
        }
      })
    })
  }

  /** Publishes at the new name, makes that durable, and takes the old name away; when that fails, takes the new one back. */
  private async carry(
    from: Directory,
    oldName: string,
    live: FileIdentity,
    to: Directory,
    newName: string,
    temp: TempFile | undefined,
  ): Promise<void> {
    if (temp === undefined) return this.carryWhole(from, oldName, live, to, newName)
    await temp.publish(newName)
    await this.dropOld(from, oldName, to, newName)
  }

  /** The file itself gets the new name; it may be another one by now than the last look saw. */
  private async carryWhole(
    from: Directory,
    oldName: string,
    live: FileIdentity,
    to: Directory,
    newName: string,
  ): Promise<void> {
    const how = await takeFreeName(this.parts, from, oldName, to, newName)
    const carried = await lstat(to.at(newName), { bigint: true })
    if (carried.ino === live.ino) {
      await (how === 'linked' ? this.dropOld(from, oldName, to, newName) : to.sync().catch(() => undefined))
      return
    }
    const back = how === 'linked' ? how : await takeFreeName(this.parts, to, newName, from, oldName)
    if (back === 'linked') await unlink(to.at(newName))
    throw new Displaced(oldName)
  }

  private async dropOld(from: Directory, oldName: string, to: Directory, newName: string): Promise<void> {
    try {
      await to.sync()
      await unlink(from.at(oldName))
    } catch (error) {
      await unlink(to.at(newName)).catch(() => undefined)
      throw error
    }
  }

  /** Runs in the parent of a file that exists and may be written. What is no longer as it was is `changed`. */
  private async atSource(
    roots: Roots,
    target: Target,
    base: LoadedFile,
    work: (directory: Directory, name: string) => Promise<CommitAnswer>,
  ): Promise<CommitAnswer> {
    try {
      return await inParent(this.ground, roots, target, 'whole', async (directory, name) => {
        if (base.mayWrite === 'unasked') await mayWrite(directory, name)
        return work(directory, name)
      })
    } catch (error) {
      if (error instanceof Unsteady || (error instanceof ToolError && error.is('NOT_FOUND'))) return changed
      return unwrap(error)
    }
  }

  /** Runs in the parent of a name that must be free, with its folders made; those go again when nothing lands. */
  private async atDestination(
    roots: Roots,
    target: Target,
    work: (parents: Parents, name: string) => Promise<CommitAnswer>,
  ): Promise<CommitAnswer> {
    const root = rootOf(roots, target.canonical)
    if (root === undefined) throw new ToolError('PATH_OUTSIDE_WORKSPACE', { path: target.authored })
    if (root.dir === target.canonical)
      throw new ToolError('CONFLICT', { reason: 'destination exists', path: target.path })
    let parents: Parents | undefined
    let answer = changed
    try {
      parents = await openParents(this.ground.openDirectory, roots, target)
      const name = target.canonical.slice(target.canonical.lastIndexOf('/') + 1)
      await mustBeFree(parents.directory, name)
      answer = await work(parents, name)
      return answer
    } catch (error) {
      if (isUnsteady(error)) return changed
      throw faultOf(error, target.path, target.field)
    } finally {
      await parents?.directory.close()
      if (!answer.landed && parents !== undefined) await pruneFolders(this.ground.openDirectory, roots, parents.created)
    }
  }

  /** Lets the caller confirm, then takes the last look: the live identity when the file is still the one the bytes were computed from, else undefined. */
  private async confirmed(
    directory: Directory,
    name: string,
    target: Target,
    base: LoadedFile,
    confirm: Confirm,
    created: readonly string[] = [],
  ): Promise<FileIdentity | undefined> {
    await run(confirm, created)
    const stats = await lstat(directory.at(name), { bigint: true })
    if (!stats.isFile()) return undefined
    const live = identityOf(stats, target.field)
    const was = base.identity
    const same = live.dev === was.dev && live.ino === was.ino && live.size === was.size && live.ctimeNs === was.ctimeNs
    if (!(same && base.settled && settled(live, this.ground.now(), this.parts.settledMs))) {
      if (live.size !== BigInt(base.bytes.length)) return undefined
      const again = await this.files.loadFrom(directory, name, target, Infinity)
      if (again === undefined || !again.bytes.equals(base.bytes)) return undefined
    }
    return (await directory.inPlace()) ? live : undefined
  }

  /** From here on nothing is refused any more. */
  private async landed(
    directory: Directory,
    hardLinkSplit: boolean,
    createdParents: readonly string[] = [],
  ): Promise<Landed> {
    await directory.sync().catch(() => undefined)
    return { landed: true, hardLinkSplit, createdParents }
  }
}

/** What a new file wears: the identity's owner and mode, or the given mode. */
const dressOf = ({ mode, uid, gid }: FileIdentity, given = mode): Dress => ({ mode: given, uid, gid })

const sameDress = (a: FileIdentity, b: FileIdentity): boolean => a.mode === b.mode && a.uid === b.uid && a.gid === b.gid

function unwrap(error: unknown): never {
  throw error instanceof NotConfirmed ? error.thrown : error
}

async function run(confirm: Confirm, created: readonly string[]): Promise<void> {
  try {
    await confirm(created)
  } catch (error) {
    throw new NotConfirmed(error)
  }
}

async function mustBeFree(directory: Directory, name: string): Promise<void> {
  const taken = await lstat(directory.at(name)).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return false
      throw error
    },
  )
  if (taken) throw Object.assign(new Error('the name is taken'), { errno: 0, code: 'EEXIST' })
}
