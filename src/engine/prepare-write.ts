/**
 * Decides a Write: the version it may replace and the bytes that land (contract §5.3, reading §1.5, §1.7, §8.6, §8.7).
 *
 * Pure, like prepare: asks for facts, ends in a PreparedWrite or a ToolError. Never rewrites what the caller sent beyond line endings, byte order mark and pasted
 * markup, and says each of those. Driven by tools.
 */
import type { RevealFields } from '../errors/table.js'
import { ToolError } from '../errors/tool-error.js'
import type { Warning } from '../errors/warnings.js'
import { warn } from '../errors/warnings.js'
import { Document } from '../text/document.js'
import { LineEdit } from '../text/line-edit.js'
import { LineRange } from '../text/line-range.js'
import type { Seen } from '../text/line-set.js'
import { LineSet } from '../text/line-set.js'
import type { Plan } from './facts.js'
import { ask } from './facts.js'
import { seenOf } from './gates/version.js'
import type { KnownVersion } from './input.js'
import { stripMarkup } from './markup.js'
import type { RevealBounds } from './reveal.js'
import { reveal } from './reveal.js'

export interface WriteInput {
  readonly path: string
  readonly content: string
  /** Canonical, when the caller gave one. */
  readonly tag?: string
  /** Undefined when the file does not exist. */
  readonly live: Document | undefined
  readonly versions: readonly KnownVersion[]
}

export interface PreparedWrite {
  readonly result: Document
  /** From the live text (empty when the file is new) to the result, in changed regions. */
  readonly edit: LineEdit
  readonly unchanged: boolean
  readonly warnings: readonly Warning[]
}

/** Throws EDIT_TAG_MISMATCH and WRITE_STALE. */
export function* prepareWrite(input: WriteInput, bounds: RevealBounds): Plan<PreparedWrite> {
  const { live, versions } = input
  yield* assertVersion(input, bounds)
  const seen = live === undefined ? LineSet.empty : seenOf(versions, live.versionDigest)
  const { bytes, warnings } = landingText(input.content, live, seen)
  const result = Document.trusted(bytes)
  if (live?.bytes.equals(bytes)) {
    return { result: live, edit: new LineEdit(live.lineCount, []), unchanged: true, warnings }
  }
  const lost = live === undefined ? 0 : unseenLines(live, seen)
  return {
    result,
    edit: yield* changedRegions(live ?? Document.fromText(''), result),
    unchanged: false,
    warnings: lost > 0 ? [...warnings, warn.overwroteUnseen(lost)] : warnings,
  }
}

function* assertVersion(input: WriteInput, bounds: RevealBounds): Plan<void> {
  const { live, tag, versions } = input
  if (live === undefined) {
    if (tag === undefined) return
    throw new ToolError('EDIT_TAG_MISMATCH', {
      lines: [],
      revealComplete: true,
      expectedTag: tag,
      anchors: [],
      reason: { kind: 'no file' },
    })
  }
  const newest = versions[0]
  if (tag === undefined) {
    if (newest === undefined || newest.versionDigest === live.versionDigest) return
    const changed = yield* firstChange(newest, live)
    const revealed = reveal(live, changed, bounds)
    throw new ToolError('WRITE_STALE', {
      ...revealed,
      ...(revealed.revealComplete ? {} : readingOf(changed)),
      anchors: [...changed.lines()],
      reason: { kind: 'changed since last seen', line: changed.ranges[0]?.start ?? 1 },
    })
  }
  const tagged = versions.find((v) => v.tag === tag)
  if (versions.some((v) => v.tag === tag && v.versionDigest === live.versionDigest)) return
  const changed = yield* firstChange(tagged ?? newest, live)
  const first = changed.ranges[0]
  // Nothing is shown, because what is shown counts as seen, and a tag that does not match licenses no overwrite: only a Read, or the stale refusal of a
  // Write without tag, records the version.
  throw new ToolError('EDIT_TAG_MISMATCH', {
    liveTag: live.tag,
    lines: [],
    revealComplete: false,
    ...readingOf(changed),
    expectedTag: tag,
    anchors: [...changed.lines()],
    reason: tagged ? { kind: 'changed since last seen', line: first?.start ?? 1 } : { kind: 'unknown tag' },
  })
}

