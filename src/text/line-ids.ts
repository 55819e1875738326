/**
 * Numbers for lines: equal lines of two texts get equal numbers, so that a diff compares integers and a worker is sent integers.
 *
 * Exact, never by hash alone: a number is shared only after the bytes were compared. Of documents, lines are compared without trailing blanks (reading
 * §3.5), straight from their bytes. Lines made to collide cost a slower way, never a quadratic one. Called by line-map.ts and the syntax port.
 */
import type { Document } from './document.js'

/** One number per line of each text, from 0 to below `count`. The arrays own their buffers and may be transferred. */
export interface LineIds {
  readonly from: Int32Array<ArrayBuffer>
  readonly to: Int32Array<ArrayBuffer>
  readonly count: number
}

const LF = 10
const FNV_OFFSET = 0x811c9dc5 | 0
const FNV_PRIME = 0x01000193

/** Numbers of two documents, without trailing blanks. O(bytes). */
export function lineIds(from: Document, to: Document): LineIds {
  const table = new ByteTable(from, to)
  const a = table.number(from)
  const b = a && table.number(to)
  if (a && b) return { from: a, to: b, count: table.count }
  return textIds(keys(from), keys(to))
}

/** Numbers of two lists of lines, compared as given. */
export function textIds(from: readonly string[], to: readonly string[]): LineIds {
  const known = new Map<string, number>()
  const number = (line: string): number => {
    const id = known.get(line)
    if (id !== undefined) return id
    known.set(line, known.size)
    return known.size - 1
  }
  const a = Int32Array.from(from, number)
  const b = Int32Array.from(to, number)
  return { from: a, to: b, count: known.size }
}

/** End of the content of the line [start, end) without its terminator and trailing blanks. */
export function trimmedEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = end > start && bytes[end - 1] === LF ? end - 1 : end
  while (at > start) {
    const byte = bytes[at - 1]
    if (byte !== 32 && byte !== 9 && byte !== 13) break
    at--
  }
  return at
}

/** One character per byte, so that equal strings are equal bytes. */
function keys(text: Document): string[] {
  const { starts } = text.index
  return Array.from({ length: text.lineCount }, (_, i) => {
    const start = starts[i] ?? 0
    return text.bytes.toString('latin1', start, trimmedEnd(text.bytes, start, starts[i + 1] ?? start))
  })
}

/**
 * A hash table with open addressing over slices of the two byte arrays. Every probe is counted; past eight per line it gives up, because a text that
 * wants so many was made to want them.
 */
class ByteTable {
  count = 0
  private readonly slots: Int32Array
  private readonly hashes: Int32Array
  private readonly starts: Uint32Array
  private readonly ends: Uint32Array
  /** Numbers below this one were first met in `from`. */
  private ownedByFrom = Infinity
  private probesLeft: number

  constructor(
    private readonly from: Document,
    private readonly to: Document,
  ) {
    const lines = from.lineCount + to.lineCount
    let size = 16
    while (size < lines * 2) size *= 2
    this.slots = new Int32Array(size)
    this.hashes = new Int32Array(lines)
    this.starts = new Uint32Array(lines)
    this.ends = new Uint32Array(lines)
    this.probesLeft = lines * 8 + 256
  }

  /** Undefined when the probes ran out. */
  number(text: Document): Int32Array<ArrayBuffer> | undefined {
    const ids = new Int32Array(text.lineCount)
    const { bytes } = text
    const { starts } = text.index
    if (text === this.to && text !== this.from) this.ownedByFrom = this.count
    for (let i = 0; i < ids.length; i++) {
      const start = starts[i] ?? 0
      const end = trimmedEnd(bytes, start, starts[i + 1] ?? start)
      let hash = FNV_OFFSET
      for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), FNV_PRIME)
      const id = this.find(bytes, start, end, hash)
      if (id < 0) return undefined
      ids[i] = id
    }
    return ids
  }

  private find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.slots.length - 1
    // Multiplication carries upward only, so the upper half is folded into the bits that choose the slot.
    let slot = (hash ^ (hash >>> 15)) & mask
    for (;;) {
      if (--this.probesLeft < 0) return -1
      const id = (this.slots[slot] ?? 0) - 1
      if (id < 0) {
        this.slots[slot] = this.count + 1
        this.hashes[this.count] = hash
        this.starts[this.count] = start
        this.ends[this.count] = end
        return this.count++
      }
      if (this.hashes[id] === hash && this.same(id, bytes, start, end)) return id
      slot = (slot + 1) & mask
    }
  }

  private same(id: number, bytes: Uint8Array, start: number, end: number): boolean {
    const first = this.starts[id] ?? 0
    if ((this.ends[id] ?? 0) - first !== end - start) return false
    const known = id < this.ownedByFrom ? this.from.bytes : this.to.bytes
    for (let i = start, j = first; i < end; i++, j++) if (bytes[i] !== known[j]) return false
    return true
  }
}
