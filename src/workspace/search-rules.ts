/**
 * Collects the ignore rules of a search and hands them to ripgrep as a file (reading §8.12).
 *
 * The rules of the root and of the way to the start are read first; a walk under them then finds the ignore files below, so that what they leave out is not
 * walked. Called by the search.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import type { OpenDirectory } from './directory.js'
import type { IgnoreFile, RuleBounds, RuleText } from './ignore.js'
import { ignoreNames, readIgnoreFile, ruleText } from './ignore.js'
import type { Children } from './search-child.js'
import { PathRows } from './search-rows.js'

export interface RuleParts {
  readonly children: Children
  readonly openDirectory: OpenDirectory
  readonly bounds: RuleBounds
  readonly timeMs: number
}

/** What every walk is told: look at hidden files, and heed the rules of this file alone. */
export function walkArgs(ruleFile: string): string[] {
  return ['--no-config', '--no-messages', '--null', '--hidden', '--no-ignore', `--ignore-file=${ruleFile}`]
}

/**
 * The rules for a search in `root` from `start`, both as in SearchScope. `dirs`: all directories that hold an ignore file, when the caller knows them already.
 */
export async function collectRules(
  parts: RuleParts,
  root: string,
  start: string,
  dirs: ReadonlySet<string> | undefined,
): Promise<RuleText> {
  const names = start === '.' ? [] : start.split('/')
  const way = ['.', ...names.map((_, i) => names.slice(0, i + 1).join('/'))]
  const own = await readAll(parts, root, way)
  const first = ruleText(own.files, start, parts.bounds.ignoreRules)
  const below = dirs ? { dirs, leftOut: false } : await dirsBelow(parts, root, first)
  const nested = await readAll(
    parts,
    root,
    [...below.dirs].filter((dir) => !way.includes(dir)),
  )
  const all =
    nested.files.length === 0 ? first : ruleText([...own.files, ...nested.files], start, parts.bounds.ignoreRules)
  return { text: all.text, leftOut: all.leftOut || own.leftOut || nested.leftOut || below.leftOut }
}

/** The directories with an ignore file that a walk under `rules` comes to. */
async function dirsBelow(
  parts: RuleParts,
  root: string,
  rules: RuleText,
): Promise<{ readonly dirs: ReadonlySet<string>; readonly leftOut: boolean }> {
  const dirs = new Set<string>()
  const rows = new PathRows(false)
  const end = await withRuleFile(rules.text, (ruleFile) =>
    parts.children.run({
      args: ['--files', ...walkArgs(ruleFile), ...ignoreNames.map((name) => `--glob=${name}`), '--', '.'],
      cwd: root,
      timeMs: parts.timeMs,
      take: (chunk) => {
        for (const row of rows.take(chunk)) if (row) dirs.add(posix.dirname(row.path))
        return dirs.size >= parts.bounds.ignoreFiles
      },
    }),
  )
  return { dirs, leftOut: end.how !== 'exit' }
}

async function readAll(
  parts: RuleParts,
  root: string,
  dirs: Iterable<string>,
): Promise<{ readonly files: readonly IgnoreFile[]; readonly leftOut: boolean }> {
  const files: IgnoreFile[] = []
  let leftOut = false
  for (const dir of dirs) {
    for (const name of ignoreNames) {
      const file = await readIgnoreFile(parts.openDirectory, root, dir, name, parts.bounds.ignoreFileBytes)
      if (file === 'leftOut') leftOut = true
      else if (file !== undefined) files.push(file)
    }
  }
  return { files, leftOut }
}

/** Gives `use` the path of a file with these rules, in a folder that only this process can look into and that is gone afterwards. */
export async function withRuleFile<T>(text: string, use: (file: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'anchorline-search-'))
  try {
    const file = join(dir, 'rules')
    await writeFile(file, text)
    return await use(file)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
