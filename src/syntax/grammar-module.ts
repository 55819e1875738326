/**
 * Turns the bytes of a grammar into code.
 *
 * Some grammars hold a function so large that the optimizing compiler works on it for seconds, in the background, while the process can neither use that core nor
 * end, and parse no faster for it. Such a grammar says so in its language file, and its module is compiled once, whole, by the baseline compiler. Called by the parser host.
 */
import { setFlagsFromString } from 'node:v8'
import { Language as Grammar } from 'web-tree-sitter'
import { withCurrentDylink } from './dylink.js'
import { readGrammar } from './grammar-files.js'
import type { WasmSource } from './language.js'

/** The part of the engine's WebAssembly that is used here; Node's types leave it to the browser's. */
declare const WebAssembly: { readonly Module: new (bytes: Uint8Array) => object }

/** Flags that the compiler looks at while a module is compiled. Together they mean: everything, now, and never again. */
const tierFlags = ['wasm-dynamic-tiering', 'wasm-tier-up', 'wasm-lazy-compilation']

/** A grammar is missing, altered or does not parse its sample: nothing is wrong with the thread that found out. */
export class GrammarUnfit extends Error {}

export function loadGrammar(source: WasmSource): Grammar {
  try {
    const bytes = withCurrentDylink(readGrammar(source))
    return Grammar.loadSync(source.baseline === true ? compiledAtOnce(bytes) : new WebAssembly.Module(bytes))
  } catch (error) {
    throw new GrammarUnfit(`${source.package}/${source.file} cannot be loaded`, { cause: error })
  }
}

function compiledAtOnce(bytes: Uint8Array): object {
  for (const flag of tierFlags) setFlagsFromString(`--no-${flag}`)
  try {
    return new WebAssembly.Module(bytes)
  } finally {
    for (const flag of tierFlags) setFlagsFromString(`--${flag}`)
  }
}
