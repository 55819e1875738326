/**
 * The half of the error table that proves edits: tags, lines, ranges, blocks, registers, repair (contract §11), and the stale Write.
 */
import type { LineRow } from '../text/rows.js'
import type { BlockReason } from './blocks.js'
import { blockReasonText } from './blocks.js'
import { clipText, quoteText } from './clip.js'
import type { DeclineReason } from './declines.js'
import { declineText } from './declines.js'
import type { LineSpan, RevealFields } from './entry.js'
import { entry, linesText, retryAfterReveal, revealOf, spanText } from './entry.js'
import type { ParseProblem } from './parse-problems.js'
import { parseProblemText } from './parse-problems.js'
import type { RepairTie } from './repair-ties.js'
import { repairTieText } from './repair-ties.js'

/** Two texts may share a tag; then the tags tell nothing apart (contract §3.3). */
const versionText = (live: string, expected: string): string =>
  live === expected
    ? `the file holds another text under the same tag #${live}`
    : `the file is at #${live}, not #${expected}`

/** A register that a paste may be told to use without losing what another one holds. */
const freeName = (known: readonly string[]): string => {
  for (let n = 0; ; n++) {
    const name = n === 0 ? 'a' : `a${n + 1}`
    if (!known.includes(name)) return name
  }
}

