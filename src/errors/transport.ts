/**
 * The words of what goes wrong on the way to a tool: bad JSON, bad HTTP, slow clients, deadlines. Called by http.
 */
import { quoteText } from './clip.js'
import { ToolError } from './tool-error.js'

const invalid = (path: string, message: string): ToolError<'INVALID_ARGUMENT'> =>
  new ToolError('INVALID_ARGUMENT', { issues: [{ path, message }] })

/** `cause` is what the JSON parser says; it may quote a little of the body. */
export const badJson = (cause: string): ToolError<'INVALID_ARGUMENT'> =>
  invalid('', `the body is not valid JSON (${quoteText(cause, 120)}); send one JSON object`)

export const notUtf8 = (): ToolError<'INVALID_ARGUMENT'> =>
  invalid('', 'the body is not valid UTF-8; encode the JSON as UTF-8')

export const badRequest = (what: 'url' | 'request'): ToolError<'INVALID_ARGUMENT'> =>
  invalid(
    '',
    what === 'url'
      ? 'the URL holds an invalid escape; encode it again with percent signs'
      : 'the request is malformed; send it again with a body of application/json and its exact content-length',
  )

export const noHost = (): ToolError<'INVALID_ARGUMENT'> =>
  invalid('host', 'an HTTP/1.1 request must name its host; send it again with a host header')

export const manyHosts = (): ToolError<'INVALID_ARGUMENT'> =>
  invalid('host', 'a request names one host; send it again with one host header')

export const unknownExpectation = (found: string): ToolError<'INVALID_ARGUMENT'> =>
  invalid('expect', `${quoteText(found, 60)} cannot be met; leave the expect header out or send 100-continue`)

export const badHttp = (cause: string): ToolError<'INVALID_ARGUMENT'> =>
  invalid(
    '',
    cause === 'HPE_HEADER_OVERFLOW'
      ? 'the request headers are larger than 16 KiB; send fewer or shorter headers'
      : 'the bytes are not a valid HTTP/1.1 request; send it again',
  )

export const slowRequest = (afterMs: number): ToolError<'INVALID_ARGUMENT'> =>
  invalid('', `the request did not arrive within ${afterMs} ms; send it again faster`)

/** The reasons that a call's signal aborts with (reading §8.5). */
export const deadlinePassed = (afterMs: number): ToolError<'TIMEOUT'> =>
  new ToolError('TIMEOUT', { afterMs, hint: 'ask for less in one call, or send it again' })

export const clientGone = (afterMs: number): ToolError<'TIMEOUT'> =>
  new ToolError('TIMEOUT', { afterMs, hint: 'the client closed the connection' })

export const unknownFormat = (known: readonly string[]): ToolError<'INVALID_ARGUMENT'> =>
  invalid('format', `must be one or several of ${known.join(', ')}, separated by commas`)
