/**
 * The signal that a call is given: it aborts when the client is gone, when the deadline has passed, or when the process drains (for streams).
 *
 * The reason is a TIMEOUT that names the cause; tools honour the signal up to the rename and never after it (reading §8.5).
 */
import type { ServerResponse } from 'node:http'
import { onDone } from './done.js'
import type { ToolError } from '../errors/tool-error.js'
import { clientGone, deadlinePassed } from '../errors/transport.js'

export function deadline(response: ServerResponse, afterMs: number | undefined, also?: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const startedAt = performance.now()
  const stop = (reason: (afterMs: number) => ToolError): void => {
    controller.abort(reason(Math.round(performance.now() - startedAt)))
  }
  const timer = afterMs === undefined ? undefined : setTimeout(() => stop(deadlinePassed), afterMs)
  onDone(response, (sent) => {
    clearTimeout(timer)
    if (!sent) stop(clientGone)
  })
  return also ? AbortSignal.any([controller.signal, also]) : controller.signal
}
