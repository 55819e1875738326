/**
 * The languages there are, and which one a path is written in.
 *
 * Every file of the compiled `grammars/` folder is a language: adding one is adding a file. The choice is by file name, then by extension, then, for a file
 * without extension, by the interpreter in its `#!` line. Content is never looked at beyond that line.
 */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { languagesFolder } from './grammar-files.js'
import type { Language } from './language.js'

/** Every language, sorted by the name of its file. */
export async function loadLanguages(folder = languagesFolder): Promise<readonly Language[]> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.js'))
  return Promise.all(
    files.sort().map(async (name) => {
      const module = (await import(pathToFileURL(join(folder, name)).href)) as { language?: Language }
      if (module.language === undefined) throw new Error(`grammars/${name} exports no language`)
      return module.language
    }),
  )
}

/** Finds a language by its name, or by a path and the first line of the file. */
export class LanguageIndex {
  readonly #byName = new Map<string, Language>()
  readonly #byFileName = new Map<string, Language>()
  readonly #byExtension = new Map<string, Language>()
  readonly #byInterpreter = new Map<string, Language>()

  constructor(all: readonly Language[]) {
    for (const language of all) {
      put(this.#byName, language.name, language)
      for (const name of language.fileNames ?? []) put(this.#byFileName, name, language)
      for (const extension of language.extensions) put(this.#byExtension, extension, language)
      for (const interpreter of language.interpreters ?? []) put(this.#byInterpreter, interpreter, language)
    }
  }

  named(name: string): Language | undefined {
    return this.#byName.get(name)
  }

  of(path: string, firstLine: string): Language | undefined {
    const name = basename(path)
    return this.#byFileName.get(name) ?? this.#ofExtension(name.toLowerCase()) ?? this.#ofInterpreter(name, firstLine)
  }

  /** The longest extension that is known: of `a.b.c` first `.b.c`, then `.c`. */
  #ofExtension(name: string): Language | undefined {
    for (let dot = name.indexOf('.', 1); dot !== -1; dot = name.indexOf('.', dot + 1)) {
      const language = this.#byExtension.get(name.slice(dot))
      if (language !== undefined) return language
    }
    return undefined
  }

  #ofInterpreter(name: string, firstLine: string): Language | undefined {
    if (name.includes('.')) return undefined
    const words = /^#!\s*(\S+)(?:\s+(.*))?$/.exec(firstLine.trimEnd())
    if (words === null) return undefined
    const [, command = '', rest = ''] = words
    const program = basename(command) === 'env' ? (rest.split(/\s+/).find((word) => !/^-|=/.test(word)) ?? '') : command
    return this.#byInterpreter.get(basename(program).replace(/[\d.]+$/, ''))
  }
}

function put(index: Map<string, Language>, key: string, language: Language): void {
  const other = index.get(key)
  if (other !== undefined) throw new Error(`${language.name} and ${other.name} both claim ${key}`)
  index.set(key, language)
}
