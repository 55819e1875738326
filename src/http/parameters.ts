/**
 * Path parameters, queries and headers that several routes share, and the examples of a body.
 */
import type { TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { limits } from '../limits.js'

/** Any text: a malformed id is answered like an unknown one (http-api, SESSION_NOT_FOUND). */
const SessionId = Type.String({ description: 'The id that createSession answered.' })

export const SessionParams = Type.Object({ sessionId: SessionId })

export const ReviewParams = Type.Object({ sessionId: SessionId, reviewId: Type.String() })

export const RegisterParams = Type.Object({
  sessionId: SessionId,
  name: Type.String({ description: 'Name of the register, without @.' }),
})

export const PageQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Entries of a page. Default 20.' })),
    cursor: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'The nextCursor of the page before.' }),
    ),
  },
  { additionalProperties: false },
)

export const MutationHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.idempotencyKeyChars,
      pattern: '^[\\x20-\\x7e]*$',
      description: 'Printable ASCII. A repeated call with the same key and body is answered as the first one was.',
    }),
  ),
})

export const EventHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({ maxLength: 100, pattern: '^[\\x20-\\x7e]*$', description: 'Go on after this event.' }),
  ),
})

/** `idempotencyKey` of a call, left out when the header is. */
export const keyOf = (headers: { readonly 'idempotency-key'?: string }): { idempotencyKey?: string } => {
  const key = headers['idempotency-key']
  return key === undefined ? {} : { idempotencyKey: key }
}

type Examples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>

/** A body's schema with its examples in the OpenAPI document. */
export const body = <S extends TSchema>(schema: S, examples: Examples): S => ({ ...schema, 'x-examples': examples })

/** Bodies that hold no text of a file. */
export const smallBodyBytes = 1_048_576
/** `ops` of the contract's 256 KiB with every character escaped, and room to be refused by the tool instead of here. */
export const editBodyBytes = 16 * 1024 * 1024
