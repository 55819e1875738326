/**
 * Who calls: bearer tokens, known only by their SHA-256 digests (http-api "Identity and tenancy").
 *
 * Compares with every digest in constant time, so that neither the number of equal bytes nor the place in the list shows. Without tokens there is one
 * tenant that may open everything; config lets that happen on loopback only. Called by the hooks of app.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { ToolError } from '../errors/tool-error.js'
import type { Caller } from '../tools/tools.js'

export type Access = NonNullable<Caller['grants']> extends ReadonlyMap<string, infer A> ? A : never

export interface TokenGrant {
  /** 64 lower-case hex digits. */
  readonly sha256: string
  readonly tenant: string
  /** Undefined: every workspace, read-write. */
  readonly grants?: ReadonlyMap<string, Access>
}

export type Identify = (authorization: string | undefined) => Caller

/** Throws UNAUTHORIZED from the function it returns. */
export function identity(tokens: readonly TokenGrant[]): Identify {
  if (tokens.length === 0) return () => ({ tenant: 'local' })
  const known = tokens.map((token) => ({ digest: Buffer.from(token.sha256, 'hex'), caller: callerOf(token) }))
  return (authorization) => {
    const presented = /^Bearer +([\x21-\x7e]{1,1024}) *$/i.exec(authorization ?? '')?.[1]
    if (presented === undefined) throw new ToolError('UNAUTHORIZED', {})
    const digest = createHash('sha256').update(presented).digest()
    let found: Caller | undefined
    for (const token of known) if (timingSafeEqual(token.digest, digest)) found = token.caller
    if (!found) throw new ToolError('UNAUTHORIZED', {})
    return found
  }
}

const callerOf = ({ tenant, grants }: TokenGrant): Caller => (grants === undefined ? { tenant } : { tenant, grants })
