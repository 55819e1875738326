/**
 * From a path as written to the real place it means (reading §8.4, §8.11).
 *
 * Follows links by itself, one name at a time, and never looks at anything that is neither inside a root nor on the way down to one: an outside thing that
 * exists and one that does not are refused in the same words. Proves nothing for later: whoever acts opens the parent directory and checks again
 * (directory.ts). Called by the port and, when a place turned out to be displaced, by files and commits.
 */
import { lstat, readlink, realpath } from 'node:fs/promises'
import { posix } from 'node:path'
import { invalidPath } from '../errors/invalid.js'
import { ToolError } from '../errors/tool-error.js'
import type { Denies } from './deny.js'
import { codeOf, faultOf } from './faults.js'
import { inside, namesOf, relativeTo, rootOf, shown, writtenPath, type PathBounds, type WrittenPath } from './paths.js'
import type { Roots, Target } from './port.js'
import { isTempName } from './temp-names.js'

/** A directory under the name the operator or a link uses for it, and under its real one. */
export interface Alias {
  readonly spelled: string
  readonly real: string
}

export interface ResolverParts {
  /** Other spellings of what the roots lie in. */
  readonly aliases: () => Promise<readonly Alias[]>
  readonly denyRead: Denies
  readonly denyWrite: Denies
  readonly bounds: PathBounds & { readonly linksFollowed: number }
}

export type Resolve = (roots: Roots, path: string, access: 'read' | 'write', field?: string) => Promise<Target>

interface Place {
  readonly canonical: string
  readonly exists: boolean
  readonly lastIsLink: boolean
}

/** A step up behind a name that does not exist: there is no such place. */
const nowhere = 'nowhere'

export function resolver(parts: ResolverParts): Resolve {
  return async (roots, path, access, field = 'path') => {
    const written = writtenPath(path, field, parts.bounds)
    const ways = new Ways(roots, await parts.aliases())
    const outside = (): ToolError => new ToolError('PATH_OUTSIDE_WORKSPACE', { path })
    const lexical = ways.translate(
      posix.normalize(`${written.absolute ? '' : roots.workspace.dir}/${written.names.join('/')}`),
    )
    const entered = lexical === undefined ? undefined : rootOf(roots, lexical)
    if (lexical === undefined || entered === undefined) throw outside()
    try {
      const follow = async (from: string): Promise<Place | typeof nowhere | undefined> => {
        await roots.stands()
        return followLinks(ways, namesOf(from), parts.bounds.linksFollowed)
      }
      const place = (await withoutLinks(lexical)) ?? (await follow(lexical))
      const root = place === undefined || place === nowhere ? undefined : rootOf(roots, place.canonical)
      if (place === nowhere) throw invalidPath({ kind: 'link leads nowhere' }, field)
      if (place === undefined || root === undefined) throw outside()
      if (written.stepsBack) {
        const stepped = await follow(written.absolute ? path : `${roots.workspace.dir}/${path}`)
        if (stepped === undefined) throw outside()
        if (stepped !== nowhere && stepped.canonical !== place.canonical) {
          throw invalidPath({ kind: 'dot-dot behind a link' }, field)
        }
      }
      const target: Target = {
        authored: path,
        field,
        path: shown(entered, lexical),
        root: root.kind,
        ...place,
        canonicalPath: shown(root, place.canonical),
      }
      const own = relativeTo(entered.dir, lexical)
      refuseDenied(parts, access, relativeTo(root.dir, place.canonical), own, target)
      await refuseForm(parts.bounds, access, written, target)
      return target
    } catch (error) {
      throw faultOf(error, path, field)
    }
  }
}

function refuseDenied(parts: ResolverParts, access: 'read' | 'write', real: string, own: string, target: Target): void {
  if (parts.denyRead(real)) throw new ToolError('TOOL_DENIED', { reason: 'deny-read rule', path: target.path })
  if (access === 'write' && (parts.denyWrite(real) || parts.denyWrite(own))) {
    throw new ToolError('TOOL_DENIED', { reason: 'deny-write rule', path: target.path })
  }
}

