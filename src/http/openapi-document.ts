/**
 * Finishes the OpenAPI document that @fastify/swagger makes of the routes: named schemas become components, the security scheme is declared, and what
 * no operation can answer is shown once among the components.
 *
 * Changes no meaning. Called through the plugin, when the document is asked for.
 */
import { problemExample } from './problem-examples.js'
import { errors } from '../errors/table.js'

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export const documentInfo = {
  openapi: '3.1.0',
  info: {
    title: 'Anchorline',
    /** That of the package. */
    version: '0.1.0',
    description:
      'Read, Grep, Write and Edit for agents, by line anchors. Version and provenance are proven before a byte is written. Begin with createSession on the `demo` workspace, then read, then edit with the tag that Read answered.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'This service.' }],
  tags: [
    { name: 'Sessions', description: 'Open, look at and end sessions.' },
    { name: 'Tools', description: 'Read, Grep, Write and Edit.' },
    { name: 'Reviews', description: 'The evidence of every change, and its rollback.' },
    { name: 'Records', description: 'Snapshots, registers and the repeat guard.' },
    { name: 'Events', description: 'What happens in a session, as it happens.' },
    { name: 'Definitions', description: 'Tool definitions for models.' },
    { name: 'Health', description: 'Probes and figures.' },
  ],
  components: {
    securitySchemes: {
      bearer: { type: 'http' as const, scheme: 'bearer', description: 'Needed when the operator configured tokens.' },
    },
    examples: {
      METHOD_NOT_ALLOWED: {
        summary: errors.METHOD_NOT_ALLOWED.title,
        description: 'What a path answers to a method that it does not take.',
        value: problemExample('METHOD_NOT_ALLOWED', 'other'),
      },
    },
  },
  security: [{}, { bearer: [] }],
}

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Schemas with a `title` move to `components.schemas` and are referred to. Throws when two different ones have one title. */
export function nameSchemas(document: { readonly [key: string]: Json }): { readonly [key: string]: Json } {
  const named = new Map<string, Json>()
  const { info, components, ...rest } = document
  const body = hoist(rest, named)
  const known = isObject(components ?? null) ? (components as { readonly [key: string]: Json }) : {}
  const schemas = Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1)))
  return {
    openapi: document['openapi'] ?? null,
    info: info ?? null,
    ...(body as { readonly [key: string]: Json }),
    components: { ...known, schemas },
  }
}

function hoist(value: Json, named: Map<string, Json>): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => hoist(each, named))
  if (!isObject(value)) return value
  const { title } = value
  const walked = Object.fromEntries(
    // Examples are data, whatever their members are called.
    Object.entries(value).map(([key, each]) => [
      key,
      key === 'examples' || key === 'example' ? each : hoist(each, named),
    ]),
  )
  if (typeof title !== 'string' || !isSchema(value)) return walked
  const schema = Object.fromEntries(Object.entries(walked).filter(([key]) => key !== 'title'))
  const before = named.get(title)
  if (before !== undefined && JSON.stringify(before) !== JSON.stringify(schema))
    throw new Error(`two schemas are called ${title}`)
  named.set(title, schema)
  return { $ref: `#/components/schemas/${title}` }
}

const isSchema = (value: { readonly [key: string]: Json }): boolean => 'type' in value || 'anyOf' in value
