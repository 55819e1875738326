/**
 * The names of keys: everything of a session lies in one slot, the permit of a file in the slot of its path, so that a Cluster can spread both (reading §8.3).
 * What lies below a session is named by the scripts. Called by the parts of the Redis store.
 */
import { sha256 } from '../../text/digest.js'

export class Keys {
  /** Tokens of waiters whose turn has come. */
  readonly wakeChannel: string

  constructor(private readonly namespace: string) {
    this.wakeChannel = `${namespace}:wake`
  }

  session(sessionId: string): string {
    return `${this.namespace}:{${sessionId}}`
  }

  /** The channel of its events. */
  live(sessionId: string): string {
    return `${this.session(sessionId)}:live`
  }

  sessionPermit(sessionId: string): string {
    return `${this.session(sessionId)}:p`
  }

  /** Who waits for a claim is woken under this name. */
  claim(sessionId: string, hash: string): string {
    return `${this.session(sessionId)}:k:${hash}`
  }

  filePermit(canonical: string): string {
    return `${this.namespace}:{f:${sha256(canonical)}}`
  }

  tenant(tenant: string): string {
    return `${this.namespace}:{t:${sha256(tenant)}}`
  }
}

/** Ids that the service makes are like this; anything else names no session and reaches no server. */
export function isSessionId(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(id)
}

/** A short name for a key or a request of any length and any characters. */
export function shortHash(text: string): string {
  return sha256(text).slice(0, 32)
}