/** A Read of the change, so that it is not overwritten blindly. Any Read records the version, also one that clips its rows. */
function readingOf(changed: LineSet): Pick<RevealFields, 'reading'> {
  const first = changed.ranges[0]
  return first ? { reading: { steps: [{ offset: first.start, limit: first.length }], raw: false } } : {}
}

/** Rows of the first change that a refusal shows: few enough that the reveal is complete unless a row is too wide. */
const CHANGE_ROWS = 20

/** The first lines of `live` that the version did not hold, or the line where it lost some. Line 1 when the version's text is gone. */
function* firstChange(version: KnownVersion | undefined, live: Document): Plan<LineSet> {
  const start = LineSet.ofLines(live.lineCount === 0 ? [] : [1])
  const text = version?.retained ? yield* ask('text', { textDigest: version.textDigest }) : undefined
  if (!text) return start
  const map = yield* ask('lineMap', { from: text, to: live })
  if (!('runs' in map)) return start
  let oldLine = 1
  let newLine = 1
  for (const run of [...map.runs, { from: text.lineCount + 1, to: live.lineCount + 1, length: 0 }]) {
    if (run.to > newLine) return LineSet.of([new LineRange(newLine, Math.min(run.to, newLine + CHANGE_ROWS))])
    if (run.from > oldLine) return LineSet.ofLines(live.lineCount === 0 ? [] : [Math.min(newLine, live.lineCount)])
    oldLine = run.from + run.length
    newLine = run.to + run.length
  }
  return start
}

/** The bytes that land, and what was changed on the way. */
function landingText(content: string, live: Document | undefined, seen: Seen): { bytes: Buffer; warnings: Warning[] } {
  const warnings: Warning[] = []
  const stripped = stripMarkup(content, live && { text: live, seen })
  let text = stripped?.text ?? content
  if (stripped) {
    warnings.push(warn.markupStripped(stripped.rows))
    if (!stripped.finalNewline && (live?.endsWithNewline ?? true)) text += '\n'
  }
  if (live === undefined) return { bytes: Buffer.from(text, 'utf8'), warnings }
  text = text.replace(/^\uFEFF+/, '')
  if (live.lineEnding !== 'none') {
    const kept = live.dominantTerminator
    const converted = text.replace(/\r?\n/g, kept)
    if (converted !== text) warnings.push(warn.lineEndingKept(kept === '\n' ? 'LF' : 'CRLF'))
    text = converted
  }
  return { bytes: Buffer.from(live.hasBom ? `\uFEFF${text}` : text, 'utf8'), warnings }
}

function unseenLines(live: Document, seen: Seen): number {
  return seen === 'unknown' ? 0 : LineSet.all(live.lineCount).minus(seen).size
}

/** The difference as an edit, for evidence; the whole text when a diff would cost too much. */
function* changedRegions(from: Document, to: Document): Plan<LineEdit> {
  const map = from.lineCount === 0 || to.lineCount === 0 ? undefined : yield* ask('lineMap', { from, to })
  const runs = map && 'runs' in map ? map.runs : []
  const replacements: { range: LineRange; rows: string[] }[] = []
  let oldLine = 1
  let newLine = 1
  const close = (untilOld: number, untilNew: number): void => {
    if (untilOld > oldLine || untilNew > newLine) {
      replacements.push({
        range: new LineRange(oldLine, untilOld),
        rows: Array.from({ length: untilNew - newLine }, (_, i) => to.text(newLine + i)),
      })
    }
    oldLine = untilOld
    newLine = untilNew
  }
  for (const run of runs) {
    close(run.from, run.to)
    // The map compares without trailing blanks; a line that differs in them is a change here.
    for (let i = 0; i < run.length; i++) {
      if (from.content(run.from + i).equals(to.content(run.to + i))) {
        close(run.from + i, run.to + i)
        oldLine = run.from + i + 1
        newLine = run.to + i + 1
      }
    }
  }
  close(from.lineCount + 1, to.lineCount + 1)
  return new LineEdit(from.lineCount, replacements)
}
