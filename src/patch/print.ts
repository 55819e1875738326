/**
 * Writes ops as text: headers for messages and suggestions, whole patches for records and tests.
 *
 * Law: parse(print(x)) = x for every Patch that the grammar can express, rows of `ops` and headers included. Decides nothing
 * about what a patch means. Called by the parser's corrections and by whoever suggests an op.
 */
import type { Gap, Op, Patch, Span } from './ops.js'

/** `5.=7`, `5*`, `<5`, `>5`, `>$`, `>5*`. */
export function locatorText(at: Gap | Span): string {
  switch (at.kind) {
    case 'range':
      return `${at.first}.=${at.last}`
    case 'block':
      return `${at.line}*`
    case 'before':
      return `<${at.line}`
    case 'after':
      return `>${at.line}`
    case 'end':
      return '>$'
    case 'afterBlock':
      return `>${at.line}*`
  }
}

/** `dest` as it stands behind `MV`: quoted only where the bare form would be read as another path. */
export function destinationText(dest: string): string {
  const bare = /^[^" \t\r\n]/.test(dest) && !/[ \t\r]$/.test(dest)
  return bare ? dest : `"${dest.replace(/["\\]/g, '\\$&')}"`
}

type Unwritten<T> = T extends Op ? Omit<T, 'opsLine' | 'header'> : never

/** The canonical header of an op. */
export function headerText(op: Unwritten<Op>): string {
  switch (op.kind) {
    case 'put':
      return `PUT ${locatorText(op.at)}:`
    case 'paste':
      return `PUT ${locatorText(op.at)}${registerText(op.register)}`
    case 'cut':
      return `CUT ${locatorText(op.at)}${registerText(op.register)}`
    case 'remove':
      return 'REM'
    case 'move':
      return `MV ${destinationText(op.dest)}`
  }
}

const registerText = (register: string | undefined): string => (register === undefined ? '' : ` @${register}`)

/**
 * `ops` text that parses to exactly `patch`. Empty rows keep each header on its `opsLine`. Throws on what no `ops` can hold: an LF inside
 * a row or a destination.
 */
export function printOps(patch: Patch): string {
  const rows: string[] = []
  const pushAt = (opsLine: number, row: string): void => {
    while (rows.length < opsLine - 1) rows.push('')
    rows.push(row)
  }
  if (patch.named !== undefined) pushAt(patch.named.opsLine, `[${patch.named.path}#${patch.named.tag}]`)
  for (const op of patch.ops) {
    // Whether a destination is quoted is the author's choice and part of `header`.
    pushAt(op.opsLine, op.kind === 'move' ? op.header : headerText(op))
    if (op.kind === 'put') for (const row of op.rows) rows.push(`+${row}`)
  }
  if (rows.some((row) => row.includes('\n'))) throw new Error('a row of ops cannot hold a line feed')
  // A CR before LF would be taken for transport, so one that is content is followed by another.
  return rows.map((row) => (row.endsWith('\r') ? `${row}\r\n` : `${row}\n`)).join('')
}
