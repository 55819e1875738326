/**
 * What makes bytes a text: valid UTF-8 without a NUL near its start (reading §1.1). The whole file is judged before any of it is shown or
 * written; U+FFFD never stands in for a byte. Called by Document.
 */
import { isUtf8 } from 'node:buffer'

export type NotText =
  | { readonly kind: 'binary'; readonly offset: number }
  | { readonly kind: 'encoding'; readonly offset: number; readonly encoding?: string }

/** Undefined when `bytes` are text; otherwise why not. `probeBytes`: how far a NUL makes it binary. */
export function notText(bytes: Uint8Array, probeBytes: number): NotText | undefined {
  const encoding = foreignEncoding(bytes)
  if (encoding !== undefined) return { kind: 'encoding', offset: 0, encoding }
  const nul = bytes.subarray(0, probeBytes).indexOf(0)
  if (nul >= 0) return { kind: 'binary', offset: nul }
  if (!isUtf8(bytes)) return { kind: 'encoding', offset: firstInvalid(bytes) }
  return undefined
}

/** The encoding that a byte order mark other than UTF-8's tells. */
export function foreignEncoding(bytes: Uint8Array): string | undefined {
  const [a, b, c, d] = bytes
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? 'UTF-32LE' : 'UTF-16LE'
  if (a === 0xfe && b === 0xff) return 'UTF-16BE'
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return 'UTF-32BE'
  return undefined
}

/** Offset of the first byte that is not part of valid UTF-8. Halves the text with the native check: a prefix that ends on a character boundary is valid. */
export function firstInvalid(bytes: Uint8Array): number {
  let valid = 0
  let bad = bytes.length
  while (bad - valid > 8) {
    const middle = boundary(bytes, (valid + bad) >>> 1)
    if (middle <= valid) break
    if (isUtf8(bytes.subarray(valid, middle))) valid = middle
    else bad = middle
  }
  for (let at = valid; at < bytes.length;) {
    const length = characterLength(bytes, at)
    if (length === 0) return at
    at += length
  }
  return bytes.length
}

/** The nearest offset at or below `at` that does not point at a continuation byte; at most three steps back. */
function boundary(bytes: Uint8Array, at: number): number {
  let start = at
  for (let i = 0; i < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80; i++) start--
  return start
}

/** Length of the valid character at `at`, or 0. */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0
}

/** True for a string that would not survive encoding to UTF-8, or holds a NUL (reading §1.6). */
export function isUnwritable(text: string): boolean {
  return text.includes('\0') || /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text)
}
