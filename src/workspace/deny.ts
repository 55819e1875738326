/**
 * The operator's deny globs (reading §8.11), matched against a path relative to its root, hidden names included.
 *
 * A glob covers exactly what it matches: `secrets` covers that name alone, `secrets/**` that name and what lies below it. A name may hold a line break, and a glob
 * still covers it. Called by the resolver, near names and the search.
 */
import picomatch from 'picomatch'

/** True when the path, relative to its root and without a leading slash, is covered. */
export type Denies = (relativePath: string) => boolean

export function denyRule(globs: readonly string[]): Denies {
  if (globs.length === 0) return () => false
  return picomatch([...globs], { dot: true, flags: 's' })
}
