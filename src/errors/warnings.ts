/**
 * The closed list of warnings: what an answer that succeeded must still say (http-api "A warning is").
 *
 * A warning never replaces a refusal and never excuses one. `code` and the members beside `message` are public.
 */
import type { NotEvaluated } from './repair-ties.js'
import { notEvaluatedText } from './repair-ties.js'

export const warningCodes = [
  'DRIFT_HEAD_TAIL',
  'RECOVERED_EXTERNAL',
  'RECOVERED_SESSION_CHAIN',
  'RECOVERED_LINE_REMAP',
  'PATH_RECOVERED',
  'BOUNDARY_ECHO_REMOVED',
  'BOUNDARY_ROW_KEPT',
  'REPAIR_NOT_EVALUATED',
  'RESULT_NO_LONGER_PARSES',
  'INSERT_REPEATS_ANCHOR',
  'INDENT_STYLE_DIFFERS',
  'POST_WRITE_DRIFT',
  'SAVE_HOOK_FAILED',
  'OVERWROTE_UNSEEN',
  'MARKUP_STRIPPED',
  'LINE_ENDING_KEPT',
  'HARD_LINK_SPLIT',
  'SNAPSHOT_NOT_RECORDED',
] as const

export type WarningCode = (typeof warningCodes)[number]

export interface Warning {
  readonly code: WarningCode
  readonly message: string
  readonly [detail: string]: unknown
}

interface MovedAnchor {
  readonly from: number
  readonly to: number
}

const span = (first: number, last: number): string => (first === last ? `line ${first}` : `lines ${first}-${last}`)

/** One constructor per code; no warning text stands anywhere else. */
export const warn = {
  driftHeadTail: (expectedTag: string, liveTag: string, known: boolean): Warning => ({
    code: 'DRIFT_HEAD_TAIL',
    message: known
      ? `the file changed since #${expectedTag}; head and tail do not move, so the edit was applied to the file as it was at #${liveTag}; read it before you edit lines`
      : `this version was not read in this session; head and tail do not move, so the edit was applied to the file as it was at #${liveTag}; read it before you edit lines`,
  }),
  recoveredExternal: (expectedTag: string): Warning => ({
    code: 'RECOVERED_EXTERNAL',
    message: `something outside this session changed the file since #${expectedTag}; every line the edit names was proven unchanged`,
  }),
  recoveredSessionChain: (expectedTag: string): Warning => ({
    code: 'RECOVERED_SESSION_CHAIN',
    message: `#${expectedTag} is an older version of this session; every line the edit names was proven unchanged; use the newest tag`,
  }),
  recoveredLineRemap: (offset: number, anchors: readonly MovedAnchor[]): Warning => ({
    code: 'RECOVERED_LINE_REMAP',
    message: `the lines had moved by ${offset > 0 ? '+' : ''}${offset}: ${anchors
      .slice(0, 5)
      .map((a) => `${a.from} is now ${a.to}`)
      .join(', ')}${anchors.length > 5 ? ' …' : ''}`,
    offset,
    anchors,
  }),
  pathRecovered: (authored: string, path: string): Warning => ({
    code: 'PATH_RECOVERED',
    message: `${authored} does not exist; the name and the tag belong to ${path} alone, which was edited`,
    path,
  }),
  echoRemoved: (header: string, rows: readonly string[], lines: readonly number[]): Warning => ({
    code: 'BOUNDARY_ECHO_REMOVED',
    message: `in "${header}" ${rows.length} body ${rows.length === 1 ? 'row restates' : 'rows restate'} ${span(lines[0] ?? 0, lines.at(-1) ?? 0)} beside the range and ${rows.length === 1 ? 'was' : 'were'} dropped`,
    op: header,
    rows,
    lines,
  }),
  rowKept: (header: string, rows: readonly string[], lines: readonly number[]): Warning => ({
    code: 'BOUNDARY_ROW_KEPT',
    message: `in "${header}" ${span(lines[0] ?? 0, lines.at(-1) ?? 0)} of the range ${lines.length === 1 ? 'was' : 'were'} kept, without ${lines.length === 1 ? 'it' : 'them'} the file no longer parses`,
    op: header,
    rows,
    lines,
  }),
  repairNotEvaluated: (why: NotEvaluated): Warning => ({
    code: 'REPAIR_NOT_EVALUATED',
    message: `the text was applied exactly as written; whether it parses could not be evaluated: ${notEvaluatedText[why]}`,
  }),
  /** The search for a row to keep met its bound. */
  repairBounded: (candidates: number): Warning => ({
    code: 'REPAIR_NOT_EVALUATED',
    message: `no replaced line was kept; more than ${candidates} readings of this call would have had to be tried; look at the ends of its ranges`,
  }),
  noLongerParses: (line: number): Warning => ({
    code: 'RESULT_NO_LONGER_PARSES',
    message: `the file parsed before this change and does not parse now, first at line ${line}; look at it`,
    line,
  }),
  insertRepeatsAnchor: (header: string, line: number): Warning => ({
    code: 'INSERT_REPEATS_ANCHOR',
    message: `in "${header}" the inserted text repeats line ${line}, which stands beside it now; cut one of them if that was not meant`,
    op: header,
    line,
  }),
  indentStyleDiffers: (header: string, body: 'tabs' | 'spaces', file: 'tabs' | 'spaces'): Warning => ({
    code: 'INDENT_STYLE_DIFFERS',
    message: `in "${header}" the body indents with ${body}, the file with ${file}; it was written as it is`,
    op: header,
  }),
  postWriteDrift: (): Warning => ({
    code: 'POST_WRITE_DRIFT',
    message:
      'a save hook changed the text; tag and totalLines are those of what landed, line numbers of the intended text are void',
  }),
  saveHookFailed: (hook: string, cause: string): Warning => ({
    code: 'SAVE_HOOK_FAILED',
    message: `save hook ${hook} failed (${cause}); the intended text was written`,
  }),
  overwroteUnseen: (lines: number): Warning => ({
    code: 'OVERWROTE_UNSEEN',
    message: `${lines} ${lines === 1 ? 'line' : 'lines'} that this session never saw ${lines === 1 ? 'was' : 'were'} overwritten; roll the review back if that was not meant`,
    lines,
  }),
  markupStripped: (rows: number): Warning => ({
    code: 'MARKUP_STRIPPED',
    message: `the content was pasted Read output; its line numbers and header were stripped from ${rows} ${rows === 1 ? 'row' : 'rows'}`,
    rows,
  }),
  lineEndingKept: (kept: 'LF' | 'CRLF'): Warning => ({
    code: 'LINE_ENDING_KEPT',
    message: `the file keeps its ${kept} line endings; those of the given text differ`,
  }),
  hardLinkSplit: (): Warning => ({
    code: 'HARD_LINK_SPLIT',
    message: 'the file had another name on disk (a hard link); only this name has the new text',
  }),
  snapshotNotRecorded: (): Warning => ({
    code: 'SNAPSHOT_NOT_RECORDED',
    message: 'the change is on disk, but the session could not record it; read the file before the next edit',
  }),
} as const
