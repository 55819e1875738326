/**
 * Reading: whole files, streams, identities, and the right to write (reading §8.4, §8.11, §8.15).
 *
 * Only regular files are read, and their type is known before the first byte is. Says nothing about text or binary. Called by the port.
 */
import { constants } from 'node:fs'
import { access, lstat } from 'node:fs/promises'
import { invalidPath } from '../errors/invalid.js'
import { ToolError } from '../errors/tool-error.js'
import type { Descriptor } from './descriptor.js'
import type { Directory } from './directory.js'
import { codeOf } from './faults.js'
import { identityOf, inParent, Unsteady, type Ground } from './ground.js'
import type { FileIdentity, FileStream, LoadedFile, Roots, Target } from './port.js'

export interface ReadBounds {
  readonly settledMs: number
  readonly readAttempts: number
  readonly chunkBytes: number
}

export type Purpose = 'reading' | 'writing'

/** How a refusal names the file: its path as shown, and the argument that held it. */
export type Named = Pick<Target, 'path' | 'field'>

/** Opening must not wait for the other end of a pipe, and must not make a terminal ours. */
const readFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/** Opens a regular file of at most `maxBytes` bytes. Throws INVALID_ARGUMENT, FILE_TOO_LARGE and the system's errors. */
async function openRegular(
  directory: Directory,
  name: string,
  target: Named,
  maxBytes: number,
): Promise<{ readonly file: Descriptor; readonly identity: FileIdentity }> {
  const file = await directory.open(name, readFlags).catch((error: unknown) => {
    // What sockets and devices without a driver answer.
    if (!['ENXIO', 'ENODEV'].includes(codeOf(error) ?? '')) throw error
    throw invalidPath({ kind: 'not a regular file', found: 'special file' }, target.field)
  })
  try {
    const identity = identityOf(await file.stat(), target.field)
    if (identity.size > maxBytes) throw tooLarge(target, Number(identity.size), maxBytes)
    return { file, identity }
  } catch (error) {
    await file.drop()
    throw error
  }
}

const tooLarge = (target: Named, bytes: number, limitBytes: number): ToolError<'FILE_TOO_LARGE'> =>
  new ToolError('FILE_TOO_LARGE', { path: target.path, bytes, limitBytes })

/** Fills `into` from `position` on; answers the bytes read, fewer only at the end of the file. */
async function fill(file: Descriptor, into: Buffer, position: number, signal?: AbortSignal): Promise<number> {
  let filled = 0
  while (filled < into.length) {
    signal?.throwIfAborted()
    const bytes = await file.read(into, filled, into.length - filled, position + filled)
    if (bytes === 0) break
    filled += bytes
  }
  return filled
}

/** Nothing was written in between, as far as the clock of the file system tells. */
export const sameContent = (a: Identifying, b: Identifying): boolean =>
  a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.ctimeNs === b.ctimeNs && a.mtimeNs === b.mtimeNs

/** True when a write from now on would show in the ctime, whose clock is coarse. A ctime in the future proves nothing. */
export function settled(identity: FileIdentity, nowMs: number, settledMs: number): boolean {
  return BigInt(Math.floor(nowMs)) * 1_000_000n - identity.ctimeNs > BigInt(settledMs) * 1_000_000n
}

type Identifying = Pick<FileIdentity, 'dev' | 'ino' | 'size' | 'ctimeNs' | 'mtimeNs'>

/** The bytes of an open file, or undefined when it changed meanwhile. */
async function readWhole(
  file: Descriptor,
  identity: FileIdentity,
  field: string,
  signal?: AbortSignal,
): Promise<Buffer | undefined> {
  const size = Number(identity.size)
  const bytes = Buffer.allocUnsafeSlow(size)
  if ((await fill(file, bytes, 0, signal)) < size) return undefined
  // A file that has grown shows it here.
  const after = identityOf(await file.stat(), field)
  return sameContent(identity, after) ? bytes : undefined
}

export class Files {
  constructor(
    private readonly ground: Ground,
    private readonly bounds: ReadBounds,
  ) {}

