/**
 * Parses in the test's own thread.
 */
import { limits } from '../../src/limits.js'
import type { Language } from '../../src/syntax/language.js'
import { LanguageIndex } from '../../src/syntax/language-index.js'
import { languages } from '../../src/syntax/languages.js'
import type { CleanText, ParsedText } from '../../src/syntax/parser-host.js'
import { ParserHost } from '../../src/syntax/parser-host.js'

export const index = new LanguageIndex(languages)
export const host = await ParserHost.create({
  keptTrees: 4,
  keptFiles: 4,
  keptFileUnits: 1_000_000,
  keptUnits: limits.blockParseBytes,
  memoryBytes: 2 ** 30,
})

export function languageOf(path: string, text: string): Language {
  const language = index.of(path, text.split('\n')[0] ?? '')
  if (language === undefined) throw new Error(`no language knows ${path}`)
  return language
}

export function tryParse(path: string, text: string): ParsedText {
  const parsed = host.parse(languageOf(path, text), text, () => false)
  if (parsed === undefined) throw new Error('nothing stops this parse')
  return parsed
}

export function parse(path: string, text: string): CleanText {
  const parsed = tryParse(path, text)
  if (!parsed.clean) throw new Error(`${path} does not parse: ${JSON.stringify(parsed)}`)
  return parsed
}
