/** docs/language.md says what the parser does. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ToolError } from '../../src/errors/tool-error.js'
import { limits } from '../../src/limits.js'
import { packageRoot } from '../../src/package-root.js'
import { outcome, verdict } from './notation.js'

const text = readFileSync(join(packageRoot(import.meta.url), 'docs/language.md'), 'utf8')

const blocksOf = (language: string): string[] =>
  [...text.matchAll(/^```(\S+)\n(.*?)\n```$/gms)].flatMap(([, found, body = '']) => (found === language ? [body] : []))

t.test('every accepted example parses', async (t) => {
  const wrong = blocksOf('ops').filter((ops) => outcome(ops) instanceof ToolError)
  t.strictSame(wrong, [])
  t.ok(blocksOf('ops').length >= 25)
})

t.test('no example puts back what the file of the page already holds', async (t) => {
  const file = [...text.matchAll(/^\d+:(.*)$/gm)].slice(0, 6).map(([, row = '']) => row)
  t.equal(file[0], "import { env } from 'node:process'")
  for (const ops of blocksOf('ops')) {
    const patch = outcome(ops)
    for (const op of patch instanceof ToolError ? [] : patch.ops)
      if (op.kind === 'put' && op.at.kind === 'range')
        t.not(op.rows.join('\n'), file.slice(op.at.first - 1, op.at.last).join('\n'), ops)
  }
})

t.test('every refused example is refused with a next step', async (t) => {
  for (const ops of blocksOf('ops-refused')) {
    const result = outcome(ops)
    t.ok(
      result instanceof ToolError &&
        result.is('EDIT_PARSE_FAILED', 'EDIT_RANGE_INVALID') &&
        'suggestion' in result.fields,
      ops,
    )
  }
  t.ok(blocksOf('ops-refused').length >= 10)
})

t.test('the table of refusals shows the corrections of the parser', async (t) => {
  const rows = [...text.matchAll(/^\| `([^`]+)` \| `([^`]+)` \|$/gm)]
  t.ok(rows.length >= 14)
  for (const [, found = '', write = ''] of rows) t.ok(verdict(found).endsWith(` = ${write}`), found)
})

t.test('the numbers are those of the limits', async (t) => {
  for (const limit of [limits.opsBytes, limits.opsPerCall, limits.expandedLines, limits.registerNameChars])
    t.ok(text.includes(limit.toLocaleString('en-US')), `${limit}`)
})
