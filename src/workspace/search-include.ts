/**
 * The `include` glob of a search: `*`, `?`, `[a-z]`, `{a,b}`, `**` between slashes, `!` in front, `\` before a character that means itself.
 *
 * Globs come from callers, so matching never backtracks: its cost is at most length of the path times length of the glob, and the wildcards of a glob are counted.
 * Names that begin with a dot are like others. Called by the search.
 */
import { includeInvalid } from '../errors/invalid.js'

export interface GlobBounds {
  readonly globWildcards: number
  readonly globAlternatives: number
}

export interface Include {
  /** Both relative, with `/`: from the root, and from the directory where the search starts. */
  readonly covers: (fromRoot: string, fromStart: string) => boolean
  /** A glob of bare names that covers at least the same files, when there is one that every glob dialect reads alike. */
  readonly names: string | undefined
}

/**
 * `letter` and `set` take one character; `star` any run without `/`; `rest` anything. `dirs` and `inside` together stand for any number of whole directories:
 * at `dirs` a name may begin, at `inside` one is under way.
 */
type Step =
  | { readonly kind: 'letter'; readonly letter: string }
  | { readonly kind: 'set'; readonly holds: (letter: string) => boolean }
  | { readonly kind: 'star' | 'rest' | 'dirs' | 'inside' }

/** Throws INVALID_ARGUMENT. */
export function parseInclude(glob: string, bounds: GlobBounds): Include {
  const inverted = glob.startsWith('!')
  const body = (inverted ? glob.slice(1) : glob).replace(/^(?:\.?\/)+/, '').replace(/\/$/, '/**')
  const byName = !body.includes('/')
  const alternatives = alternativesOf(body, bounds.globAlternatives).map((plain) => stepsOf(plain, bounds))
  const any = (path: string): boolean => alternatives.some((steps) => matches(steps, path))
  const covers = (fromRoot: string, fromStart: string): boolean =>
    (byName ? any(fromRoot.slice(fromRoot.lastIndexOf('/') + 1)) : any(fromRoot) || any(fromStart)) !== inverted
  const last = body.slice(body.lastIndexOf('/') + 1)
  return { covers, names: !inverted && /^(?!\*\*)[\w.*?-]+$/.test(last) ? last : undefined }
}

/** Expands braces, nested ones too. */
function alternativesOf(glob: string, most: number): string[] {
  const open = unescaped(glob, '{')
  if (open < 0) return [glob]
  const parts: string[] = []
  let depth = 0
  let from = open + 1
  for (let at = open; at < glob.length; at++) {
    const letter = glob[at]
    if (letter === '\\') at++
    else if (letter === '{') depth++
    else if (letter === ',' && depth === 1) {
      parts.push(glob.slice(from, at))
      from = at + 1
    } else if (letter === '}' && --depth === 0) {
      parts.push(glob.slice(from, at))
      if (parts.length > most) throw includeInvalid({ kind: 'too many alternatives', limit: most })
      const all = parts.flatMap((part) => alternativesOf(glob.slice(0, open) + part + glob.slice(at + 1), most))
      if (all.length > most) throw includeInvalid({ kind: 'too many alternatives', limit: most })
      return all
    }
  }
  throw includeInvalid({ kind: 'unclosed', bracket: '{' })
}

function unescaped(glob: string, wanted: string): number {
  for (let at = 0; at < glob.length; at++) {
    if (glob[at] === '\\') at++
    else if (glob[at] === wanted) return at
  }
  return -1
}

function stepsOf(glob: string, bounds: GlobBounds): Step[] {
  const steps: Step[] = []
  let wildcards = 0
  let at = 0
  const wildcard = (length: number, ...more: Step[]): void => {
    if (++wildcards > bounds.globWildcards) {
      throw includeInvalid({ kind: 'too many wildcards', limit: bounds.globWildcards })
    }
    steps.push(...more)
    at += length
  }
  while (at < glob.length) {
    const here = glob.slice(at, at + 3)
    const atName = at === 0 || glob[at - 1] === '/'
    if (atName && here === '**/') wildcard(3, { kind: 'dirs' }, { kind: 'inside' })
    else if (atName && here === '**') wildcard(2, { kind: 'rest' })
    else if (here.startsWith('*')) wildcard(1, { kind: 'star' })
    else if (here.startsWith('?')) wildcard(1, { kind: 'set', holds: (letter) => letter !== '/' })
    else if (here.startsWith('[')) {
      const { holds, length } = setOf(glob, at)
      wildcard(length, { kind: 'set', holds })
    } else {
      if (here.startsWith('\\') && at + 1 < glob.length) at++
      const letter = String.fromCodePoint(glob.codePointAt(at) ?? 0)
      steps.push({ kind: 'letter', letter })
      at += letter.length
    }
  }
  return steps
}

/** A set in brackets that opens at `from`: `[abc]`, `[a-z]`, `[!a]`, `[^a]`; `]` first is itself. Never holds `/`. */
function setOf(glob: string, from: number): { readonly holds: (letter: string) => boolean; readonly length: number } {
  const match = /^\[([!^]?)((?:\]|\\.|[^\]\\])(?:\\.|[^\]\\])*)\]/su.exec(glob.slice(from))
  if (!match) throw includeInvalid({ kind: 'unclosed', bracket: '[' })
  const letters = [...(match[2] ?? '').matchAll(/(?:\\)?(.)(?:-(?:\\)?(.))?/gsu)]
  const ranges = letters.map(([, low = '', high]) => [low, high ?? low] as const)
  const holds = (letter: string): boolean =>
    letter !== '/' && ranges.some(([low, high]) => low <= letter && letter <= high) !== (match[1] !== '')
  return { holds, length: match[0].length }
}

/** Walks the path once with the set of all places in the glob that it may have come to. */
function matches(steps: readonly Step[], path: string): boolean {
  let places = withSkips(steps, new Set([0]))
  for (const letter of path) {
    const next = new Set<number>()
    for (const place of places) for (const to of moves(steps[place], place, letter)) next.add(to)
    if (next.size === 0) return false
    places = withSkips(steps, next)
  }
  return places.has(steps.length)
}

function moves(step: Step | undefined, place: number, letter: string): readonly number[] {
  switch (step?.kind) {
    case 'letter':
      return step.letter === letter ? [place + 1] : []
    case 'set':
      return step.holds(letter) ? [place + 1] : []
    case 'star':
      return letter === '/' ? [] : [place]
    case 'rest':
      return [place]
    case 'dirs':
      return letter === '/' ? [] : [place + 1]
    case 'inside':
      return letter === '/' ? [place - 1] : [place]
    case undefined:
      return []
  }
}

/** Adds what is reached without a character: a star may be over, and so may any number of directories. */
function withSkips(steps: readonly Step[], places: Set<number>): Set<number> {
  for (const place of places) {
    const kind = steps[place]?.kind
    if (kind === 'star' || kind === 'rest') places.add(place + 1)
    else if (kind === 'dirs') places.add(place + 2)
  }
  return places
}
