/**
 * Paths as text: what a caller may write, and which root a real path lies in (reading §8.4, §8.13).
 *
 * Looks at no disk, so nothing here proves containment; it only says what cannot be a path and where a path would begin. A backslash and a percent sequence are
 * plain characters of a name. Called by the resolver and by everything that compares paths.
 */
import { posix } from 'node:path'
import { invalidPath } from '../errors/invalid.js'
import type { RootKind, Roots } from './port.js'

export interface PathBounds {
  readonly pathBytes: number
  readonly nameBytes: number
}

/** A path that may be looked for. */
export interface WrittenPath {
  readonly authored: string
  readonly absolute: boolean
  /** Without empty names and `.`; `..` is still in it. */
  readonly names: readonly string[]
  /** Ends in `/`, `.` or `..` and so can only mean a directory. */
  readonly saysDirectory: boolean
  /** A `..` follows a name, so that a symbolic link under that name would make two readings. */
  readonly stepsBack: boolean
}

/** Throws INVALID_ARGUMENT for what no file can be named. */
export function writtenPath(authored: string, field: string, bounds: PathBounds): WrittenPath {
  if (authored === '') throw invalidPath({ kind: 'empty' }, field)
  if (authored.includes('\0')) throw invalidPath({ kind: 'nul' }, field)
  if (/\p{Surrogate}/u.test(authored)) throw invalidPath({ kind: 'lone surrogate' }, field)
  if (Buffer.byteLength(authored) > bounds.pathBytes) {
    throw invalidPath({ kind: 'path too long', limitBytes: bounds.pathBytes }, field)
  }
  const names = namesOf(authored)
  if (names.some((name) => name.length * 3 > bounds.nameBytes && Buffer.byteLength(name) > bounds.nameBytes)) {
    throw invalidPath({ kind: 'name too long', limitBytes: bounds.nameBytes }, field)
  }
  return {
    authored,
    absolute: authored.startsWith('/'),
    names,
    saysDirectory: /(?:^|\/)\.{0,2}$/.test(authored),
    stepsBack: names.some((name, i) => name === '..' && i > 0 && names[i - 1] !== '..'),
  }
}

/** The names of a path, without empty ones and `.`. */
export function namesOf(path: string): readonly string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

/** `path` is `dir` or lies below it; both absolute and normalized. A sibling that begins with the same letters is not inside. */
export function inside(dir: string, path: string): boolean {
  return path === dir || path.startsWith(dir === '/' ? dir : `${dir}/`)
}

/** `path` relative to `dir`, `.` for `dir` itself; `path` lies inside. */
export function relativeTo(dir: string, path: string): string {
  return posix.relative(dir, path) || '.'
}

export interface RootOf {
  readonly kind: RootKind
  readonly dir: string
}

/** The root that a real path lies in: workspace first, then scratch, then the external roots in their order; undefined outside all of them. */
export function rootOf(roots: Roots, real: string): RootOf | undefined {
  if (inside(roots.workspace.dir, real)) return { kind: 'workspace', dir: roots.workspace.dir }
  if (inside(roots.scratch, real)) return { kind: 'scratch', dir: roots.scratch }
  const external = roots.external.find((dir) => inside(dir, real))
  return external === undefined ? undefined : { kind: 'external', dir: external }
}

/** How a real path is shown: relative in the workspace, absolute elsewhere. */
export function shown(root: RootOf, path: string): string {
  return root.kind === 'workspace' ? relativeTo(root.dir, path) : path
}
