/**
 * The route of the tool definitions. Answers from a table that is made once, at start.
 */
import { Type } from '@sinclair/typebox'
import { unknownFormat } from '../errors/transport.js'
import { answers, anyCall } from './answers.js'
import type { App } from './provider.js'
import type { ToolFormat } from './tool-definitions.js'
import { ToolsAnswerSchema, toolDefinitions, toolFormats } from './tool-definitions.js'

const FormatQuery = Type.Object(
  {
    format: Type.Optional(
      Type.String({
        maxLength: 100,
        description: `One or several of ${toolFormats.join(', ')}, separated by commas. Default all.`,
        examples: ['anthropic'],
      }),
    ),
  },
  { additionalProperties: false },
)

export function definitionRoutes(app: App): void {
  const all = toolDefinitions(toolFormats)
  app.get(
    '/v1/tools',
    {
      schema: {
        operationId: 'listTools',
        summary: 'Read, Grep, Write and Edit as tool definitions for a model',
        tags: ['Definitions'],
        querystring: FormatQuery,
        response: answers(
          'other',
          {
            200: {
              schema: ToolsAnswerSchema,
              description: 'One list per format.',
              examples: { example: { summary: 'The MCP shape', value: toolDefinitions(['mcp']) } },
            },
          },
          ['INVALID_ARGUMENT', ...anyCall],
        ),
      },
    },
    async (request) => {
      const formats = formatsOf(request.query.format)
      return {
        ...Object.fromEntries(formats.map((format) => [format, all[format] ?? []])),
        approximateTokens: Object.fromEntries(formats.map((format) => [format, all.approximateTokens[format] ?? 0])),
      }
    },
  )
}

/** Throws INVALID_ARGUMENT for a word that is no format. */
function formatsOf(query: string | undefined): readonly ToolFormat[] {
  if (query === undefined || query.trim() === '') return toolFormats
  return query.split(',').map((word) => {
    const format = toolFormats.find((known) => known === word.trim().toLowerCase())
    if (format === undefined) throw unknownFormat(toolFormats)
    return format
  })
}
