/**
 * Judges, numbers and hashes a text of any size in one pass and bounded memory, keeping only the window that a Read shows (reading §1, §2).
 *
 * The answer is the one that Document would give; only the text itself is not kept. A line of a gigabyte costs no more memory than a short one: of a line that
 * the window shows, only what can be shown is held. Decides nothing about sizes and reads nothing by itself. Called by Read.
 */
import type { Hash } from 'node:crypto'
import { createHash } from 'node:crypto'
import { isUtf8 } from 'node:buffer'
import { tagOf } from './digest.js'
import type { Terminator } from './document.js'
import { BOM_BYTES } from './document.js'
import type { NotText } from './utf8.js'
import { firstInvalid, foreignEncoding } from './utf8.js'
import type { TextWindow, WindowAsk, WindowBounds } from './window.js'
import { WindowRows } from './window.js'

const LF = 10
const CR = 13
const TAB = 9
const SPACE = 32
/** The longest byte order mark of a foreign encoding. */
const MARK_BYTES = 4

export interface ScanBounds extends WindowBounds {
  /** Bytes at the start in which a NUL makes the file binary. */
  readonly probeBytes: number
}

export interface ScannedFacts {
  readonly tag: string
  readonly versionDigest: string
  readonly textDigest: string
  /** Bytes of the LF text. */
  readonly bytes: number
  readonly totalLines: number
}

export interface Scanned {
  readonly facts: ScannedFacts
  readonly window: TextWindow
  readonly fileBytes: number
  readonly dominantTerminator: '\n' | '\r\n'
  readonly bom: boolean
  readonly endsWithNewline: boolean
}

/** Takes the chunks of a whole file in order; stops taking them once it is known to be no text. Throws what the chunks throw. */
export async function scanText(
  chunks: AsyncIterable<Buffer>,
  ask: WindowAsk,
  bounds: ScanBounds,
): Promise<Scanned | NotText> {
  const scanner = new TextScanner(ask, bounds)
  for await (const chunk of chunks) {
    const problem = scanner.push(chunk)
    if (problem) return problem
  }
  return scanner.finish()
}

/** The same for whoever has the chunks: `push` answers as soon as the file is known to be no text. */
export class TextScanner {
  private readonly lines: LineScanner
  /** What cannot be judged yet: the first bytes, a split character, a CR whose LF may follow. */
  private carry: Buffer = Buffer.alloc(0)
  private opened = false
  private bom = false
  /** Offset of the carry. */
  private judged = 0
  /** Bytes taken, of which those before `probeBytes` were searched for a NUL. */
  private probed = 0
  private invalid: NotText | undefined

  constructor(
    ask: WindowAsk,
    private readonly bounds: ScanBounds,
  ) {
    this.lines = new LineScanner(ask, bounds)
  }

  push(chunk: Buffer): NotText | undefined {
    if (this.opened) return this.take(chunk)
    this.carry = Buffer.concat([this.carry, chunk])
    return this.carry.length < MARK_BYTES ? undefined : this.open()
  }

  finish(): Scanned | NotText {
    const problem = this.opened ? undefined : this.open()
    if (problem) return problem
    if (!this.invalid) this.judge(this.carry.length)
    return this.invalid ?? { ...this.lines.finish(), bom: this.bom, fileBytes: this.judged }
  }

  private open(): NotText | undefined {
    this.opened = true
    const first = this.carry
    this.carry = Buffer.alloc(0)
    const encoding = foreignEncoding(first)
    if (encoding !== undefined) return { kind: 'encoding', offset: 0, encoding }
    this.bom = first.subarray(0, BOM_BYTES.length).equals(BOM_BYTES)
    if (!this.bom) return this.take(first)
    this.judged = this.probed = BOM_BYTES.length
    return this.take(first.subarray(BOM_BYTES.length))
  }

  private take(chunk: Buffer): NotText | undefined {
    const nul = chunk.subarray(0, Math.max(0, this.bounds.probeBytes - this.probed)).indexOf(0)
    if (nul >= 0) return { kind: 'binary', offset: this.probed + nul }
    this.probed += chunk.length
    if (!this.invalid) {
      this.carry = this.carry.length === 0 ? chunk : Buffer.concat([this.carry, chunk])
      this.judge(decidable(this.carry))
    }
    return this.probed < this.bounds.probeBytes ? undefined : this.invalid
  }

  /** Judges the first `length` bytes of the carry and hands them on. An invalid byte yields to a NUL that the probe may still find. */
  private judge(length: number): void {
    const piece = this.carry.subarray(0, length)
    if (!isUtf8(piece)) {
      this.invalid = { kind: 'encoding', offset: this.judged + firstInvalid(piece) }
      return
    }
    this.carry = this.carry.subarray(length)
    this.judged += length
    this.lines.push(piece)
  }
}

/** How many of the bytes can be judged before more are known: not a character that may go on, nor a CR at the end. */
function decidable(bytes: Buffer): number {
  const last = bytes.length - 1
  if (bytes[last] === CR) return last
  for (let at = last; at >= Math.max(0, last - 2); at--) {
    const byte = bytes[at] ?? 0
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const wants = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    return at + wants > bytes.length ? at : bytes.length
  }
  return bytes.length
}

/** Lines, digests and the window of a text that arrives in pieces of whole characters, without byte order mark. A piece never ends between CR and LF. */
class LineScanner {
  private readonly version = new VersionHash()
  private readonly rows: WindowRows
  private readonly head: LineHead
  private line = 1
  private lineBytes = 0
  private lf = 0
  private crlf = 0
  private bytes = 0

  constructor(
    private readonly ask: WindowAsk,
    bounds: WindowBounds,
  ) {
    this.rows = new WindowRows(ask, bounds)
    this.head = new LineHead(this.rows.enoughBytes)
  }

