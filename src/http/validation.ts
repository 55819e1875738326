/**
 * How requests are validated: bodies strictly, as they are; query, path parameters and headers after coercion, because they can only be text.
 *
 * Nothing is removed and no default is filled in. The first thing wrong is answered INVALID_ARGUMENT with the name of the property. Called by app.
 */
import type { TSchema } from '@sinclair/typebox'
import type { ErrorObject, Options } from 'ajv'
import { Ajv } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import type { Issue } from '../errors/table.js'
import { ToolError } from '../errors/tool-error.js'

const common: Options = {
  allErrors: false,
  removeAdditional: false,
  useDefaults: false,
  ownProperties: true,
  strict: true,
  // Annotations of the OpenAPI document.
  keywords: ['x-examples'],
}

/** One compiler for a whole app: schemas are compiled once, at start. */
export function validatorCompiler(): FastifySchemaCompiler<TSchema> {
  const strict = new Ajv({ ...common, coerceTypes: false })
  const coercing = new Ajv({ ...common, coerceTypes: true })
  return ({ schema, httpPart }) => {
    const validate = (httpPart === 'body' ? strict : coercing).compile(schema)
    return (value: unknown) => {
      if (validate(value)) return { value }
      return { error: new ToolError('INVALID_ARGUMENT', { issues: (validate.errors ?? []).slice(0, 1).map(issueOf) }) }
    }
  }
}

/** The property by its dotted path and what it must be; the path of a request as a whole is empty. */
function issueOf(error: ErrorObject): Issue {
  const at = error.instancePath.split('/').slice(1)
  const params = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'additionalProperties':
      return {
        path: pathOf([...at, String(params['additionalProperty'])]),
        message: 'is not a known property; leave it out',
      }
    case 'required':
      return { path: pathOf([...at, String(params['missingProperty'])]), message: 'is required' }
    case 'enum':
      return { path: pathOf(at), message: `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}` }
    case 'const':
      return { path: pathOf(at), message: `must be ${JSON.stringify(params['allowedValue'])}` }
    case 'pattern':
      return { path: pathOf(at), message: `must match ${String(params['pattern'])}` }
    case 'type':
      return at.length === 0
        ? { path: '', message: `the request must be a JSON ${String(params['type'])}` }
        : { path: pathOf(at), message: `must be ${articled(String(params['type']))}` }
    default:
      return { path: pathOf(at), message: error.message ?? 'is not valid' }
  }
}

const articled = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)

/** At most 100 characters, because property names are the caller's. */
function pathOf(parts: readonly string[]): string {
  const path = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
  return path.length > 100 ? `${path.slice(0, 100)}…` : path
}
