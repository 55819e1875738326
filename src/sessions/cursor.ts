/**
 * Places in logs as callers see them: the cursor of a page of reviews, the id of an event. Called by both stores.
 */

/** The sequence number below which the next page starts, in a form that nobody mistakes for one. */
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

/** The sequence number in an event id; 0 for what is none. */
export function eventSequence(id: string | undefined): number {
  return id !== undefined && /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0
}