  push(piece: Buffer): void {
    this.bytes += piece.length
    let trims: Trims = 'nothing'
    let start = 0
    for (let end = piece.indexOf(LF); end >= 0; end = piece.indexOf(LF, start)) {
      const before = end > start ? piece[end - 1] : undefined
      if (before === CR) {
        this.crlf++
        if (end - 1 > start && isBlank(piece[end - 2])) trims = 'blanks'
        else if (trims === 'nothing') trims = 'terminators'
      } else {
        this.lf++
        if (isBlank(before)) trims = 'blanks'
      }
      if (this.wanted) this.head.add(piece.subarray(start, before === CR ? end - 1 : end))
      this.endLine(before === CR ? '\r\n' : '\n')
      start = end + 1
    }
    if (start < piece.length) {
      this.lineBytes += piece.length - start
      if (this.wanted) this.head.add(piece.subarray(start))
    }
    this.version.update(piece, trims)
  }

  finish(): Pick<Scanned, 'facts' | 'window' | 'dominantTerminator' | 'endsWithNewline'> {
    const endsWithNewline = this.lineBytes === 0
    if (!endsWithNewline) this.endLine('')
    const { versionDigest, textDigest } = this.version.digests()
    return {
      facts: {
        tag: tagOf(versionDigest),
        versionDigest,
        textDigest,
        bytes: this.bytes - this.crlf,
        totalLines: this.line - 1,
      },
      window: this.rows.window(),
      dominantTerminator: this.crlf > this.lf ? '\r\n' : '\n',
      endsWithNewline,
    }
  }

  private get wanted(): boolean {
    return !this.rows.ended && this.line >= this.ask.offset && this.line < this.ask.offset + this.ask.limit
  }

  private endLine(terminator: Terminator): void {
    if (this.wanted) {
      const head = this.head.bytes()
      this.rows.add(this.line, head, 0, head.length, terminator)
      this.head.clear()
    }
    this.line++
    this.lineBytes = 0
  }
}

/** The first bytes of a line that arrives in parts, as many as can matter. */
class LineHead {
  private parts: Buffer[] = []
  private length = 0

  constructor(private readonly most: number) {}

  /** Copies, so that a few shown bytes never hold a whole chunk. */
  add(part: Buffer): void {
    if (part.length === 0 || this.length >= this.most) return
    const kept = Buffer.from(part.subarray(0, this.most - this.length))
    this.parts.push(kept)
    this.length += kept.length
  }

  bytes(): Buffer {
    return Buffer.concat(this.parts, this.length)
  }

  clear(): void {
    this.parts = []
    this.length = 0
  }
}

/** What the hash-normalized text lacks of a piece, its end apart: the CR of terminators alone, which the LF text lacks too, or blanks as well. */
type Trims = 'nothing' | 'terminators' | 'blanks'

/**
 * The digest of the text without trailing blanks beside the digest of the LF text, in one pass. Whether blanks at the end of a piece trail is known only later: a
 * fork of the hash takes them and becomes the hash when they did not. While no blank was left out, both digests are one.
 */
class VersionHash {
  private sure: Hash = createHash('sha256')
  private fork: Hash | undefined
  private text: Hash | undefined

  update(piece: Buffer, trims: Trims): void {
    const blanks = this.fork === undefined ? 0 : leadingBlanks(piece)
    const drops = this.fork !== undefined && piece[blanks] === LF
    if (trims === 'blanks' || drops) this.text ??= (this.fork ?? this.sure).copy()
    const lf = trims === 'nothing' ? piece : withoutCr(piece)
    this.text?.update(lf)
    if (this.fork && blanks === piece.length) {
      this.fork.update(piece)
      return
    }
    if (this.fork && !drops) this.sure = this.fork
    this.fork = undefined
    const rest = drops ? lf.subarray(leadingBlanks(lf)) : lf
    const { kept, trailing } = trimmed(rest, trims === 'blanks')
    this.sure.update(kept)
    if (trailing.length > 0) this.fork = this.sure.copy().update(trailing)
  }

  digests(): { readonly versionDigest: string; readonly textDigest: string } {
    const textDigest = (this.text ?? this.fork ?? this.sure).copy().digest('hex')
    return { versionDigest: this.sure.digest('hex'), textDigest }
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CR
}

function leadingBlanks(piece: Buffer): number {
  let at = 0
  while (at < piece.length && isBlank(piece[at])) at++
  return at
}

/** The piece without blanks before an LF, and apart from it the blanks at its end. `inner` false: every line inside ends in none. */
function trimmed(piece: Buffer, inner: boolean): { readonly kept: Buffer; readonly trailing: Buffer } {
  if (!inner) {
    let end = piece.length
    while (end > 0 && isBlank(piece[end - 1])) end--
    return { kept: piece.subarray(0, end), trailing: piece.subarray(end) }
  }
  const out = Buffer.allocUnsafe(piece.length)
  let length = 0
  let kept = 0
  for (let at = 0; at < piece.length; at++) {
    const byte = piece[at] ?? 0
    if (byte === LF) length = kept
    out[length++] = byte
    if (!isBlank(byte)) kept = length
  }
  return { kept: out.subarray(0, kept), trailing: out.subarray(kept, length) }
}

/** The piece with each CR dropped that stands directly before an LF. */
function withoutCr(piece: Buffer): Buffer {
  const out = Buffer.allocUnsafe(piece.length)
  let length = 0
  let from = 0
  for (let cr = piece.indexOf(CR); cr >= 0; cr = piece.indexOf(CR, cr + 1)) {
    if (piece[cr + 1] !== LF) continue
    length += piece.copy(out, length, from, cr)
    from = cr + 1
  }
  length += piece.copy(out, length, from)
  return out.subarray(0, length)
}
