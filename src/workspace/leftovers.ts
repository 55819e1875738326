/**
 * Looks at files that the store remembers by their real path, without the roots of a session (reading §8.5).
 *
 * The path still has to lie below one of the operator's directories by its real parent; anything else counts as not there. Called by the port, for
 * leftover intents.
 */
import { lstat, unlink } from 'node:fs/promises'
import { posix } from 'node:path'
import { ToolError } from '../errors/tool-error.js'
import { sha256 } from '../text/digest.js'
import type { Directory, DirectoryUse, OpenDirectory } from './directory.js'
import { faultOf } from './faults.js'
import { sameContent, type Files } from './files.js'
import { isUnsteady } from './ground.js'
import { inside } from './paths.js'
import type { LoadedFile } from './port.js'

export interface LeftoverParts {
  readonly openDirectory: OpenDirectory
  readonly files: Files
  /** Real paths of the directories of workspaces, of scratch and of external roots. */
  readonly bases: () => Promise<readonly string[]>
  readonly maxFileBytes: number
}

export class Leftovers {
  constructor(private readonly parts: LeftoverParts) {}

  /** The bytes of a regular file of at most `maxFileBytes` bytes, else undefined. Throws TOOL_DENIED, TOOL_FAILED and the like. */
  async inspect(canonical: string): Promise<Buffer | undefined> {
    const loaded = await this.at(canonical, 'pass', (directory, name) => this.loaded(directory, name, canonical))
    return loaded?.bytes
  }

  /** Unlinks the file when its bytes have the digest, 64 hex digits; anything else stays. */
  async removeExact(canonical: string, byteDigest: string): Promise<void> {
    await this.at(canonical, 'whole', async (directory, name) => {
      const loaded = await this.loaded(directory, name, canonical)
      if (loaded === undefined || sha256(loaded.bytes) !== byteDigest) return
      const live = await lstat(directory.at(name), { bigint: true })
      if (!sameContent(live, loaded.identity) || !(await directory.inPlace())) return
      await unlink(directory.at(name))
      await directory.sync()
    })
  }

  /** One load and a second for a file that did not hold still; after that it counts as not there to be judged. */
  private async loaded(directory: Directory, name: string, path: string): Promise<LoadedFile | undefined> {
    const load = (): Promise<LoadedFile | undefined> =>
      this.parts.files.loadFrom(directory, name, { path, field: 'path' }, this.parts.maxFileBytes)
    return (await load()) ?? (await load())
  }

  private async at<T>(
    canonical: string,
    use: DirectoryUse,
    work: (directory: Directory, name: string) => Promise<T>,
  ): Promise<T | undefined> {
    const bases = await this.parts.bases()
    const name = posix.basename(canonical)
    if (
      posix.resolve(canonical) !== canonical ||
      !bases.some((base) => base !== canonical && inside(base, canonical))
    ) {
      return undefined
    }
    try {
      const directory = await this.parts.openDirectory(posix.dirname(canonical), use)
      try {
        return await work(directory, name)
      } finally {
        await directory.close()
      }
    } catch (error) {
      if (isUnsteady(error)) return undefined
      if (error instanceof ToolError && error.is('INVALID_ARGUMENT', 'FILE_TOO_LARGE')) return undefined
      throw faultOf(error, canonical, 'path')
    }
  }
}
