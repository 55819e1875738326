/**
 * The cursor of a page of reviews: the sequence number below which the next page starts, in a form that nobody mistakes for one. Called by both stores.
 */
export function printCursor(sequence: number): string {
  return Buffer.from(`before:${sequence}`).toString('base64url')
}

/** Undefined for whatever `printCursor` did not make. */
export function parseCursor(cursor: string): number | undefined {
  if (cursor.length > 64) return undefined
  const match = /^before:([1-9]\d{0,14})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  const sequence = match ? Number(match[1]) : undefined
  return sequence !== undefined && printCursor(sequence) === cursor ? sequence : undefined
}
