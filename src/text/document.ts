/**
 * A document is the bytes of a text file and an index of its lines (contract §3, reading §1–2).
 *
 * Untouched lines keep their bytes by construction: an edit copies byte slices, and only what is shown, compared or diffed becomes a
 * string. Lines end at LF alone; a CR directly before that LF belongs to the terminator; a byte order mark is stripped before addressing. Refuses
 * what is not text. Immutable; made by ports' callers from loaded bytes and by LineEdit.
 */
import { sha256, tagOf } from './digest.js'
import type { NotText } from './utf8.js'
import { notText } from './utf8.js'

export type Terminator = '\n' | '\r\n' | ''
export type LineEnding = 'lf' | 'crlf' | 'mixed' | 'none'

const LF = 10
const CR = 13
const TAB = 9
const SPACE = 32
export const BOM_BYTES = Buffer.from([0xef, 0xbb, 0xbf])

/** What the index pass learns on its way. */
export interface LineIndex {
  /** Byte offset of the start of every line, then the length of the file: lineCount + 1 entries. */
  readonly starts: Uint32Array
  readonly lfCount: number
  readonly crlfCount: number
  /** True when some line may end in a blank or CR, so that hashing needs a normalized copy. May be true needlessly, never false wrongly. */
  readonly mayTrail: boolean
}

export class Document {
  /** Judges and indexes the bytes of a whole file. */
  static parse(bytes: Buffer, probeBytes: number): Document | NotText {
    return notText(bytes, probeBytes) ?? Document.trusted(bytes)
  }

  /** Indexes bytes that are known to be text, such as a stored snapshot or an encoded string. */
  static trusted(bytes: Buffer): Document {
    const bom = startsWithBom(bytes) ? 3 : 0
    return new Document(bytes, bom, indexLines(bytes, bom))
  }

  static fromText(text: string): Document {
    return Document.trusted(Buffer.from(text, 'utf8'))
  }

  /** For LineEdit: the parts of a document whose index is known from the edit. */
  static assembled(bytes: Buffer, bom: 0 | 3, index: LineIndex): Document {
    return new Document(bytes, bom, index)
  }

  readonly lineCount: number
  private version: string | undefined
  private textSum: string | undefined
  private byteSum: string | undefined

  private constructor(
    readonly bytes: Buffer,
    private readonly bomLength: 0 | 3,
    readonly index: LineIndex,
  ) {
    this.lineCount = index.starts.length - 1
  }

  get hasBom(): boolean {
    return this.bomLength === 3
  }

  /** True when the last line is terminated. An empty document counts as terminated: text put into it gets a terminator (reading §1.4). */
  get endsWithNewline(): boolean {
    return this.lineCount === 0 || this.bytes[this.bytes.length - 1] === LF
  }

  /** What new lines get: the more frequent terminator; a tie or none is LF (reading §1.3). */
  get dominantTerminator(): '\n' | '\r\n' {
    return this.index.crlfCount > this.index.lfCount ? '\r\n' : '\n'
  }

  get lineEnding(): LineEnding {
    const { lfCount, crlfCount } = this.index
    if (lfCount > 0) return crlfCount > 0 ? 'mixed' : 'lf'
    return crlfCount > 0 ? 'crlf' : 'none'
  }

  /** Byte offsets [start, end) of a line with its terminator. */
  slice(line: number): { start: number; end: number } {
    return { start: this.start(line), end: this.start(line + 1) }
  }

  terminator(line: number): Terminator {
    const { start, end } = this.slice(line)
    if (end === start || this.bytes[end - 1] !== LF) return ''
    return end - 1 > start && this.bytes[end - 2] === CR ? '\r\n' : '\n'
  }

  /** Bytes of a line without its terminator. */
  content(line: number): Buffer {
    const { start, end } = this.slice(line)
    return this.bytes.subarray(start, end - this.terminator(line).length)
  }

  text(line: number): string {
    return this.content(line).toString('utf8')
  }

  /** Text of a line without trailing blanks, as drift recovery compares it (reading §3.5). */
  trimmed(line: number): string {
    const { start, end } = this.slice(line)
    return this.bytes.toString('utf8', start, this.beforeBlanks(this.bytes[end - 1] === LF ? end - 1 : end, start))
  }

  /** All lines without trailing blanks. One pass; meant for diffs, not for answers. */
  trimmedLines(): string[] {
    return Array.from({ length: this.lineCount }, (_, i) => this.trimmed(i + 1))
  }

