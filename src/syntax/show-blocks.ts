/**
 * Shows what opens on every line of a file: `node dist/src/syntax/show-blocks.js FILE`.
 *
 * The gutter holds the line, and the last line of the block that opens there or the reason why none does. For whoever writes a language file.
 */
import { readFileSync } from 'node:fs'
import { limits } from '../limits.js'
import type { BlockAnswer } from '../text/facts.js'
import { LanguageIndex, languages } from './languages.js'
import { ParserHost } from './parser-host.js'

const memoryBytes = 1024 * 1024 * 1024

async function main(path: string | undefined): Promise<number> {
  if (path === undefined) return complain('usage: show-blocks FILE')
  const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  const lines = text.split('\n')
  const language = new LanguageIndex(languages).of(path, lines[0] ?? '')
  if (language === undefined) return complain(`no language file knows ${path}`)
  const host = await ParserHost.create({ keptTrees: 1, keptUnits: limits.blockParseBytes, memoryBytes })
  const parsed = host.parse(language, text, () => false)
  if (!parsed?.clean) {
    const where = parsed !== undefined && 'errorRow' in parsed ? `: line ${parsed.errorRow + 1}` : ''
    return complain(`${path} does not parse as ${language.name}${where}`)
  }
  if (lines.at(-1) === '') lines.pop()
  const width = String(lines.length).length
  for (const [index, line] of lines.entries()) {
    const gutter = `${String(index + 1).padStart(width)} ${outcome(parsed.blocks.at(index + 1), width)}`
    process.stdout.write(`${gutter} | ${line}\n`)
  }
  return 0
}

function outcome(answer: BlockAnswer, width: number): string {
  return (answer.found ? `→ ${String(answer.span.end).padStart(width)}` : answer.reason.kind).padEnd(12)
}

function complain(message: string): number {
  process.stderr.write(`${message}\n`)
  return 1
}

process.exitCode = await main(process.argv[2])
