/**
 * The one end of a response: sent whole, or cut off because the client went away.
 */
import type { ServerResponse } from 'node:http'

/** Calls once, when the connection is done with the response; `sent` is false when the client was gone before. */
export function onDone(response: ServerResponse, done: (sent: boolean) => void): void {
  let sent = false
  response.once('finish', () => {
    sent = true
  })
  response.once('close', () => done(sent))
}
