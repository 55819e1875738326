/**
 * Request ids and W3C trace ids: what is kept of the ones given, and the text of new ones.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { randomText } from '../random.js'

const requestIdPattern = /^[A-Za-z0-9_-]{1,64}$/
const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/

/** The given `x-request-id` when it has the agreed form, else a new one of 128 random bits. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && requestIdPattern.test(given) ? given : randomText(16, 'hex')
}

/** The trace id of a valid `traceparent`, else undefined. All zeros and version ff are invalid. */
export function traceIdOf(headers: IncomingHttpHeaders): string | undefined {
  const given = headers['traceparent']
  if (typeof given !== 'string') return undefined
  const [, version, traceId, parentId] = traceparentPattern.exec(given) ?? []
  if (version === undefined || version === 'ff' || traceId === undefined || parentId === undefined) return undefined
  return /^0+$/.test(traceId) || /^0+$/.test(parentId) ? undefined : traceId
}
