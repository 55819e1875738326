/**
 * Random bytes for ids and names of files: from the system's generator, fetched many at a time, because asking for few costs as much as asking for
 * many. Bytes that were given out are forgotten here. Called by main and by http for request ids.
 */
import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4_096)
let left = 0

/** `count` fresh bytes as text, at most 4,096 of them. */
export function randomText(count: number, encoding: 'hex' | 'base64url'): string {
  if (left < count) {
    randomFillSync(pool)
    left = pool.length
  }
  const taken = pool.subarray(left - count, left)
  left -= count
  const text = taken.toString(encoding)
  taken.fill(0)
  return text
}
