/**
 * Which directories a session may work in: a workspace, its scratch folder, and external roots that the operator approved (reading §8.13).
 *
 * A symbolic link below the directory of workspaces is no workspace. An external root that is not approved is refused without a look at it. Called by the port.
 */
import { access, lstat, mkdir, readdir, realpath } from 'node:fs/promises'
import { constants } from 'node:fs'
import { posix } from 'node:path'
import { invalidPath } from '../errors/invalid.js'
import { ToolError } from '../errors/tool-error.js'
import { faultOf } from './faults.js'
import { nearest } from './names.js'
import { inside, relativeTo, writtenPath, type PathBounds } from './paths.js'
import type { Roots } from './port.js'
import type { Alias, Resolve } from './resolve.js'
import { checkSessionId } from './scratch.js'

export interface RootParts {
  readonly workspacesDir: string
  readonly scratchDir: string
  readonly externalRoots: readonly string[]
  readonly bounds: PathBounds & { readonly nearNames: number }
}

interface RealRoots {
  readonly workspaces: string
  readonly scratch: string
  readonly external: readonly Alias[]
  readonly aliases: readonly Alias[]
}

export class RootDirectories {
  private readonly workspacesDir: string
  private readonly scratchDir: string
  private readonly externalRoots: readonly string[]
  private known: Promise<RealRoots> | undefined

  /** Throws Error when the scratch directory lies in a workspace or holds the workspaces, which would let one be taken for the other. */
  constructor(private readonly parts: RootParts) {
    this.workspacesDir = posix.resolve(parts.workspacesDir)
    this.scratchDir = posix.resolve(parts.scratchDir)
    this.externalRoots = parts.externalRoots.map((dir) => posix.resolve(dir))
    keepApart(this.workspacesDir, this.scratchDir)
  }

  /** The real paths, found once; the scratch directory is made when it is missing. */
  private real(): Promise<RealRoots> {
    this.known ??= this.find().catch((error: unknown) => {
      this.known = undefined
      throw faultOf(error, '.', 'workspace')
    })
    return this.known
  }

  private async find(): Promise<RealRoots> {
    const workspaces = await realpath(this.workspacesDir)
    await mkdir(this.scratchDir, { recursive: true, mode: 0o700 })
    const scratch = await realpath(this.scratchDir)
    keepApart(workspaces, scratch)
    const external: Alias[] = []
    for (const spelled of this.externalRoots) {
      const real = await realpath(spelled).catch(() => undefined)
      if (real !== undefined) external.push({ spelled, real })
    }
    const all = [
      { spelled: this.workspacesDir, real: workspaces },
      { spelled: this.scratchDir, real: scratch },
      ...external,
    ]
    return { workspaces, scratch, external, aliases: all.filter((a) => a.spelled !== a.real) }
  }

  /** Spellings of the configured directories that are not their real paths. */
  async aliases(): Promise<readonly Alias[]> {
    return (await this.real()).aliases
  }

  async scratch(): Promise<string> {
    return (await this.real()).scratch
  }

  /** Real paths of the directories that hold every root there can be. */
  async bases(): Promise<readonly string[]> {
    const { workspaces, scratch, external } = await this.real()
    return [workspaces, scratch, ...external.map((root) => root.real)]
  }

  /** Real paths of the trees that files are written in, scratch folders left out. */
  async trees(): Promise<readonly string[]> {
    const { workspaces, external } = await this.real()
    const names = await this.names()
    return [...names.map((name) => posix.join(workspaces, name)), ...external.map((root) => root.real)]
  }

  async names(): Promise<readonly string[]> {
    const { workspaces } = await this.real()
    const entries = await readdir(workspaces, { withFileTypes: true })
    return entries
      .filter((entry) => entry.isDirectory() && isWorkspaceName(entry.name))
      .map((entry) => entry.name)
      .sort()
  }

  async of(
    resolve: Resolve,
    workspace: string,
    sessionId: string,
    externalRoots: readonly string[],
    mayOpen: (name: string) => boolean,
  ): Promise<Roots> {
    const real = await this.real()
    await this.assertStands(workspace, posix.join(real.workspaces, workspace), mayOpen)
    return this.opened(resolve, workspace, sessionId, externalRoots)
  }

  /** Looks at external roots alone; see the port. */
  async opened(
    resolve: Resolve,
    workspace: string,
    sessionId: string,
    externalRoots: readonly string[],
  ): Promise<Roots> {
    checkSessionId(sessionId)
    const real = await this.real()
    const dir = posix.join(real.workspaces, workspace)
    const stands = (): Promise<void> => this.assertStands(workspace, dir, () => false)
    const external: string[] = []
    for (const path of externalRoots) external.push(await this.external(path, real.external, resolve))
    return { workspace: { name: workspace, dir }, scratch: posix.join(real.scratch, sessionId), external, stands }
  }

  private async assertStands(workspace: string, dir: string, mayOpen: (name: string) => boolean): Promise<void> {
    if (isWorkspaceName(workspace) && (await isDirectory(dir))) return
    const suggestions = nearest(workspace, (await this.names()).filter(mayOpen), this.parts.bounds.nearNames)
    throw new ToolError('NOT_FOUND', { what: 'workspace', name: workspace, suggestions })
  }

  /** The real path of an approved external root. Links in it are followed as anywhere, and one that leads out of the approved roots is not approved. */
  private async external(path: string, approved: readonly Alias[], resolve: Resolve): Promise<string> {
    const field = 'externalRoots'
    if (!writtenPath(path, field, this.parts.bounds).absolute) throw invalidPath({ kind: 'not absolute' }, field)
    const denied = new ToolError('TOOL_DENIED', { reason: 'external root not approved', path })
    const [first, ...others] = approved.map((root) => root.real)
    if (first === undefined) throw denied
    const allowed = {
      ...{ workspace: { name: '', dir: first }, scratch: first, external: others },
      stands: async () => undefined,
    }
    const target = await resolve(allowed, path, 'read', field).catch((error: unknown) => {
      throw error instanceof ToolError && error.is('PATH_OUTSIDE_WORKSPACE') ? denied : error
    })
    if (!(await isDirectory(target.canonical))) throw invalidPath({ kind: 'not a directory' }, field)
    return target.canonical
  }

  /** True when new files can be made in the directory of workspaces or in one of them. */
  async writable(): Promise<boolean> {
    try {
      const { workspaces } = await this.real()
      for (const dir of [workspaces, ...(await this.names()).map((name) => posix.join(workspaces, name))]) {
        const may = await access(dir, constants.W_OK | constants.X_OK).then(
          () => true,
          () => false,
        )
        if (may) return true
      }
      return false
    } catch {
      return false
    }
  }
}

function isWorkspaceName(name: string): boolean {
  return name !== '' && !name.startsWith('.') && !/[/\0\uFFFD]|\p{Surrogate}/u.test(name)
}

async function isDirectory(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
}

function keepApart(workspaces: string, scratch: string): void {
  if (inside(scratch, workspaces)) throw new Error('SCRATCH_DIR must not hold WORKSPACES_DIR')
  const [top] = inside(workspaces, scratch) ? relativeTo(workspaces, scratch).split('/') : []
  if (top !== undefined && !top.startsWith('.')) throw new Error('SCRATCH_DIR must lie outside every workspace')
}