export const editErrors = {
  EDIT_TAG_REQUIRED: entry<{ found?: string }>({
    status: 400,
    retriable: false,
    title: 'A tag is required',
    detail: (p) =>
      `${p.found === undefined ? 'tag is missing' : `tag ${JSON.stringify(clipText(p.found, 40))} is not a tag`}; a tag is the 4 hex digits behind # in the header of the last Read, Grep, Write or Edit of this file, for example A1B2`,
  }),
  /** `suggestion` is the corrected text of that row; `example`, where the correction is not known, a worked one. */
  EDIT_PARSE_FAILED: entry<{
    opsLine: number
    found: string
    problem: ParseProblem
    suggestion?: string
    example?: string
  }>({
    status: 400,
    retriable: false,
    title: 'The ops do not parse',
    detail: (p) => {
      const fault = `row ${p.opsLine} of ops: ${parseProblemText(p.problem)}; found ${JSON.stringify(quoteText(p.found, 80))}`
      if (p.suggestion !== undefined) return `${fault}; write ${p.suggestion}`
      return p.example === undefined ? fault : `${fault}; for example ${p.example}`
    },
    fields: (p) => {
      const suggestion = p.suggestion ?? p.example
      return {
        opsLine: p.opsLine,
        found: clipText(p.found, 200),
        ...(suggestion === undefined ? {} : { suggestion }),
      }
    },
  }),
  EDIT_TAG_MISMATCH: entry<RevealFields & { expectedTag: string; anchors: readonly number[]; reason: DeclineReason }>({
    status: 409,
    retriable: true,
    title: 'The tag does not match the file',
    detail: (p) =>
      p.liveTag === undefined
        ? `tag ${p.expectedTag} names a version, but ${declineText(p.reason)}; leave the tag out to create the file`
        : `${versionText(p.liveTag, p.expectedTag)}, and ${declineText(p.reason)}; ${retryAfterReveal(p, `${p.anchors.length === 0 ? 'look at' : 'correct the numbers to'} the rows shown here and retry with tag ${p.liveTag}`)}`,
    fields: (p) => ({ ...revealOf(p), expectedTag: p.expectedTag, anchors: p.anchors, reason: declineText(p.reason) }),
  }),
  EDIT_TAG_UNKNOWN: entry<RevealFields & { expectedTag: string; anchors: readonly number[]; reason: DeclineReason }>({
    status: 409,
    retriable: true,
    title: 'The tag is unknown to this session',
    detail: (p) =>
      `this session holds no version of this file under tag ${p.expectedTag}: it was never issued to it, or it is no longer kept (tags are never made up or borrowed); ${retryAfterReveal(p, `check the rows shown here and retry with tag ${p.liveTag ?? ''}`)}`,
    fields: (p) => ({ ...revealOf(p), expectedTag: p.expectedTag, anchors: p.anchors, reason: declineText(p.reason) }),
  }),
  WRITE_STALE: entry<RevealFields & { expectedTag?: string; anchors: readonly number[]; reason: DeclineReason }>({
    status: 409,
    retriable: true,
    title: 'The file has changed since it was last seen',
    detail: (p) =>
      `${declineText(p.reason)}; ${retryAfterReveal(p, `look at the rows shown here, then write again with tag ${p.liveTag ?? ''} to overwrite, or edit the changed lines`)}`,
    fields: (p) => ({
      ...revealOf(p),
      ...(p.expectedTag === undefined ? {} : { expectedTag: p.expectedTag }),
      anchors: p.anchors,
      reason: declineText(p.reason),
    }),
  }),
  EDIT_LINES_UNSEEN: entry<RevealFields & { unseen: readonly LineSpan[] }>({
    status: 409,
    retriable: true,
    title: 'The edit names lines that were never shown',
    detail: (p) =>
      `${p.unseen.slice(0, 5).map(spanText).join(', ')}${p.unseen.length > 5 ? ' and more' : ''} ${p.unseen.length === 1 && p.unseen[0]?.start === p.unseen[0]?.end ? 'was' : 'were'} not shown to this session; ${retryAfterReveal(p, 'check the rows shown here and send the same call again')}`,
    fields: (p) => ({ ...revealOf(p), unseen: p.unseen }),
  }),
  EDIT_RANGE_INVALID: entry<{
    problem: 'reversed' | 'out of bounds' | 'number too long' | 'conflict' | 'past the end gap' | 'empty file'
    opsLine: number
    line?: number
    totalLines?: number
    ops?: readonly [string, string]
    suggestion?: string
  }>({
    status: 422,
    retriable: false,
    title: 'A range is not valid',
    detail: (p) => {
      const next = p.suggestion === undefined ? '' : `; ${p.suggestion}`
      switch (p.problem) {
        case 'reversed':
          return `row ${p.opsLine} of ops: the range ends before it starts${next}`
        case 'out of bounds':
          return `row ${p.opsLine} of ops: line ${p.line ?? 0} does not exist, the file has ${linesText(p.totalLines ?? 0)}${next}`
        case 'number too long':
          return `row ${p.opsLine} of ops: a line number has at most 7 digits${next || '; use the numbers that Read shows'}`
        case 'past the end gap':
          return `row ${p.opsLine} of ops: there is no line ${p.line ?? 0} to insert before, the file has ${linesText(p.totalLines ?? 0)}${next}`
        case 'empty file':
          return `row ${p.opsLine} of ops: line ${p.line ?? 0} does not exist, the file is empty${next}`
        case 'conflict':
          return `"${p.ops?.[0] ?? ''}" and "${p.ops?.[1] ?? ''}" touch the same lines or the same gap${next || '; put both changes into one op'}`
      }
    },
    fields: (p) => ({
      opsLine: p.opsLine,
      ...(p.line === undefined ? {} : { line: p.line }),
      ...(p.totalLines === undefined ? {} : { totalLines: p.totalLines }),
      ...(p.ops === undefined ? {} : { ops: p.ops }),
      ...(p.suggestion === undefined ? {} : { suggestion: p.suggestion }),
    }),
  }),
  EDIT_BLOCK_UNRESOLVED: entry<{
    opsLine: number
    line: number
    reason: BlockReason
    suggestion: string
    enclosing?: LineSpan
    /** Where nothing encloses the line: the next construct below it. */
    next?: LineSpan
  }>({
    status: 422,
    retriable: false,
    title: 'No block opens at this line',
    detail: (p) => {
      const around = p.enclosing === undefined ? '' : `; the enclosing construct is ${spanText(p.enclosing)}`
      const below = p.next === undefined ? '' : `; the next construct below is ${spanText(p.next)}`
      return `line ${p.line}: ${blockReasonText(p.reason)}${around}${below}; use ${p.suggestion}`
    },
    fields: (p) => ({
      opsLine: p.opsLine,
      line: p.line,
      reason: p.reason.kind,
      suggestion: p.suggestion,
      ...(p.enclosing === undefined ? {} : { enclosing: p.enclosing }),
      ...('errorLine' in p.reason ? { errorLine: p.reason.errorLine } : {}),
    }),
  }),
  EDIT_REGISTER_EMPTY: entry<{ opsLine: number; register: string; known: readonly string[] }>({
    status: 422,
    retriable: false,
    title: 'The register is empty',
    detail: (p) =>
      `row ${p.opsLine} of ops: ${p.register === '' ? 'nothing was cut above this paste in this call' : `register @${p.register} holds nothing, neither from above in this call nor from this session`}; ${p.known.length === 0 ? 'this session has no registers, CUT the lines first' : `this session has ${p.known.map((k) => `@${k}`).join(', ')}`}`,
    fields: (p) => ({ register: p.register, known: p.known }),
  }),
  EDIT_REGISTER_AMBIGUOUS: entry<{
    opsLine: number
    captures: number
    /** Headers of the last capture and of the paste. */
    headers: readonly [string, string]
    known: readonly string[]
  }>({
    status: 422,
    retriable: false,
    title: 'The paste has more than one source',
    detail: (p) =>
      `row ${p.opsLine} of ops: ${p.captures} anonymous CUTs above are not pasted yet, so this paste could mean any of them; name them, for example ${p.headers.map((header) => `${header} @${freeName(p.known)}`).join(' and ')}`,
    fields: (p) => ({ register: '', known: p.known }),
  }),
  EDIT_REPAIR_AMBIGUOUS: entry<{
    opsLine: number
    problem?: RepairTie
    candidates: readonly { readonly label: string; readonly rows: readonly LineRow[] }[]
    suggestion: string
  }>({
    status: 422,
    retriable: false,
    title: 'The replacement has more than one reading',
    detail: (p) =>
      `row ${p.opsLine} of ops: ${repairTieText[p.problem ?? 'restated']}; ${p.candidates.length} readings are equally good; use ${p.suggestion}`,
    fields: (p) => ({ candidates: p.candidates, suggestion: p.suggestion }),
  }),
  EDIT_NO_CHANGE: entry<{ path: string; tag: string; moves?: boolean }>({
    status: 422,
    retriable: false,
    title: 'The edit changes nothing',
    detail: (p) =>
      `${p.path} at #${p.tag} already holds exactly this text; ${p.moves ? 'leave the other ops out and send MV alone to move the file' : 'go on with the next change'}, or send rows that differ`,
  }),
  EDIT_AMPLIFICATION_LIMIT: entry<{ limit: number }>({
    status: 422,
    retriable: false,
    title: 'The edit expands to too many lines',
    detail: (p) => `the ops insert and delete more than ${p.limit} lines together; split the change into several calls`,
    fields: (p) => ({ limit: p.limit }),
  }),
} as const
