/**
 * What both stores agree on about registers: how they are counted and which are refused (contract §12). Called by both stores.
 */
import type { StoreBounds } from './bounds.js'

/** UTF-8 bytes of the lines, each with one LF. */
export function registerBytes(lines: readonly string[]): number {
  let sum = lines.length
  for (const line of lines) sum += Buffer.byteLength(line)
  return sum
}

/** Whoever captures has checked; a register beyond the bounds is a fault of ours, found before anything is written. */
export function assertRegister(lines: readonly string[], bounds: StoreBounds): void {
  if (lines.length > bounds.registerLines || registerBytes(lines) - lines.length > bounds.registerBytes)
    throw new RangeError(`a register of ${lines.length} lines and ${registerBytes(lines)} bytes is beyond its bounds`)
}
