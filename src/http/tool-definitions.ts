/**
 * Read, Grep, Write and Edit as tool definitions for models, in the shapes of OpenAI, Anthropic and MCP, from one source (contract §13.6).
 *
 * The parameters are the members of the request schemas that a model decides; what an orchestrator decides (`dryRun`, `promptId`) is left out.
 */
import type { TObject, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { arrayOf, Count, strict } from '../schemas/parts.js'
import { EditRequestSchema, GrepRequestSchema, ReadRequestSchema, WriteRequestSchema } from '../schemas/tools.js'
import { editGuidance, grepGuidance, readGuidance, writeGuidance } from './guidance.js'

export const toolFormats = ['openai', 'anthropic', 'mcp'] as const
export type ToolFormat = (typeof toolFormats)[number]

interface Definition {
  readonly name: string
  readonly description: string
  readonly parameters: Record<string, unknown>
}

const annotations: ReadonlySet<string> = new Set(['examples', 'default'])
const orchestrators: ReadonlySet<string> = new Set(['dryRun', 'promptId'])

/** The schema as plain JSON, without members of the orchestrator and without annotations that models do not need. */
function parametersOf(schema: TObject, required: readonly string[]): Record<string, unknown> {
  const properties = Object.entries(schema.properties).filter(([name]) => !orchestrators.has(name))
  return {
    type: 'object',
    properties: Object.fromEntries(properties.map(([name, property]) => [name, withoutAnnotations(property)])),
    required,
    additionalProperties: false,
  }
}

const withoutAnnotations = (schema: TSchema): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(JSON.parse(JSON.stringify(schema)) as Record<string, unknown>).filter(
      ([key]) => !annotations.has(key),
    ),
  )

function definitions(): readonly Definition[] {
  return [
    { name: 'Read', description: readGuidance, parameters: parametersOf(ReadRequestSchema, ['path']) },
    { name: 'Grep', description: grepGuidance, parameters: parametersOf(GrepRequestSchema, ['pattern']) },
    { name: 'Write', description: writeGuidance, parameters: parametersOf(WriteRequestSchema, ['path', 'content']) },
    { name: 'Edit', description: editGuidance(), parameters: parametersOf(EditRequestSchema, ['path', 'tag', 'ops']) },
  ]
}

const shapes: Readonly<Record<ToolFormat, (tool: Definition) => Record<string, unknown>>> = {
  openai: ({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } }),
  anthropic: ({ name, description, parameters }) => ({ name, description, input_schema: parameters }),
  mcp: ({ name, description, parameters }) => ({ name, description, inputSchema: parameters }),
}

/** Characters of JSON per token of common vocabularies, for English with code. An estimate: the exact count is the model's. */
const charsPerToken = 3.8

const ToolList = Type.Optional(
  arrayOf(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })),
)
const TokenCount = Type.Optional(Count('Approximate tokens of these definitions in a prompt.'))

export const ToolsAnswerSchema = strict(
  {
    openai: ToolList,
    anthropic: ToolList,
    mcp: ToolList,
    approximateTokens: strict({ openai: TokenCount, anthropic: TokenCount, mcp: TokenCount }),
  },
  { title: 'ToolDefinitions', description: 'Read, Grep, Write and Edit, once per format asked for.' },
)

export interface ToolsAnswer {
  readonly openai?: Record<string, unknown>[]
  readonly anthropic?: Record<string, unknown>[]
  readonly mcp?: Record<string, unknown>[]
  readonly approximateTokens: { readonly [F in ToolFormat]?: number }
}

export function toolDefinitions(formats: readonly ToolFormat[]): ToolsAnswer {
  const tools = definitions()
  const shaped = formats.map((format) => [format, tools.map(shapes[format])] as const)
  return {
    ...Object.fromEntries(shaped),
    approximateTokens: Object.fromEntries(
      shaped.map(([format, list]) => [format, Math.round(JSON.stringify(list).length / charsPerToken)]),
    ),
  }
}
