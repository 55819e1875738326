/**
 * The answer of an Edit (http-api "Edit"): what changed, where lines are now, and the text to show a model. Pure.
 */
import type { Warning } from '../errors/warnings.js'
import { limits } from '../limits.js'
import type { EditAnswer, ReviewSummary } from '../schemas/operations.js'
import type { Document } from '../text/document.js'
import { clip, hunksOf } from '../text/hunks.js'
import type { LineEdit } from '../text/line-edit.js'
import { LineRange } from '../text/line-range.js'
import { LineSet } from '../text/line-set.js'
import type { Addressed, Decided, EditCall } from './edit-call.js'
import { hunkBounds } from './evidence.js'
import { headerOf } from './load-text.js'

export interface EditFacts {
  readonly edit: EditCall
  readonly to: Addressed
  readonly decided: Decided
  readonly landed: Document
  readonly warnings: readonly Warning[]
  readonly review?: ReviewSummary
}

export function editAnswer(facts: EditFacts): Record<string, unknown> {
  const { to, decided, landed, review } = facts
  const { prepared, loaded, dest } = decided
  const { document } = loaded
  const warnings = [...to.warnings, ...prepared.warnings, ...facts.warnings]
  const common = {
    path: to.target.path,
    root: to.target.root,
    previousTag: document.tag,
    branch: prepared.branch,
    ops: to.patch.ops.map((op) => op.header),
    resolutions: prepared.resolutions,
    warnings,
    ...(review === undefined ? {} : { review }),
  }
  if (prepared.remove) {
    const verb = facts.edit.dryRun ? 'would apply' : 'applied'
    const removed = `removed ${to.target.path} (${document.lineCount} ${document.lineCount === 1 ? 'line' : 'lines'})`
    const answer: EditAnswer = {
      ...common,
      shifts: [],
      additions: 0,
      deletions: document.lineCount,
      totalLines: 0,
      content: withWarnings(`${verb}: ${removed}`, warnings),
      deleted: true,
    }
    return answer
  }
  const hunks = hunksOf(prepared.edit, document, hunkBounds)
  const header = headerOf((dest ?? to.target).path, landed.tag)
  const drifted = !landed.bytes.equals(prepared.result.bytes)
  const answer: EditAnswer = {
    ...common,
    tag: landed.tag,
    header,
    hunks: hunks.hunks,
    ...(hunks.truncated ? { hunksTruncated: true } : {}),
    shifts: prepared.branch === 'direct' ? prepared.edit.shifts() : [],
    additions: prepared.edit.additions,
    deletions: prepared.edit.deletions,
    totalLines: landed.lineCount,
    content: contentOf({ facts, header, drifted, warnings }),
    ...(dest === undefined ? {} : { movedTo: dest.path }),
  }
  return answer
}

interface Shown {
  readonly facts: EditFacts
  readonly header: string
  readonly drifted: boolean
  readonly warnings: readonly Warning[]
}

/** A line that says applied and where, the header with the new tag, the changed rows at their new numbers; bounded in bytes. */
function contentOf({ facts, header, drifted, warnings }: Shown): string {
  const { to, decided, landed } = facts
  const { prepared, dest } = decided
  const places = placesOf(prepared.edit)
  const applied = facts.edit.dryRun ? 'would apply' : 'applied'
  const moved = dest === undefined ? '' : `, moved to ${dest.path}`
  const head = withWarnings(
    `${applied}: ${to.target.path}${moved}, ${placesText(places)} (+${prepared.edit.additions} -${prepared.edit.deletions})`,
    warnings,
  )
  if (drifted) {
    const last = Math.min(landed.lineCount, limits.readDefaultLines)
    return `${head}\na save hook changed the text, so these line numbers are void: read lines 1-${last} before the next edit\n${header}`
  }
  return bounded([head, header], rowsOf(places, landed), limits.editContentBytes)
}

/** The places of the new text that the edit changed, one per replacement: lines it wrote, or the gap where it only cut. */
function placesOf(edit: LineEdit): LineRange[] {
  let by = 0
  return edit.replacements.map(({ range, rows }) => {
    const start = range.start + by
    by += rows.length - range.length
    return new LineRange(start, start + rows.length)
  })
}

function placesText(places: readonly LineRange[]): string {
  if (places.length === 0) return 'no line changed'
  const shown = places.slice(0, 5).map((range) => {
    if (range.isGap) return `cut before line ${range.start}`
    return range.length === 1 ? `line ${range.start}` : `lines ${range.start}-${range.last}`
  })
  return shown.join(', ') + (places.length > 5 ? ` and ${places.length - 5} more places` : '')
}

/** The changed lines with their context, numbered; a gap between regions shows as `…`. Made one by one, because the answer takes only a few. */
function* rowsOf(places: readonly LineRange[], landed: Document): Generator<string> {
  const end = landed.lineCount + 1
  const regions = LineSet.of(
    places.map(
      (range) =>
        new LineRange(
          Math.max(1, Math.min(range.start - limits.hunkContextLines, end)),
          Math.min(end, range.end + limits.hunkContextLines),
        ),
    ),
  )
  for (const [i, region] of regions.ranges.entries()) {
    if (i > 0) yield '…'
    for (let line = region.start; line < region.end; line++) yield `${line}:${landed.text(line)}`
  }
}

/** As many rows as fit beside the head lines; says when some do not. */
function bounded(head: readonly string[], rows: Iterable<string>, maxBytes: number): string {
  const more = '… more rows changed; Read shows them'
  let bytes = Buffer.byteLength(head.join('\n')) + Buffer.byteLength(more) + 1
  const shown: string[] = []
  for (const row of rows) {
    const cut = clip(row, limits.revealLineChars)
    const line = cut.clipped ? `${cut.text}…` : cut.text
    bytes += Buffer.byteLength(line) + 1
    if (bytes > maxBytes) return [...head, ...shown, more].join('\n')
    shown.push(line)
  }
  return [...head, ...shown].join('\n')
}

/** Warnings that a model is shown; all of them stand in `warnings`. */
const SHOWN_WARNINGS = 6

function withWarnings(text: string, warnings: readonly Warning[]): string {
  const shown = warnings
    .slice(0, SHOWN_WARNINGS)
    .map((warning) => `warning ${warning.code}: ${clip(warning.message, 400).text}`)
  return [text, ...shown].join('\n')
}
