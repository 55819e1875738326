/**
 * Puts what is not code beside the compiled code: run after the compiler by `npm run build`.
 *
 * Grammars are copied from the packages that ship them, which are needed to build and not to run, and only when their SHA-256 is the one their language file gives.
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageRoot } from './package-root.js'
import { builtPath, checkedBytes, grammarsFolder, packagedPath } from './syntax/grammar-files.js'
import { languages } from './syntax/languages.js'

/** Further files and folders to copy, from the package root into the compiled tree, under the same path. */
const copied: readonly string[] = []

function copyGrammars(): number {
  rmSync(grammarsFolder, { recursive: true, force: true })
  const sources = new Map(
    languages.flatMap(({ sources }) => sources.map((source) => [builtPath(source), source] as const)),
  )
  for (const [path, source] of sources) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, checkedBytes(packagedPath(source), source))
  }
  return sources.size
}

const root = packageRoot(import.meta.url)
const compiled = dirname(import.meta.dirname)
for (const path of copied) cpSync(join(root, path), join(compiled, path), { recursive: true })
process.stdout.write(`${copyGrammars()} grammars of ${languages.length} languages\n`)
