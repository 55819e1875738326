/**
 * What looks wrong about a body but is not provable (reading §6.4): it is written as it is, and said.
 *
 * Changes nothing and asks nothing. The conditions are as narrow as the reading states them, anything looser was noise on real changes. Called by repair.
 */
import type { Warning } from '../errors/warnings.js'
import { warn } from '../errors/warnings.js'
import type { Document } from '../text/document.js'
import type { ResolvedOp } from './resolved.js'

const TAB = 9
const SPACE = 32
const CR = 13
const LF = 10
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u

/** INSERT_REPEATS_ANCHOR and INDENT_STYLE_DIFFERS, in the order of the ops. Register pastes are literal and get none. */
export function notesOn(base: Document, ops: readonly ResolvedOp[]): readonly Warning[] {
  const indent = new FileIndent(base)
  return ops.flatMap((op) => {
    const repeated = repeatedAnchor(base, op, ops)
    const foreign = foreignIndent(op, indent)
    return [...(repeated ? [repeated] : []), ...(foreign ? [foreign] : [])]
  })
}

/** The first row under `>N` or the last under `<N` equals line N and holds a letter or digit. */
function repeatedAnchor(base: Document, { op, source }: ResolvedOp, ops: readonly ResolvedOp[]): Warning | undefined {
  if (source !== 'body' || op.kind !== 'put' || (op.at.kind !== 'after' && op.at.kind !== 'before')) return undefined
  const { line } = op.at
  const row = op.at.kind === 'after' ? op.rows[0] : op.rows.at(-1)
  if (row === undefined || line > base.lineCount || !LETTER_OR_DIGIT.test(row) || row !== base.text(line))
    return undefined
  // `<1` has no anchor: another op may have taken line 1 away, and then it is not repeated.
  const isGone = ops.some((other) => other.replacements.some((r) => r.range.contains(line)))
  return isGone ? undefined : warn.insertRepeatsAnchor(op.header, line)
}

/** Every indented row of the body begins with the other of tab and space than every indented line of the file. */
function foreignIndent({ op, source }: ResolvedOp, file: FileIndent): Warning | undefined {
  if (source !== 'body' || op.kind !== 'put') return undefined
  const indented = op.rows.filter((row) => (row.startsWith(' ') || row.startsWith('\t')) && row.trim() !== '')
  const [first] = indented
  if (first === undefined) return undefined
  const isTab = first.startsWith('\t')
  if (!indented.every((row) => row.startsWith(isTab ? '\t' : ' '))) return undefined
  if (file.uses(isTab ? TAB : SPACE) || !file.uses(isTab ? SPACE : TAB)) return undefined
  return warn.indentStyleDiffers(op.header, isTab ? 'tabs' : 'spaces', isTab ? 'spaces' : 'tabs')
}

/** Whether any line of a file that is not blank begins with a tab, or with a space. Scans no further than to the first that does. */
class FileIndent {
  private readonly known = new Map<number, boolean>()

  constructor(private readonly base: Document) {}

  uses(blank: typeof TAB | typeof SPACE): boolean {
    const known = this.known.get(blank)
    if (known !== undefined) return known
    const found = this.search(blank)
    this.known.set(blank, found)
    return found
  }

  private search(blank: number): boolean {
    const { bytes, index } = this.base
    for (let line = 0; line < this.base.lineCount; line++) {
      const start = index.starts[line] ?? 0
      if (bytes[start] === blank && !isBlankFrom(bytes, start, index.starts[line + 1] ?? bytes.length)) return true
    }
    return false
  }
}

function isBlankFrom(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i]
    if (byte !== SPACE && byte !== TAB && byte !== CR && byte !== LF) return false
  }
  return true
}
