/**
 * What opens where, against the corpora, and the laws that hold for every file (reading §7).
 */
import t from 'tap'
import { limits } from '../../src/limits.js'
import { LanguageIndex, languages } from '../../src/syntax/languages.js'
import type { CleanText } from '../../src/syntax/parser-host.js'
import { ParserHost } from '../../src/syntax/parser-host.js'
import { inTerms, samples } from './corpus.js'

const index = new LanguageIndex(languages)
const host = await ParserHost.create({ keptTrees: 4, keptUnits: limits.blockParseBytes, memoryBytes: 2 ** 30 })

function parsed(path: string, text: string): CleanText {
  const language = index.of(path, text.split('\n')[0] ?? '')
  if (language === undefined) throw new Error(`no language knows ${path}`)
  const result = host.parse(language, text, () => false)
  if (result?.clean !== true) throw new Error(`${path} does not parse: ${JSON.stringify(result)}`)
  return result
}

for (const sample of samples) {
  t.test(`${sample.language}: ${sample.path}, ${sample.title}`, async (t) => {
    const { blocks } = parsed(sample.path, sample.text)
    const told = sample.expected.map((_, row) => inTerms(blocks.at(row + 1)))
    t.same(withSource(sample.text, told), withSource(sample.text, sample.expected))
  })
}

function withSource(text: string, answers: readonly (number | string)[]): string[] {
  const lines = text.split('\n')
  return answers.map((answer, row) => `${row + 1} ${answer} | ${lines[row] ?? ''}`)
}
