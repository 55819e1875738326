/**
 * What a request body may be: JSON, as UTF-8, without a content coding. Anything else is refused by the name of what is wrong, never decoded by guess.
 *
 * Decides nothing about the JSON's members; the schemas of the routes do. Called by app.
 */
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { ToolError } from '../errors/tool-error.js'
import { badJson, notUtf8 } from '../errors/transport.js'
import type { App } from './provider.js'

const jsonType = /^\s*application\/json\s*(?:;|$)/i
const charsetParameter = /;\s*charset\s*=\s*"?([^\s;"]*)/i
/** ASCII is a part of UTF-8; `utf8` is what many clients call it. */
const utf8Charset = /^(?:utf-?8|us-ascii)$/i
/** Characters of a header's value that a refusal repeats. */
const shownChars = 100

/**
 * On the routes whose bodies are read. Runs before a byte of the body is taken, so that a compressed one is told apart from one that is no UTF-8.
 */
export function addBodyRules(app: App): void {
  app.addHook('preParsing', async ({ headers, method }) => {
    if (method !== 'GET' && method !== 'HEAD' && hasBody(headers)) refuseCoded(headers)
  })
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Throws UNSUPPORTED_MEDIA_TYPE. A media type other than JSON is left to the parsers, of which there is one. */
function refuseCoded(headers: IncomingHttpHeaders): void {
  const codings = (headers['content-encoding'] ?? '').split(',').map((coding) => coding.trim())
  const coding = codings.find((each) => each !== '' && each.toLowerCase() !== 'identity')
  if (coding !== undefined) throw unsupported('content coding', coding)
  const type = headers['content-type'] ?? ''
  const charset = jsonType.test(type) ? charsetParameter.exec(type)?.[1] : undefined
  if (charset !== undefined && !utf8Charset.test(charset)) throw unsupported('charset', charset)
}

const unsupported = (what: 'content coding' | 'charset', found: string): ToolError<'UNSUPPORTED_MEDIA_TYPE'> =>
  new ToolError('UNSUPPORTED_MEDIA_TYPE', { what, found: found.slice(0, shownChars) })

/**
 * JSON only, and only as UTF-8: decoding with replacement characters would let them reach a disk (reading §1.1). An empty body is an absent one. A key such
 * as `__proto__` stays an own property here, and no body schema knows one, so validation refuses it by name.
 */
export function addJsonParser(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
    if (body.length === 0) done(null, undefined)
    else if (!isUtf8(body)) done(notUtf8())
    else parseJson(body.toString('utf8'), done)
  })
}

function parseJson(text: string, done: (error: Error | null, body?: unknown) => void): void {
  let body: unknown
  try {
    body = JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text)
  } catch (error) {
    done(badJson(error instanceof Error ? error.message : String(error)))
    return
  }
  done(null, body)
}
