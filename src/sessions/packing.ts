/**
 * Bytes as stores keep them: a format byte, then the bytes as they are or deflated. Refuses to guess: what has no known format byte, or does not inflate to at
 * most the given size, is undefined. Called by both stores for reviews, by the Redis store for texts too.
 */
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'

const deflate = promisify(deflateRaw)
const inflate = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(inflateRaw)

/** The format number is part of the byte: a later format takes other ones. */
const plain = 0x11
const deflated = 0x12
/** Below this many bytes deflating costs more than it saves. */
const smallest = 2_048

export async function pack(bytes: Uint8Array): Promise<Buffer> {
  if (bytes.byteLength >= smallest) {
    const small = await deflate(bytes, { level: 1 })
    if (small.byteLength < bytes.byteLength) return Buffer.concat([Buffer.of(deflated), small])
  }
  return Buffer.concat([Buffer.of(plain), bytes])
}

export async function unpack(packed: Uint8Array, maxBytes: number): Promise<Buffer | undefined> {
  const body = packed.subarray(1)
  if (packed[0] === plain) return body.byteLength > maxBytes ? undefined : Buffer.from(body)
  if (packed[0] !== deflated) return undefined
  try {
    return await inflate(body, { maxOutputLength: Math.max(1, maxBytes) })
  } catch {
    return undefined
  }
}
