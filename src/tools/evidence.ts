/**
 * The evidence of a change: entries with hunks, what a rollback needs, and the summary that answers carry (contract §13.1, §13.4).
 *
 * Hunks describe the intended text, digests what landed (contract §5.4). Called by Write and Edit once everything is decided.
 */
import type { Warning } from '../errors/warnings.js'
import { limits } from '../limits.js'
import type { ReviewSummary } from '../schemas/operations.js'
import type { Resolution, Review, ReviewEntry, ReviewRestore, StoredReview } from '../sessions/store.js'
import type { Document } from '../text/document.js'
import type { Hunks } from '../text/hunks.js'
import { firstRows, hunksOf } from '../text/hunks.js'
import { LineEdit } from '../text/line-edit.js'
import { LineRange } from '../text/line-range.js'
import type { LoadedFile, Target } from '../workspace/port.js'

export const hunkBounds = {
  contextLines: limits.hunkContextLines,
  maxRows: limits.hunkRows,
  maxRowChars: limits.maxLineChars,
}

/** One file of a change. `edit` goes from `before` (an empty text for a new file) to the intended text. */
export interface Changed {
  readonly target: Target
  readonly status: ReviewEntry['status']
  readonly before: LoadedFile | undefined
  readonly beforeDigest: string | undefined
  readonly afterDigest: string | undefined
  readonly hunks: Hunks
  readonly additions: number
  readonly deletions: number
}

export function changedByEdit(
  target: Target,
  before: LoadedFile,
  base: Document,
  edit: LineEdit,
  landed: Document,
): Changed {
  return {
    target,
    status: 'modified',
    before,
    beforeDigest: base.byteDigest,
    afterDigest: landed.byteDigest,
    hunks: hunksOf(edit, base, hunkBounds),
    additions: edit.additions,
    deletions: edit.deletions,
  }
}

export function removed(target: Target, before: LoadedFile, base: Document): Changed {
  const edit = new LineEdit(
    base.lineCount,
    base.lineCount === 0 ? [] : [{ range: LineRange.inclusive(1, base.lineCount), rows: [] }],
  )
  return {
    target,
    status: 'deleted',
    before,
    beforeDigest: base.byteDigest,
    afterDigest: undefined,
    hunks: hunksOf(edit, base, hunkBounds),
    additions: 0,
    deletions: base.lineCount,
  }
}

/** `intended` is the whole text of the new file. */
export function added(target: Target, intended: Document, landed: Document, empty: Document): Changed {
  const rows = Array.from({ length: Math.min(intended.lineCount, limits.hunkRows + 1) }, (_, i) => intended.text(i + 1))
  // Not a LineEdit, which would take a U+FEFF from its first row: a new file is written as given (reading §1.5).
  const edit = { baseLines: 0, replacements: rows.length === 0 ? [] : [{ range: LineRange.gapBefore(1), rows }] }
  return {
    target,
    status: 'added',
    before: undefined,
    beforeDigest: undefined,
    afterDigest: landed.byteDigest,
    hunks: hunksOf(edit, empty, hunkBounds),
    additions: intended.lineCount,
    deletions: 0,
  }
}

export interface Facts {
  readonly reviewId: string
  readonly operation: Review['operation']
  readonly createdAt: number
  readonly promptId: string | undefined
  readonly workspace: string
  readonly ops: readonly string[]
  readonly warnings: readonly Warning[]
  readonly resolutions: readonly Resolution[]
}

/**
 * The review of a change, or undefined where none is kept: scratch files are the session's own (reading §8.13). `keeps` tells whether bytes to restore are within
 * the bound of a session; beyond it the evidence alone is kept.
 */
export async function reviewOf(
  keeps: (before: Uint8Array) => Promise<boolean>,
  facts: Facts,
  changes: readonly Changed[],
): Promise<StoredReview | undefined> {
  if (changes.every((change) => change.target.root === 'scratch')) return undefined
  const { workspace, promptId, ...rest } = facts
  const kept = await Promise.all(changes.map(async ({ before }) => before === undefined || keeps(before.bytes)))
  const reversible = kept.every(Boolean)
  const review: Review = {
    ...rest,
    ...(promptId === undefined ? {} : { promptId }),
    state: 'active',
    entries: changes.map((change) => entryOf(change, reversible)),
  }
  return { review, workspace, restore: changes.map((change) => restoreOf(change, reversible)) }
}

function entryOf(change: Changed, reversible: boolean): ReviewEntry {
  const { hunks, truncated } = firstRows(change.hunks, limits.reviewRowBytes)
  return {
    path: change.target.path,
    status: change.status,
    additions: change.additions,
    deletions: change.deletions,
    hunks,
    truncated,
    reversible,
    ...(change.beforeDigest === undefined ? {} : { beforeDigest: change.beforeDigest }),
    ...(change.afterDigest === undefined ? {} : { afterDigest: change.afterDigest }),
  }
}

function restoreOf({ target, before }: Changed, reversible: boolean): ReviewRestore {
  const { mode, uid, gid } = before?.identity ?? {}
  return {
    canonical: target.canonical,
    root: target.root,
    ...(before === undefined || !reversible ? {} : { before: before.bytes }),
    ...(mode === undefined ? {} : { mode }),
    ...(uid === undefined || gid === undefined ? {} : { owner: { uid, gid } }),
    createdParents: [],
  }
}

/** The created folders belong to the entry that was added. */
export function withParents(review: StoredReview, createdParents: readonly string[]): StoredReview {
  if (createdParents.length === 0) return review
  const restore = review.restore.map((entry, i) =>
    review.review.entries[i]?.status === 'added' ? { ...entry, createdParents } : entry,
  )
  return { ...review, restore }
}

/** A review without its rows, as answers and lists carry it. */
export function summaryOf(review: Review): ReviewSummary {
  return {
    reviewId: review.reviewId,
    operation: review.operation,
    state: review.state,
    createdAt: new Date(review.createdAt).toISOString(),
    ...(review.promptId === undefined ? {} : { promptId: review.promptId }),
    entries: review.entries.map(({ hunks: _hunks, ...entry }) => entry),
  }
}
