/**
 * Shows what opens on every line of files: `node dist/src/syntax/show-blocks.js FILE…`.
 *
 * The gutter holds the line, and the last line of the block that opens there or the reason why none does. For whoever writes a language file; of many files, the output of
 * two versions of the rules can be compared.
 */
import { readFileSync } from 'node:fs'
import { limits } from '../limits.js'
import type { BlockAnswer } from '../text/facts.js'
import { LanguageIndex } from './language-index.js'
import { languages } from './languages.js'
import { ParserHost } from './parser-host.js'

const memoryBytes = 1024 * 1024 * 1024
const index = new LanguageIndex(languages)

/** The file with its answers, or the reason why there are none. */
function shown(host: ParserHost, path: string): string | { readonly problem: string } {
  const text = textOf(path)
  if (typeof text !== 'string') return text
  const lines = text.split('\n')
  const language = index.of(path, lines[0] ?? '')
  if (language === undefined) return { problem: `no language file knows ${path}` }
  const parsed = host.parse(language, text, () => false)
  if (!parsed?.clean) {
    const where = parsed !== undefined && 'errorRow' in parsed ? `: line ${parsed.errorRow + 1}` : ''
    return { problem: `${path} does not parse as ${language.name}${where}` }
  }
  if (lines.at(-1) === '') lines.pop()
  const width = String(lines.length).length
  const rows = lines.map((line, row) => {
    const answer = outcome(parsed.blocks.at(row + 1), width)
    return `${String(row + 1).padStart(width)} ${answer} | ${line}\n`
  })
  return rows.join('')
}

function textOf(path: string): string | { readonly problem: string } {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    return { problem: `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}` }
  }
}

function outcome(answer: BlockAnswer, width: number): string {
  return (answer.found ? `→ ${String(answer.span.end).padStart(width)}` : answer.reason.kind).padEnd(12)
}

async function main(paths: readonly string[]): Promise<number> {
  if (paths.length === 0) process.stderr.write('usage: show-blocks FILE…\n')
  const host = await ParserHost.create({
    keptTrees: 1,
    keptFiles: 1,
    keptFileUnits: 1_000_000,
    keptUnits: limits.blockParseBytes,
    memoryBytes,
  })
  let problems = 0
  for (const path of paths) {
    const result = shown(host, path)
    if (paths.length > 1) process.stdout.write(`== ${path}\n`)
    if (typeof result === 'string') process.stdout.write(result)
    else {
      problems++
      process.stderr.write(`${result.problem}\n`)
    }
  }
  return problems === paths.length ? 1 : 0
}

process.exitCode = await main(process.argv.slice(2))
