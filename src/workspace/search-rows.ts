/**
 * What ripgrep writes, read as it comes: paths that end in NUL, with or without a count, and the numbers of matching lines.
 *
 * Chunks end anywhere. Holds no row longer than one path or number. Called by the search.
 */

export interface PathRow {
  readonly path: string
  /** Of `--count`; 1 without it. */
  readonly lines: number
}

const LF = 10
const NUL = 0

/** Rows of `--null`: `path NUL`, or with `counted` `path NUL count LF`. A leading `./` is dropped; undefined stands for a name that is not UTF-8. */
export class PathRows {
  private rest: Buffer = Buffer.alloc(0)

  constructor(private readonly counted: boolean) {}

  *take(chunk: Buffer): Generator<PathRow | undefined> {
    const bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk])
    let at = 0
    for (let nul = bytes.indexOf(NUL); nul >= 0; nul = bytes.indexOf(NUL, at)) {
      const end = this.counted ? bytes.indexOf(LF, nul) : nul
      if (end < 0) break
      const path = bytes.toString('utf8', at, nul)
      const lines = this.counted ? Number(bytes.toString('latin1', nul + 1, end)) : 1
      yield path.includes('\uFFFD') ? undefined : { path: path.startsWith('./') ? path.slice(2) : path, lines }
      at = end + 1
    }
    this.rest = Buffer.from(bytes.subarray(at))
  }
}

export interface LineRow {
  /** 1-based, of everything that was read. */
  readonly line: number
  /** Bytes of the rest of the row. */
  readonly length: number
}

const COLON = 58
const ZERO = 48

/** Rows of `--line-number`: `number:anything LF`. Only numbers and lengths are looked at. */
export class LineRows {
  private line = 0
  private length = 0
  private inNumber = true

  /** Calls `visit` for each row that is whole; stops when it answers true, and answers that. */
  take(chunk: Buffer, visit: (row: LineRow) => boolean): boolean {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0
      if (byte === LF) {
        const row = { line: this.line, length: this.length }
        this.line = this.length = 0
        this.inNumber = true
        if (visit(row)) return true
      } else if (this.inNumber) {
        if (byte === COLON) this.inNumber = false
        else this.line = this.line * 10 + byte - ZERO
      } else {
        const end = chunk.indexOf(LF, at)
        const until = end < 0 ? chunk.length : end
        this.length += until - at
        at = until - 1
      }
    }
    return false
  }
}
