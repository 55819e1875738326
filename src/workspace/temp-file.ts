/**
 * A temporary file beside its destination, and how it becomes the destination (reading §8.4, §8.15).
 *
 * Made with a random name that must not exist, so that nothing planted is ever opened; readable by its owner alone until the bytes are in, then given mode and
 * owner, then made durable. It is renamed over a file or linked to a name that must be free, or it is discarded. Called by commits.
 */
import { constants } from 'node:fs'
import { link, rename, unlink } from 'node:fs/promises'
import type { Descriptor } from './descriptor.js'
import type { Directory } from './directory.js'
import { codeOf } from './faults.js'
import { tempName } from './temp-names.js'

export interface TempParts {
  readonly instance: string
  readonly random: () => string
  readonly tempAttempts: number
  /** False on a volume that is known to have no hard links. */
  readonly hardLinks: boolean
}

/** How the file shall stand on disk; ids where the process is permitted to set them. */
export interface Dress {
  readonly mode: number
  readonly uid?: number
  readonly gid?: number
}

/** What a file that asks for nothing gets; the umask applies. */
const plainMode = 0o644
const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

export class TempFile {
  private published = false

  private constructor(
    private readonly parts: TempParts,
    private readonly directory: Directory,
    private readonly name: string,
    private readonly handle: Descriptor,
  ) {}

  /** Writes the bytes and makes them durable. Leaves nothing behind when it throws, which it does with the system's errors. */
  static async write(parts: TempParts, directory: Directory, bytes: Uint8Array, dress?: Dress): Promise<TempFile> {
    const temp = await TempFile.open(parts, directory, dress === undefined ? plainMode : 0o600)
    try {
      await temp.handle.writeAll(bytes)
      if (dress !== undefined) await temp.wear(dress)
      await temp.handle.sync()
      return temp
    } catch (error) {
      await temp.discard()
      throw error
    }
  }

  private static async open(parts: TempParts, directory: Directory, mode: number): Promise<TempFile> {
    for (let attempt = 1; ; attempt++) {
      const name = tempName(parts.instance, parts.random())
      try {
        return new TempFile(parts, directory, name, await directory.open(name, flags, mode))
      } catch (error) {
        if (codeOf(error) !== 'EEXIST' || attempt >= parts.tempAttempts) throw error
      }
    }
  }

  /** Sets owner, then mode. Where the owner cannot be kept, the bits that lend its rights are dropped. */
  async wear(dress: Dress): Promise<void> {
    const kept = dress.uid === undefined || dress.gid === undefined || (await this.give(dress.uid, dress.gid))
    await this.handle.chmod(kept ? dress.mode : dress.mode & 0o1777)
  }

  private async give(uid: number, gid: number): Promise<boolean> {
    const unchanged = -1
    const given = (u: number): Promise<boolean> =>
      this.handle.chown(u, gid).then(
        () => true,
        (error: unknown) => {
          if (['EPERM', 'EINVAL', 'ENOSYS'].includes(codeOf(error) ?? '')) return false
          throw error
        },
      )
    if (await given(uid)) return true
    await given(unchanged)
    return false
  }

  /** Takes the place of whatever is under `name`. */
  async replace(name: string): Promise<void> {
    await rename(this.directory.at(this.name), this.directory.at(name))
    this.published = true
  }

  /** Takes `name` when it is free; throws EEXIST when it is not. */
  async publish(name: string): Promise<void> {
    const how = await takeFreeName(this.parts, this.directory, this.name, this.directory, name)
    this.published = true
    // The sweep takes what this misses.
    if (how === 'linked') await this.removeName()
  }

  private removeName(): Promise<void> {
    return unlink(this.directory.at(this.name)).catch(() => undefined)
  }

  /** Closes the file, and removes it when it was not published. Never throws. */
  async discard(): Promise<void> {
    await this.handle.close().catch(() => undefined)
    if (!this.published) await this.removeName()
  }
}

/** What a file system without hard links answers. */
const noLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/**
 * Gives the file a name that must be free, EEXIST otherwise: by a hard link, after which the old name is still there (`linked`), or where there are none by
 * renaming over an empty file that reserved the name, after which it is not (`renamed`).
 */
export async function takeFreeName(
  parts: Pick<TempParts, 'hardLinks'>,
  from: Directory,
  oldName: string,
  to: Directory,
  newName: string,
): Promise<'linked' | 'renamed'> {
  if (parts.hardLinks) {
    try {
      await link(from.at(oldName), to.at(newName))
      return 'linked'
    } catch (error) {
      if (!noLinks.has(codeOf(error) ?? '')) throw error
    }
  }
  const reserved = await to.open(newName, flags, 0o600)
  await reserved.close()
  try {
    await rename(from.at(oldName), to.at(newName))
    return 'renamed'
  } catch (error) {
    await unlink(to.at(newName)).catch(() => undefined)
    throw error
  }
}
