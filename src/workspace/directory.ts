/**
 * A directory held open and proven to be where it is said to be; the only way to reach a file (reading §8.15).
 *
 * On Linux the directory is opened without following a link in its last name, the kernel is asked through /proc/self/fd where it really is, and
 * everything else goes through /proc/self/fd/<fd>/<name>: whatever is swapped above it afterwards, the work stays in this directory. Where there is no /proc
 * (macOS) the form is weaker: the real path is compared before and after, and a swap that is undone in between is not noticed (docs/security.md).
 * Called by files, commits, near names and the sweep.
 */
import { constants, existsSync, readlinkSync, type BigIntStats } from 'node:fs'
import { opendir, realpath } from 'node:fs/promises'
import { Descriptor } from './descriptor.js'

/** The directory is not, or no longer, at its path: a link or another directory took its place. */
export class Displaced extends Error {}

/** `pass` reaches names in it and needs no right to list; `whole` also lists and syncs. */
export type DirectoryUse = 'pass' | 'whole'

export interface Directory {
  /** The real absolute path. */
  readonly path: string
  /** The path that reaches `name` through the open descriptor. */
  at(name: string): string
  /** Opens a file in it, never through a link. Throws the system's errors and Displaced. */
  open(name: string, flags: number, mode?: number): Promise<Descriptor>
  /** Still at its path. */
  inPlace(): Promise<boolean>
  stat(): Promise<BigIntStats>
  /** Makes changes of its names durable; where the file system cannot, that is no fault. */
  sync(): Promise<void>
  /** Never throws: what was done in it is done. */
  close(): Promise<void>
}

/** Throws the system's errors, and Displaced when `path` is not its own real path. */
export type OpenDirectory = (path: string, use: DirectoryUse) => Promise<Directory>

/** Linux has it, node:fs does not name it: a descriptor that only names a place. */
const O_PATH = 0o10000000
const common = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Whether this machine lets a process reach its descriptors through /proc. */
export function hasDescriptorPaths(): boolean {
  return process.platform === 'linux' && existsSync('/proc/self/fd')
}

export function directoryOpener(descriptorPaths: boolean): OpenDirectory {
  return async (path, use) => {
    const handle = await Descriptor.open(path, descriptorPaths && use === 'pass' ? common | O_PATH : common)
    const directory = descriptorPaths ? new HeldDirectory(path, handle) : new NamedDirectory(path, handle)
    try {
      if (await directory.inPlace()) return directory
      throw new Displaced(path)
    } catch (error) {
      await directory.close()
      throw error
    }
  }
}

const unsyncable = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EBADF', 'EROFS'])

abstract class OpenedDirectory {
  constructor(
    readonly path: string,
    protected readonly handle: Descriptor,
  ) {}

  stat(): Promise<BigIntStats> {
    return this.handle.stat()
  }

  async sync(): Promise<void> {
    try {
      await this.handle.sync()
    } catch (error) {
      if (!unsyncable.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
  }

  close(): Promise<void> {
    return this.handle.drop().catch(() => undefined)
  }
}

class HeldDirectory extends OpenedDirectory implements Directory {
  private get self(): string {
    return `/proc/self/fd/${this.handle.number}`
  }

  at(name: string): string {
    return `${this.self}/${name}`
  }

  open(name: string, flags: number, mode?: number): Promise<Descriptor> {
    return Descriptor.open(this.at(name), flags | constants.O_NOFOLLOW, mode)
  }

  /** The kernel answers from its own table, so nothing here waits for a disk. */
  async inPlace(): Promise<boolean> {
    return readlinkSync(this.self) === this.path
  }
}

class NamedDirectory extends OpenedDirectory implements Directory {
  at(name: string): string {
    return `${this.path === '/' ? '' : this.path}/${name}`
  }

  async open(name: string, flags: number, mode?: number): Promise<Descriptor> {
    const file = await Descriptor.open(this.at(name), flags | constants.O_NOFOLLOW, mode)
    if (await this.inPlace().catch(() => false)) return file
    await file.drop()
    throw new Displaced(this.path)
  }

  async inPlace(): Promise<boolean> {
    return (await realpath(this.path)) === this.path
  }
}

export interface Entry {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'other'
}

/** The names in an open directory (opened `whole`), at most `most` of them; links are `other`. Names that are not UTF-8 cannot be asked for and are left out. */
export async function entriesOf(directory: Directory, most: number): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for await (const entry of await opendir(directory.at('.'), { bufferSize: 256 })) {
    if (entries.length === most) break
    if (entry.name.includes('\uFFFD')) continue
    entries.push({ name: entry.name, kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : 'other' })
  }
  return entries
}