/** Refuses a path that no system call would take, a name of ours, and a file in the clothes of a directory. */
async function refuseForm(
  bounds: PathBounds,
  access: 'read' | 'write',
  written: WrittenPath,
  target: Target,
): Promise<void> {
  if (Buffer.byteLength(target.canonical) >= bounds.pathBytes) {
    throw invalidPath({ kind: 'path too long', limitBytes: bounds.pathBytes }, target.field)
  }
  if (isTempName(posix.basename(target.canonical)) || isTempName(posix.basename(target.path))) {
    throw invalidPath({ kind: 'reserved name' }, target.field)
  }
  if (!written.saysDirectory) return
  if (!target.exists) {
    if (access === 'write') throw invalidPath({ kind: 'names a directory' }, target.field)
  } else if (!(await lstat(target.canonical)).isDirectory()) {
    throw invalidPath({ kind: 'not a directory' }, target.field)
  }
}

/** The common case in one step: the path is its own real path. */
async function withoutLinks(lexical: string): Promise<Place | undefined> {
  const real = await realpath(lexical).catch(() => undefined)
  return real === lexical ? { canonical: lexical, exists: true, lastIsLink: false } : undefined
}

/** Where a walk may go: into the roots, and above them only along the names that lead down to one. */
class Ways {
  constructor(
    private readonly roots: Roots,
    private readonly aliases: readonly Alias[],
  ) {}

  /** The path in real spelling when it lies in a root, else undefined. */
  translate(path: string): string | undefined {
    if (this.enters(path)) return path
    const alias = this.aliases.find((a) => inside(a.spelled, path))
    if (alias === undefined) return undefined
    const real = posix.join(alias.real, relativeTo(alias.spelled, path))
    return this.enters(real) ? real : undefined
  }

  enters(path: string): boolean {
    return rootOf(this.roots, path) !== undefined
  }

  /** The place above the roots that a step onto `path` reaches, undefined when no root lies below it. */
  above(path: string): string | undefined {
    const alias = this.aliases.find((a) => a.spelled === path)
    if (alias !== undefined) return alias.real
    const { workspace, scratch, external } = this.roots
    const ends = [workspace.dir, scratch, ...external, ...this.aliases.map((a) => a.spelled)]
    return ends.some((end) => inside(path, end)) ? path : undefined
  }
}

/**
 * Walks from the root of the file system as the kernel would. Undefined as soon as a step leaves the ways, whatever is or is not there. Throws the system's
 * errors for what it meets inside, ELOOP after `most` links.
 */
async function followLinks(
  ways: Ways,
  names: readonly string[],
  most: number,
): Promise<Place | typeof nowhere | undefined> {
  const pending = names.toReversed()
  let at = '/'
  let links = 0
  let last: boolean | undefined
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === '..') {
      at = posix.dirname(at)
      continue
    }
    const next = posix.join(at, name)
    if (!ways.enters(next)) {
      const above = ways.above(next)
      if (above === undefined) return undefined
      at = above
      continue
    }
    const found = await lookAt(next)
    if (pending.length === 0) last ??= found === 'link'
    if (found === 'missing') {
      if (pending.includes('..')) return nowhere
      const real = await spelledByDisk(ways, at)
      if (real === undefined) return undefined
      return { canonical: posix.join(real, name, ...pending.toReversed()), exists: false, lastIsLink: last ?? false }
    }
    if (found === 'there') {
      at = next
      continue
    }
    if (++links > most) throw Object.assign(new Error('too many links'), { errno: 0, code: 'ELOOP' })
    const to = await readlink(next)
    if (to.startsWith('/')) at = '/'
    pending.push(...namesOf(to).toReversed())
  }
  const real = await spelledByDisk(ways, at)
  return real === undefined ? undefined : { canonical: real, exists: true, lastIsLink: last ?? false }
}

/** The same place as the disk spells it, which differs where names are compared without case. Undefined when it was swapped for one outside. */
async function spelledByDisk(ways: Ways, at: string): Promise<string | undefined> {
  if (!ways.enters(at)) return at
  const real = await realpath(at)
  return ways.enters(real) ? real : undefined
}

async function lookAt(path: string): Promise<'missing' | 'link' | 'there'> {
  try {
    return (await lstat(path)).isSymbolicLink() ? 'link' : 'there'
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'missing'
    throw error
  }
}
