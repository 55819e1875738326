/**
 * What the engine decides from, and what it decides: the input of one edit and the prepared result.
 *
 * Only a Prepared can be committed, and none exists whose gates did not pass (architecture: "Types carry the proof").
 */
import type { Warning } from '../errors/warnings.js'
import type { Op } from '../patch/ops.js'
import type { Document } from '../text/document.js'
import type { LineEdit } from '../text/line-edit.js'
import type { Seen } from '../text/line-set.js'
import type { RevealBounds } from './reveal.js'

/** A version of the path that the session recorded, newest first in lists. */
export interface KnownVersion {
  readonly tag: string
  readonly versionDigest: string
  readonly textDigest: string
  readonly seen: Seen
  readonly retained: boolean
}

export interface EditInput {
  /** Chooses the language; shown in messages. */
  readonly path: string
  readonly ops: readonly Op[]
  /** Canonical. */
  readonly tag: string
  readonly live: Document
  readonly versions: readonly KnownVersion[]
}

export interface EngineBounds {
  readonly reveal: RevealBounds
  readonly expandedLines: number
  readonly registerLines: number
  readonly registerBytes: number
  readonly repairCandidates: number
}

export type Branch = 'direct' | 'positionStable' | 'recovered'

/** Numbers are of the tagged text. */
export interface ResolvedSpan {
  readonly anchorLine: number
  readonly start: number
  readonly end: number
  readonly op: 'cut' | 'replace' | 'insertAfter'
}

export interface Prepared {
  readonly branch: Branch
  /** Over `base`, the live text. */
  readonly edit: LineEdit
  readonly base: Document
  readonly result: Document
  /** Empty on a recovered edit (contract §9). */
  readonly resolutions: readonly ResolvedSpan[]
  readonly warnings: readonly Warning[]
  /** What the session counts as shown of `result` (reading §2.8). */
  readonly seen: Seen
  readonly registers: readonly { readonly name: string; readonly lines: readonly string[] }[]
  readonly remove: boolean
  /** The destination of an MV, as written. */
  readonly dest?: string
}
