/**
 * A real directory for tests: two workspaces, a sibling with the same prefix, things outside, an approved external root, and the port over them.
 */
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  lstatSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ToolError } from '../../src/errors/tool-error.js'
import { createWorkspace, type WorkspaceOptions } from '../../src/workspace/disk.js'
import type { Roots, Target, WorkspacePort } from '../../src/workspace/port.js'
import { thisInstance } from '../../src/workspace/temp-names.js'

export const sessionId = 'a-session-of-the-tests'
export const maxBytes = 1 << 20

export interface Playground {
  /** Real path of everything below. */
  readonly top: string
  readonly workspacesDir: string
  /** The workspace `ws`. */
  readonly ws: string
  /** A sibling of the workspace whose name begins with the same letters. */
  readonly sibling: string
  readonly outside: string
  readonly external: string
  readonly scratchDir: string
  readonly port: WorkspacePort
  readonly roots: Roots
  /** Writes a file of the workspace, folders included, and gives its absolute path. */
  put(path: string, text: string | Buffer): string
  text(path: string): string
  /** Another port over the same disk. */
  portWith(options: Partial<WorkspaceOptions>): Promise<WorkspacePort>
  remove(): void
}

/** A file system in memory where there is one, for tests of many writes that have nothing to do with durability. */
export const memoryDisk = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export async function playground(options: Partial<WorkspaceOptions> = {}, disk = tmpdir()): Promise<Playground> {
  const top = mkdtempSync(join(realpathSync(disk), 'anchorline-disk-'))
  const workspacesDir = join(top, 'workspaces')
  const [ws, sibling] = [join(workspacesDir, 'ws'), join(workspacesDir, 'ws-outside')]
  const [outside, external, scratchDir] = [join(top, 'outside'), join(top, 'external'), join(top, 'scratch')]
  for (const dir of [ws, sibling, outside, external]) mkdirSync(dir, { recursive: true })
  writeFileSync(join(outside, 'secret.txt'), 'hush\n')
  writeFileSync(join(sibling, 'secret.txt'), 'hush\n')
  const portWith = async (more: Partial<WorkspaceOptions>): Promise<WorkspacePort> =>
    createWorkspace({
      workspacesDir,
      scratchDir,
      externalRoots: [external],
      denyRead: ['private/**'],
      denyWrite: ['**/.git', '**/.git/**'],
      instance: await thisInstance(),
      random: () => randomBytes(8).toString('hex'),
      now: Date.now,
      ...options,
      ...more,
    })
  const port = await portWith({})
  return {
    ...{ top, workspacesDir, ws, sibling, outside, external, scratchDir, port, portWith },
    roots: await port.roots('ws', sessionId, []),
    put(path, text) {
      const file = join(ws, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      return file
    },
    text: (path) => readFileSync(join(ws, path), 'utf8'),
    remove: () => rmSync(top, { recursive: true, force: true }),
  }
}

/** The refusal that `work` ends in; anything else that is thrown is thrown on, and no refusal at all is an error. */
export async function refusalOf(work: Promise<unknown> | (() => Promise<unknown>)): Promise<ToolError> {
  try {
    await (typeof work === 'function' ? work() : work)
  } catch (error) {
    if (error instanceof ToolError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

export const codeOf = async (work: Promise<unknown> | (() => Promise<unknown>)): Promise<string> =>
  (await refusalOf(work)).code

/** Every name below `dir` with what it is and holds, for comparing a whole tree before and after. */
export function picture(dir: string): Record<string, string> {
  const at = (prefix: string): [string, string][] =>
    readdirSync(join(dir, prefix))
      .sort()
      .flatMap((name): [string, string][] => {
        const path = join(prefix, name)
        const stats = lstatSync(join(dir, path))
        if (stats.isDirectory()) return [[`${path}/`, 'directory'], ...at(path)]
        if (stats.isSymbolicLink()) return [[path, `-> ${readlinkSync(join(dir, path))}`]]
        return [[path, stats.isFile() ? readFileSync(join(dir, path), 'latin1') : 'special']]
      })
  return Object.fromEntries(at(''))
}

/** Names of temporary files of the service below `dir`. */
export function temps(dir: string): readonly string[] {
  return Object.keys(picture(dir)).filter((path) => path.includes('.anchorline-') && path.endsWith('.tmp'))
}

/** Load, change, and put back through the port; the answer of the commit. */
export async function rewrite(
  place: Playground,
  path: string,
  text: string,
  confirm: () => Promise<void> = async () => {},
): Promise<Awaited<ReturnType<WorkspacePort['replace']>>> {
  const target = await place.port.resolve(place.roots, path, 'write')
  const base = await place.port.load(place.roots, target, maxBytes)
  return place.port.replace(place.roots, target, base, Buffer.from(text), confirm)
}

export const resolved = (place: Playground, path: string, access: 'read' | 'write' = 'read'): Promise<Target> =>
  place.port.resolve(place.roots, path, access)
