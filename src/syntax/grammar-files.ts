/**
 * Where the compiled grammars are, and that they are the ones the language files name.
 *
 * A build carries its grammars in `grammars/wasm/`; a development tree reads them from the packages that ship them. A file with another SHA-256 than the language
 * file gives is refused, wherever it was found. Called by the parser host and by the build.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageRoot } from '../package-root.js'
import type { WasmSource } from './language.js'

/** The folder of compiled language files, beside the compiled sources. */
export const languagesFolder = fileURLToPath(new URL('../../grammars/', import.meta.url))

/** The folder in which a build keeps its grammars, one folder per package. */
export const grammarsFolder = join(languagesFolder, 'wasm')

/** Where a build keeps the file. */
export function builtPath(source: WasmSource): string {
  return join(grammarsFolder, source.package, basename(source.file))
}

/** Where the package that ships the file keeps it. */
export function packagedPath(source: WasmSource): string {
  return join(packageRoot(import.meta.url), 'node_modules', source.package, source.file)
}

/** The bytes of a grammar. Throws when there is no such file or its SHA-256 is another one. */
export function readGrammar(source: WasmSource): Uint8Array {
  const built = builtPath(source)
  return checkedBytes(existsSync(built) ? built : packagedPath(source), source)
}

/** The bytes at a path, when their SHA-256 is the one that `source` gives. */
export function checkedBytes(path: string, source: WasmSource): Uint8Array {
  const bytes = readFileSync(path)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if (sha256 !== source.sha256)
    throw new Error(`${path} has SHA-256 ${sha256}, the language file expects ${source.sha256}`)
  return bytes
}
