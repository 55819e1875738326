/**
 * The rules of a workspace's ignore files as one ignore file of ours (reading §8.12).
 *
 * Ripgrep is told to read no ignore file by itself: it would follow a `.gitignore` that is a link to anywhere, wait for one that is a pipe, and heed those above
 * the root. So the regular ones are read here, bounded and without following links, and their rules are written down as seen from the root. In what comes out
 * the last rule that matches a path decides, as in git. Evaluates no rule. Called by the search.
 */
import { constants } from 'node:fs'
import { posix } from 'node:path'
import type { OpenDirectory } from './directory.js'

export const ignoreNames = ['.gitignore', '.ignore'] as const
export type IgnoreName = (typeof ignoreNames)[number]

export function isIgnoreName(name: string): name is IgnoreName {
  return (ignoreNames as readonly string[]).includes(name)
}

export interface IgnoreFile {
  /** Relative to the root, `.` for the root itself. */
  readonly dir: string
  readonly name: IgnoreName
  readonly text: string
}

export interface RuleBounds {
  readonly ignoreFiles: number
  readonly ignoreFileBytes: number
  readonly ignoreRules: number
}

/** Reads one ignore file; undefined where there is none that is a regular file within the bound and holds UTF-8. */
export async function readIgnoreFile(
  openDirectory: OpenDirectory,
  root: string,
  dir: string,
  name: IgnoreName,
  maxBytes: number,
): Promise<IgnoreFile | 'leftOut' | undefined> {
  try {
    const directory = await openDirectory(posix.join(root, dir), 'pass')
    try {
      const file = await directory.open(name, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
      try {
        const stat = await file.stat()
        if (!stat.isFile()) return undefined
        if (stat.size > maxBytes) return 'leftOut'
        const bytes = Buffer.alloc(Number(stat.size))
        const filled = await file.read(bytes, 0, bytes.length, 0)
        return { dir, name, text: bytes.toString('utf8', 0, filled) }
      } finally {
        await file.drop()
      }
    } finally {
      await directory.close()
    }
  } catch {
    // Gone, a link, unreadable: no rules come from it.
    return undefined
  }
}

export interface RuleText {
  readonly text: string
  readonly leftOut: boolean
}

/**
 * What is searched is decided, from weak to strong: `node_modules` is left out, then the rules of every `.gitignore` from the root down, then those of every
 * `.ignore`, then `.git` is left out, then everything beside the way to `start`. A `start` that a rule names is searched all the same.
 */
export function ruleText(files: readonly IgnoreFile[], start: string, maxRules: number): RuleText {
  const deepest = (a: IgnoreFile, b: IgnoreFile): number => depthOf(a.dir) - depthOf(b.dir)
  const rules = ignoreNames.flatMap((name) =>
    files
      .filter((file) => file.name === name)
      .sort(deepest)
      .flatMap((file) => rulesOf(file)),
  )
  const kept = rules.slice(0, maxRules)
  return {
    text: ['node_modules', ...kept, ...bareRules(start)].map((rule) => `${rule}\n`).join(''),
    leftOut: kept.length < rules.length,
  }
}

/** The same without ignore files: `.git` alone stays out. */
export function bareRules(start: string): string[] {
  return ['.git', ...wayTo(start)]
}

/** Leaves out whatever does not lie on the way to `start` or below it. */
function wayTo(start: string): string[] {
  const names = start === '.' ? [] : start.split('/')
  return names.flatMap((name, i) => {
    const above = names.slice(0, i).map((n) => `${literal(n)}/`)
    return [`/${above.join('')}*`, `!/${above.join('')}${literal(name)}/`]
  })
}

/** The rules of a file as they read from the root. */
function rulesOf(file: IgnoreFile): string[] {
  const lines = file.text.replace(/^\uFEFF/, '').split(/\r?\n/)
  return lines.flatMap((line) => {
    // Comments, rules of nothing, and rules in bytes that are no UTF-8.
    if (line.startsWith('#') || /^!?[/\s]*$/.test(line) || /[\uFFFD\0]/.test(line)) return []
    const rule = bracesAsThemselves(line)
    return [file.dir === '.' ? rule : rebased(rule, file.dir)]
  })
}

/** ripgrep takes braces for alternatives, which rules of git do not know. In a set they mean themselves anyway. */
function bracesAsThemselves(line: string): string {
  return line.replace(/\\.|\[[!^]?\]?[^\]]*\]|[{}]/gs, (part) => (part === '{' || part === '}' ? `\\${part}` : part))
}

/** A rule that holds a slash, other than at its end, is bound to its directory; any other one counts at every depth below. */
function rebased(line: string, dir: string): string {
  const negates = line.startsWith('!')
  const pattern = negates ? line.slice(1) : line
  const bound = pattern.replace(/\/\s*$/, '').includes('/')
  const from = `/${dir
    .split('/')
    .map((name) => literal(name))
    .join('/')}/`
  return `${negates ? '!' : ''}${from}${bound ? '' : '**/'}${pattern.replace(/^\//, '')}`
}

/** A name as a glob that means it alone; a line break, which no rule can hold, stands for any character. */
function literal(name: string): string {
  return name.replace(/[*?[\]{}\\!# ]/g, '\\$&').replaceAll('\n', '?')
}

function depthOf(dir: string): number {
  return dir === '.' ? 0 : dir.split('/').length
}
