/**
 * The tool definitions carry what a model must be told, in every shape (contract §13.6).
 */
import t from 'tap'
import { antiPatterns, bodyRules, editGuidance, exampleFile, operationTable, rules } from '../../src/http/guidance.js'
import { toolDefinitions, toolFormats } from '../../src/http/tool-definitions.js'
import { ToolError } from '../../src/errors/tool-error.js'
import { limits } from '../../src/limits.js'
import { parseOps } from '../../src/patch/parser.js'
import { appUnderTest } from './app-under-test.js'

interface Flat {
  name: string
  description: string
  parameters: { properties: Record<string, unknown>; required: string[]; additionalProperties: boolean }
}

/** A definition of any shape as name, description and parameters. */
function flat(tool: Record<string, unknown>): Flat {
  const body = (tool['type'] === 'function' ? tool['function'] : tool) as Record<string, unknown>
  const parameters = body['parameters'] ?? body['input_schema'] ?? body['inputSchema']
  return { name: body['name'], description: body['description'], parameters } as Flat
}

t.test('every shape has the four tools with the parameters that a model decides', async (t) => {
  for (const format of toolFormats) {
    const tools = (toolDefinitions([format])[format] ?? []).map(flat)
    t.same(
      tools.map(({ name, parameters }) => [name, Object.keys(parameters.properties), parameters.required]),
      [
        ['Read', ['path', 'offset', 'limit', 'raw'], ['path']],
        [
          'Grep',
          ['pattern', 'path', 'include', 'outputMode', 'headLimit', 'caseInsensitive', 'literal', 'includeIgnored'],
          ['pattern'],
        ],
        ['Write', ['path', 'content', 'tag'], ['path', 'content']],
        ['Edit', ['path', 'tag', 'ops'], ['path', 'tag', 'ops']],
      ],
    )
    for (const { parameters } of tools) t.equal(parameters.additionalProperties, false)
  }
})

t.test(
  'Edit carries the operation table, the body rules, the guidance and the six anti-patterns in every shape',
  async (t) => {
    t.equal(antiPatterns.length, 6)
    for (const format of toolFormats) {
      const edit = (toolDefinitions([format])[format] ?? []).map(flat).find(({ name }) => name === 'Edit')!
      const says = (text: string): void => {
        t.ok(edit.description.includes(text), `${format}: ${text}`)
      }
      for (const [form, meaning] of operationTable) {
        says(form)
        says(meaning)
      }
      for (const rule of [...bodyRules, ...rules]) says(rule)
      t.match(edit.description, /ranges name changed lines only/i)
      t.match(edit.description, /re-ground after every edit/i)
      for (const { name, wrong, why, right } of antiPatterns) {
        says(name)
        says(why)
        for (const row of [...wrong.split('\n'), ...right.split('\n')]) says(row)
      }
    }
  },
)

t.test('the operation table has every form of the contract', async (t) => {
  const forms = operationTable.map(([form]) => form)
  for (const form of ['PUT N.=M:', 'PUT N*:', 'PUT <N:', 'PUT >N:', 'PUT >$:', 'PUT >N*:', 'CUT N.=M', 'CUT N*', 'REM'])
    t.ok(forms.includes(form), form)
  t.ok(forms.some((form) => form.startsWith('MV ')))
  t.ok(forms.some((form) => form.includes('CUT') && form.includes('@name')))
  t.ok(forms.some((form) => form.includes('PUT') && form.includes('@name')))
})

t.test(
  'the right spelling of every anti-pattern parses, and the wrong one that the language forbids does not',
  async (t) => {
    const parses = (ops: string): boolean => {
      try {
        parseOps(ops, limits)
        return true
      } catch (error) {
        if (error instanceof ToolError) return false
        throw error
      }
    }
    for (const { name, right } of antiPatterns) t.ok(parses(right), name)
    const forbidden = ['empty PUT used as a delete', '- rows or context rows', 'body rows under a register paste']
    for (const { name, wrong } of antiPatterns) t.equal(parses(wrong), !forbidden.includes(name), name)
  },
)

t.test('the example file of the anti-patterns is shown before them', async (t) => {
  const guidance = editGuidance()
  t.ok(guidance.indexOf(exampleFile[0]) < guidance.indexOf(antiPatterns[0]!.name))
})

t.test('the route answers the formats that are asked for, with their token counts', async (t) => {
  const { app } = await appUnderTest(t)
  const ask = async (query: string) => (await app.inject({ url: `/v1/tools${query}` })).json<Record<string, unknown>>()
  t.same(Object.keys(await ask('')).sort(), ['anthropic', 'approximateTokens', 'mcp', 'openai'])
  t.same(Object.keys(await ask('?format=mcp')).sort(), ['approximateTokens', 'mcp'])
  t.same(Object.keys(await ask('?format=openai,%20Anthropic')).sort(), ['anthropic', 'approximateTokens', 'openai'])
  const { approximateTokens } = toolDefinitions(toolFormats)
  for (const format of toolFormats) {
    const tokens = approximateTokens[format] ?? 0
    t.ok(tokens > 500 && tokens < 3_000, `${format} costs about ${tokens} tokens`)
  }
  t.match(await ask('?format=gemini'), { code: 'INVALID_ARGUMENT', issues: [{ path: 'format' }] })
})
