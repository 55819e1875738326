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

/** Hunks of `edit` over `base`; context lines are merged when they touch. `written` gives the new text of a line that the edit wrote. */
export function hunksOf(edit: LineEdit, base: Document, bounds: HunkBounds): Hunks {
  const out: Hunk[] = []
  let budget = bounds.maxRows
  let truncated = false
  let by = 0
  for (const group of groups(edit, bounds.contextLines)) {
    const first = group[0]
    const last = group.at(-1)
    if (!first || !last) continue
    const from = Math.max(1, first.range.start - bounds.contextLines)
    const to = Math.min(edit.baseLines + 1, last.range.end + bounds.contextLines)
    const rows: HunkRow[] = []
    const before = by
    let line = from
    const put = (row: HunkRow): void => {
      if (budget > 0) {
        budget--
        const cut = clip(row.text, bounds.maxRowChars)
        if (cut.clipped) truncated = true
        rows.push(cut.clipped ? { ...row, text: `${cut.text}…` } : row)
      } else truncated = true
    }
    const context = (until: number): void => {
      for (; line < until; line++) if (budget > 0) put({ kind: ' ', line: line + by, text: base.text(line) })
    }
    for (const { range, rows: added } of group) {
      context(range.start)
      for (let old = range.start; old < range.end && budget > 0; old++)
        put({ kind: '-', line: old, text: base.text(old) })
      for (let i = 0; i < added.length && budget > 0; i++)
        put({ kind: '+', line: range.start + by + i, text: added[i] ?? '' })
      if (budget === 0) truncated = true
      by += added.length - range.length
      line = range.end
    }
    context(to)
    const oldLines = to - from
    const newLines = oldLines + by - before
    out.push({
      oldStart: oldLines === 0 ? from - 1 : from,
      oldLines,
      newStart: newLines === 0 ? from + before - 1 : from + before,
      newLines,
      rows,
    })
    if (budget === 0) break
  }
  return { hunks: out, truncated }
}

/** Replacements whose context touches or overlaps share a hunk. */
function groups(edit: LineEdit, context: number): Replacement[][] {
  const out: Replacement[][] = []
  for (const replacement of edit.replacements) {
    const last = out.at(-1)?.at(-1)
    if (last && replacement.range.start - last.range.end <= 2 * context) out.at(-1)?.push(replacement)
    else out.push([replacement])
  }
  return out
}
