/**
 * Texts that prove they are whole: a number, a body of a length that depends on it, and a digest over both.
 */
import { createHash } from 'node:crypto'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Between 40 bytes and about 300 KB. */
export function generation(n: number): Buffer {
  const body = `${n}\n${`row of generation ${n}\n`.repeat((n * 7_919) % 13_000)}`
  return Buffer.from(`${body}${digest(body)}\n`)
}

/** The number of a whole text, undefined for anything else. */
export function generationOf(bytes: Buffer): number | undefined {
  const n = Number(bytes.subarray(0, 16).toString('latin1').split('\n')[0])
  return Number.isSafeInteger(n) && bytes.equals(generation(n)) ? n : undefined
}
