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
  const a = table.numberFrom()
  const b = a && table.numberTo(a)
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

/** A line without trailing blanks, one character per byte: equal keys are equal bytes, also where they are no text on their own. */
export function trimmedKey(text: Document, line: number): string {
  const { start, end } = text.slice(line)
  return text.bytes.toString('latin1', start, trimmedEnd(text.bytes, start, end))
}

function keys(text: Document): string[] {
  return Array.from({ length: text.lineCount }, (_, i) => trimmedKey(text, i + 1))
}

/**
 * A hash table with open addressing over slices of the two byte arrays. Every probe is counted; past eight per line it gives up, because a text that
 * wants so many was made to want them.
 */
class ByteTable {
  count = 0
  /** Pairs of hash and number plus one; zero is free. Side by side, because every probe wants both and memory is what takes the time. */
  private readonly slots: Int32Array
  /** Per number start and end of the first slice that had it. */
  private readonly slices: Uint32Array
  /** Numbers below this one were first met in `from`. */
  private fromCount = Infinity
  private probesLeft: number

  constructor(
    private readonly from: Document,
    private readonly to: Document,
  ) {
    const lines = from.lineCount + to.lineCount
    let size = 16
    while (size < lines * 2) size *= 2
    this.slots = new Int32Array(size * 2)
    this.slices = new Uint32Array(lines * 2)
    this.probesLeft = lines * 8 + 256
  }

  /** Undefined when the probes ran out. */
  numberFrom(): Int32Array<ArrayBuffer> | undefined {
    const { bytes, index, lineCount } = this.from
    const ids = new Int32Array(lineCount)
    for (let i = 0; i < lineCount; i++) {
      const start = index.starts[i] ?? 0
      const id = this.find(bytes, start, trimmedEnd(bytes, start, index.starts[i + 1] ?? start))
      if (id < 0) return undefined
      ids[i] = id
    }
    this.fromCount = this.count
    return ids
  }

  /** A line is first compared with the one that follows the partner of the line before it: where nothing changed, that is all there is to do. */
  numberTo(known: Int32Array): Int32Array<ArrayBuffer> | undefined {
    const { bytes, index, lineCount } = this.to
    const ids = new Int32Array(lineCount)
    const { starts } = this.from.index
    /** From here on the first line with each number, filled when a change has to be stepped over. */
    let firstLines: Int32Array | undefined
    let follower = 0
    for (let i = 0; i < lineCount; i++) {
      const start = index.starts[i] ?? 0
      const end = trimmedEnd(bytes, start, index.starts[i + 1] ?? start)
      if (follower < known.length) {
        const first = starts[follower] ?? 0
        if (
          equalSlices(
            bytes,
            start,
            end,
            this.from.bytes,
            first,
            trimmedEnd(this.from.bytes, first, starts[follower + 1] ?? first),
          )
        ) {
          ids[i] = known[follower++] ?? 0
          continue
        }
      }
      const id = this.find(bytes, start, end)
      if (id < 0) return undefined
      ids[i] = id
      if (id >= this.fromCount) continue
      firstLines ??= firstOf(known, this.fromCount)
      follower = (firstLines[id] ?? 0) + 1
    }
    return ids
  }

  private find(bytes: Uint8Array, start: number, end: number): number {
    let hash = FNV_OFFSET
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), FNV_PRIME)
    const mask = this.slots.length - 2
    // Multiplication carries upward only, so the upper half is folded into the bits that choose the slot.
    let slot = ((hash ^ (hash >>> 15)) << 1) & mask
    for (;;) {
      if (--this.probesLeft < 0) return -1
      const id = (this.slots[slot + 1] ?? 0) - 1
      if (id < 0) {
        this.slots[slot] = hash
        this.slots[slot + 1] = this.count + 1
        this.slices[this.count * 2] = start
        this.slices[this.count * 2 + 1] = end
        return this.count++
      }
      if (this.slots[slot] === hash && this.same(id, bytes, start, end)) return id
      slot = (slot + 2) & mask
    }
  }

  private same(id: number, bytes: Uint8Array, start: number, end: number): boolean {
    const owner = id < this.fromCount ? this.from : this.to
    return equalSlices(bytes, start, end, owner.bytes, this.slices[id * 2] ?? 0, this.slices[id * 2 + 1] ?? 0)
  }
}

function firstOf(ids: Int32Array, count: number): Int32Array {
  const first = new Int32Array(count).fill(-1)
  for (let i = ids.length - 1; i >= 0; i--) first[ids[i] ?? 0] = i
  return first
}

function equalSlices(
  a: Uint8Array,
  start: number,
  end: number,
  b: Uint8Array,
  otherStart: number,
  otherEnd: number,
): boolean {
  if (end - start !== otherEnd - otherStart) return false
  for (let i = start, j = otherStart; i < end; i++, j++) if (a[i] !== b[j]) return false
  return true
}
