/**
 * Hunks of an edit, numbered as unified diffs are, made from the edit itself and never from a second diff (http-api "Edit").
 *
 * Bounded in rows and in characters per row; what was left out is said. Called by the tools for answers and reviews.
 */
import type { Document } from './document.js'
import type { LineEdit, Replacement } from './line-edit.js'

export interface HunkRow {
  readonly kind: ' ' | '-' | '+'
  /** Old number for `-`, new number otherwise. */
  readonly line: number
  readonly text: string
}

export interface Hunk {
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  readonly rows: readonly HunkRow[]
}

export interface HunkBounds {
  readonly contextLines: number
  readonly maxRows: number
  readonly maxRowChars: number
}

export interface Hunks {
  readonly hunks: readonly Hunk[]
  readonly truncated: boolean
}

/** Cuts a text to `maxChars` UTF-16 units, never inside a surrogate pair. */
export function clip(text: string, maxChars: number): { readonly text: string; readonly clipped: boolean } {
  if (text.length <= maxChars) return { text, clipped: false }
  const code = text.charCodeAt(maxChars - 1)
  return { text: text.slice(0, code >= 0xd800 && code <= 0xdbff ? maxChars - 1 : maxChars), clipped: true }
}

/** Hunks of `edit` over `base`; context lines are merged when they touch. Rows past the bound are left out from the end; the numbers of a hunk stay those of all its rows. */
export function hunksOf(edit: Pick<LineEdit, 'baseLines' | 'replacements'>, base: Document, bounds: HunkBounds): Hunks {
  const rows = new Rows(bounds)
  const hunks: Hunk[] = []
  let by = 0
  for (const group of groups(edit, bounds.contextLines)) {
    if (rows.full) return { hunks, truncated: true }
    const from = Math.max(1, (group[0]?.range.start ?? 1) - bounds.contextLines)
    const to = Math.min(edit.baseLines + 1, (group.at(-1)?.range.end ?? 1) + bounds.contextLines)
    const before = by
    let line = from
    const context = (until: number): void => {
      for (; line < until; line++) rows.put({ kind: ' ', line: line + by, text: base.text(line) })
    }
    for (const { range, rows: added } of group) {
      context(range.start)
      for (let old = range.start; old < range.end && rows.put({ kind: '-', line: old, text: base.text(old) });) old++
      for (let i = 0; i < added.length && rows.put({ kind: '+', line: range.start + by + i, text: added[i] ?? '' });)
        i++
      by += added.length - range.length
      line = range.end
    }
    context(to)
    const oldLines = to - from
    const newLines = oldLines + by - before
    hunks.push({
      oldStart: oldLines === 0 ? from - 1 : from,
      oldLines,
      newStart: newLines === 0 ? from + before - 1 : from + before,
      newLines,
      rows: rows.take(),
    })
  }
  return { hunks, truncated: rows.truncated }
}

/** The first rows whose texts are at most `maxBytes` UTF-8 bytes together. The numbers of a hunk stay those of all its rows. */
export function firstRows({ hunks, truncated }: Hunks, maxBytes: number): Hunks {
  let left = maxBytes
  const kept: Hunk[] = []
  for (const hunk of hunks) {
    const end = hunk.rows.findIndex((row) => (left -= Buffer.byteLength(row.text)) < 0)
    if (end < 0) {
      kept.push(hunk)
      continue
    }
    if (end > 0) kept.push({ ...hunk, rows: hunk.rows.slice(0, end) })
    return { hunks: kept, truncated: true }
  }
  return { hunks: kept, truncated }
}

/** The rows of all hunks against their bound. */
class Rows {
  truncated = false
  private rows: HunkRow[] = []
  private left: number

  constructor(private readonly bounds: HunkBounds) {
    this.left = bounds.maxRows
  }

  get full(): boolean {
    return this.left === 0
  }

  /** False when there was no room. */
  put(row: HunkRow): boolean {
    if (this.full) {
      this.truncated = true
      return false
    }
    this.left--
    const cut = clip(row.text, this.bounds.maxRowChars)
    if (cut.clipped) this.truncated = true
    this.rows.push(cut.clipped ? { ...row, text: `${cut.text}…` } : row)
    return true
  }

  /** The rows since the last call. */
  take(): readonly HunkRow[] {
    const taken = this.rows
    this.rows = []
    return taken
  }
}

/** Replacements whose context touches or overlaps share a hunk. */
function groups(edit: Pick<LineEdit, 'replacements'>, context: number): Replacement[][] {
  const out: Replacement[][] = []
  for (const replacement of edit.replacements) {
    const last = out.at(-1)?.at(-1)
    if (last && replacement.range.start - last.range.end <= 2 * context) out.at(-1)?.push(replacement)
    else out.push([replacement])
  }
  return out
}
