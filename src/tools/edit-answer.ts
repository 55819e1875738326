/**
 * The answer of an Edit (http-api "Edit"): what changed, where lines are now, and the text to show a model. Pure.
 */
import type { Warning } from '../errors/warnings.js'
import { limits } from '../limits.js'
import type { EditAnswer, ReviewSummary } from '../schemas/operations.js'
import type { Document } from '../text/document.js'
import type { Hunk, Hunks } from '../text/hunks.js'
import { clip, hunksOf } from '../text/hunks.js'
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
    content: contentOf({ facts, header, hunks, drifted, warnings }),
    ...(dest === undefined ? {} : { movedTo: dest.path }),
  }
  return answer
}

interface Shown {
  readonly facts: EditFacts
  readonly header: string
  readonly hunks: Hunks
  readonly drifted: boolean
  readonly warnings: readonly Warning[]
}

/** A line that says applied and where, the header with the new tag, the changed rows at their new numbers; bounded in bytes. */
function contentOf({ facts, header, hunks, drifted, warnings }: Shown): string {
  const { to, decided, landed } = facts
  const { prepared, dest } = decided
  const applied = facts.edit.dryRun ? 'would apply' : 'applied'
  const moved = dest === undefined ? '' : `, moved to ${dest.path}`
  const head = withWarnings(
    `${applied}: ${to.target.path}${moved}, ${placesOf(hunks.hunks)} (+${prepared.edit.additions} -${prepared.edit.deletions})`,
    warnings,
  )
  if (drifted) {
    const last = Math.min(landed.lineCount, limits.readDefaultLines)
    return `${head}\na save hook changed the text, so these line numbers are void: read lines 1-${last} before the next edit\n${header}`
  }
  return bounded([head, header], rowsOf(hunks.hunks), limits.editContentBytes)
}

function placesOf(hunks: readonly Hunk[]): string {
  if (hunks.length === 0) return 'no line changed'
  const places = hunks.slice(0, 5).map(placeOf)
  return places.join(', ') + (hunks.length > 5 ? ` and ${hunks.length - 5} more places` : '')
}

/** New numbers of what a hunk wrote, or the new number of the line that follows what it cut. */
function placeOf(hunk: Hunk): string {
  const written = hunk.rows.filter((row) => row.kind === '+').map((row) => row.line)
  const first = written[0]
  const last = written.at(-1)
  if (first !== undefined && last !== undefined) return first === last ? `line ${first}` : `lines ${first}-${last}`
  const cut = hunk.rows.findIndex((row) => row.kind === '-')
  const before = hunk.rows.slice(0, cut).at(-1)
  return `cut before line ${before === undefined ? Math.max(hunk.newStart, 1) : before.line + 1}`
}

/** The new side of every hunk, numbered; a gap between hunks shows as `…`. */
function rowsOf(hunks: readonly Hunk[]): string[] {
  return hunks.flatMap((hunk, i) => [
    ...(i > 0 ? ['…'] : []),
    ...hunk.rows.filter((row) => row.kind !== '-').map((row) => `${row.line}:${row.text}`),
  ])
}

/** As many rows as fit beside the head lines; says when some do not. */
function bounded(head: readonly string[], rows: readonly string[], maxBytes: number): string {
  const more = '… more rows changed; read them with the tag above'
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
