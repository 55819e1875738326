/**
 * The digests of a text and the tag (contract §3.2, reading §2.1–2.2).
 *
 * A tag is an index, never an identity: nothing here compares tags to authorize anything.
 */
import { createHash } from 'node:crypto'

/** 64 lower-case hex digits of SHA-256. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The last four hex digits of a versionDigest, upper case. */
export function tagOf(versionDigest: string): string {
  return versionDigest.slice(-4).toUpperCase()
}

/** A tag as callers may write it, canonicalized; undefined when it is none (reading §2.5). */
export function parseTag(text: string): string | undefined {
  return /^[0-9A-Fa-f]{4}$/.test(text) ? text.toUpperCase() : undefined
}