  /** Whole bytes of one moment; see the port. */
  async load(
    purpose: Purpose,
    roots: Roots,
    target: Target,
    maxBytes: number,
    signal?: AbortSignal,
  ): Promise<LoadedFile> {
    const started = this.ground.now()
    for (let attempt = 0; attempt < this.bounds.readAttempts; attempt++) {
      signal?.throwIfAborted()
      try {
        const loaded = await inParent(this.ground, roots, target, 'pass', (directory, name) =>
          this.loadFrom(directory, name, target, maxBytes, purpose, signal),
        )
        if (loaded !== undefined) return loaded
      } catch (error) {
        if (!(error instanceof Unsteady)) throw await this.explain(roots, target, started, error)
      }
    }
    throw this.unrest(target, started)
  }

  /** The file under `name`, or undefined when it changed while it was read. */
  async loadFrom(
    directory: Directory,
    name: string,
    target: Named,
    maxBytes: number,
    purpose: Purpose = 'reading',
    signal?: AbortSignal,
  ): Promise<LoadedFile | undefined> {
    const { file, identity } = await openRegular(directory, name, target, maxBytes)
    try {
      const known = settled(identity, this.ground.now(), this.bounds.settledMs)
      const bytes = await readWhole(file, identity, target.field, signal)
      if (bytes === undefined) return undefined
      if (purpose === 'writing') await mayWrite(directory, name)
      return { bytes, identity, settled: known, mayWrite: purpose === 'writing' ? 'yes' : 'unasked' }
    } finally {
      await file.drop()
    }
  }

  async stream(roots: Roots, target: Target, maxBytes: number, signal?: AbortSignal): Promise<FileStream> {
    const started = this.ground.now()
    try {
      const { file, identity } = await inParent(this.ground, roots, target, 'pass', (directory, name) =>
        openRegular(directory, name, target, maxBytes),
      )
      const step = this.bounds.chunkBytes
      const rested = async (): Promise<boolean> => sameContent(identity, identityOf(await file.stat(), target.field))
      const unrest = (): Error => this.unrest(target, started)
      return { identity, chunks: chunksOf(file, Number(identity.size), step, rested, unrest, signal) }
    } catch (error) {
      throw await this.explain(roots, target, started, error)
    }
  }

  async identify(roots: Roots, target: Target): Promise<FileIdentity | undefined> {
    const started = this.ground.now()
    try {
      return await inParent(this.ground, roots, target, 'pass', async (directory, name) =>
        identityOf(await lstat(directory.at(name), { bigint: true }), target.field),
      )
    } catch (error) {
      if (error instanceof ToolError && error.is('NOT_FOUND')) return undefined
      throw error instanceof Unsteady ? this.unrest(target, started) : error
    }
  }

  /** Adds near names to NOT_FOUND, and gives what changed in mid-call its code. */
  private async explain(roots: Roots, target: Target, started: number, error: unknown): Promise<unknown> {
    if (error instanceof Unsteady) return this.unrest(target, started)
    if (!(error instanceof ToolError && error.is('NOT_FOUND'))) return error
    return new ToolError('NOT_FOUND', { ...error.params, suggestions: await this.ground.suggest(roots, target) })
  }

  private unrest(target: Target, since: number): ToolError<'MUTATION_IN_PROGRESS'> {
    const waitedMs = Math.max(0, Math.round(this.ground.now() - since))
    return new ToolError('MUTATION_IN_PROGRESS', { path: target.path, waitedMs })
  }
}

/** Throws EACCES and the like when the process may not write the file, without opening it, so that nobody who watches it is woken. */
export function mayWrite(directory: Directory, name: string): Promise<void> {
  return access(directory.at(name), constants.W_OK)
}

/** The file is closed at the end, on an error, and on `return`, also before the first `next`. */
function chunksOf(
  file: Descriptor,
  size: number,
  step: number,
  rested: () => Promise<boolean>,
  unrest: () => Error,
  signal?: AbortSignal,
): AsyncIterableIterator<Buffer> {
  let position = 0
  let open = true
  const end = async (): Promise<IteratorReturnResult<undefined>> => {
    if (open) {
      open = false
      await file.drop()
    }
    return { done: true, value: undefined }
  }
  const next = async (): Promise<IteratorResult<Buffer, undefined>> => {
    if (!open) return end()
    const chunk = Buffer.allocUnsafeSlow(Math.min(step, size - position))
    const filled = await fill(file, chunk, position, signal)
    position += filled
    if (filled < chunk.length || (position === size && !(await rested()))) throw unrest()
    return filled === 0 ? end() : { done: false, value: chunk }
  }
  return {
    next: () =>
      next().catch(async (error: unknown) => {
        await end()
        throw error
      }),
    return: end,
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