  /** The whole text with LF, without BOM: what a snapshot keeps (contract §4.1). */
  textBytes(): Buffer {
    const body = this.bytes.subarray(this.bomLength)
    if (this.index.crlfCount === 0) return body
    return this.normalized((end, start, terminated) =>
      terminated && end > start && this.bytes[end - 1] === CR ? end - 1 : end,
    )
  }

  /** Bytes of `textBytes`, without making them. */
  get textLength(): number {
    return this.bytes.length - this.bomLength - this.index.crlfCount
  }

  /** The whole text as it is, without BOM, terminators as they are. */
  rawText(): string {
    return this.bytes.toString('utf8', this.bomLength)
  }

  /** SHA-256 of the hash-normalized text: the identity that gates compare (reading §2.2). */
  get versionDigest(): string {
    return (this.version ??= this.index.mayTrail
      ? sha256(this.normalized((end, start) => this.beforeBlanks(end, start)))
      : sha256(this.bytes.subarray(this.bomLength)))
  }

  /** SHA-256 of the full LF text: the key of a stored snapshot. */
  get textDigest(): string {
    return (this.textSum ??= this.index.mayTrail ? sha256(this.textBytes()) : this.versionDigest)
  }

  /** SHA-256 of the bytes of the file: for reviews, rollback and the re-check before a write. */
  get byteDigest(): string {
    return (this.byteSum ??= this.index.mayTrail || this.bomLength > 0 ? sha256(this.bytes) : this.versionDigest)
  }

  get tag(): string {
    return tagOf(this.versionDigest)
  }

  private start(line: number): number {
    const start = this.index.starts[line - 1]
    if (start === undefined) throw new RangeError(`line ${line} of ${this.lineCount}`)
    return start
  }

  private beforeBlanks(end: number, start: number): number {
    let at = end
    while (at > start && isBlank(this.bytes[at - 1])) at--
    return at
  }

  /** A copy in which each line ends where `lineEnd(end without LF, start, had an LF)` says, with LF where it was terminated. */
  private normalized(lineEnd: (end: number, start: number, terminated: boolean) => number): Buffer {
    const copy = Buffer.allocUnsafe(this.bytes.length - this.bomLength)
    let length = 0
    for (let line = 1; line <= this.lineCount; line++) {
      const { start, end } = this.slice(line)
      const terminated = this.bytes[end - 1] === LF
      length += this.bytes.copy(copy, length, start, lineEnd(terminated ? end - 1 : end, start, terminated))
      if (terminated) copy[length++] = LF
    }
    return copy.subarray(0, length)
  }
}

function startsWithBom(bytes: Uint8Array): boolean {
  return bytes[0] === BOM_BYTES[0] && bytes[1] === BOM_BYTES[1] && bytes[2] === BOM_BYTES[2]
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CR
}

/** Bytes looked at one by one before the native search is asked: texts of very short lines would spend their time on calling it. */
const NEAR = 4

/** One pass over the bytes. Grows its array by doubling, so that a file of short lines costs no more than one of long lines. */
export function indexLines(bytes: Buffer, from: number): LineIndex {
  let starts = new Uint32Array(Math.max(16, bytes.length >>> 5))
  let count = 0
  let crlfCount = 0
  let newlines = 0
  let mayTrail = false
  let lineStart = from
  const length = bytes.length
  for (let at = nextLf(bytes, from); at >= 0; at = nextLf(bytes, lineStart)) {
    if (count + 2 >= starts.length) starts = grown(starts)
    starts[count++] = lineStart
    newlines++
    if (at > lineStart) {
      const before = bytes[at - 1]
      if (before === CR) {
        crlfCount++
        mayTrail = true
      } else if (before === SPACE || before === TAB) mayTrail = true
    }
    lineStart = at + 1
  }
  if (lineStart < length) {
    starts[count++] = lineStart
    if (isBlank(bytes[length - 1])) mayTrail = true
  }
  starts[count] = length
  return { starts: starts.slice(0, count + 1), lfCount: newlines - crlfCount, crlfCount, mayTrail }
}

/** Offset of the next LF at or behind `from`, or -1. */
function nextLf(bytes: Buffer, from: number): number {
  const near = Math.min(from + NEAR, bytes.length)
  for (let i = from; i < near; i++) if (bytes[i] === LF) return i
  return bytes.indexOf(LF, near)
}

function grown(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2)
  larger.set(array)
  return larger
}
