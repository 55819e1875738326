/**
 * What a Grep says beside its rows: why it is not all, what was left out, and the next step (http-api "Grep").
 *
 * Called by grep.ts.
 */
import type { SearchEnd } from '../workspace/search-port.js'

export interface GrepFacts {
  readonly entries: 'lines' | 'files'
  readonly shown: number
  /** Entries in all, as far as known. */
  readonly count: number
  /** Files with a match, as far as known. */
  readonly files: number
  readonly headLimit: number
  readonly maxHeadLimit: number
  readonly contentBytes: number
  readonly overBudget: boolean
  readonly ended: SearchEnd
  readonly searchMs: number
  readonly windowedRows: number
  readonly lineChars: number
  readonly ignored: number | null
  readonly binary: number
  readonly tooLarge: number
  readonly maxFileBytes: number
  /** Files that held a match when they were found and do not now, or could not be looked at any more. */
  readonly changed: number
  readonly unrecorded: number
  readonly unreadable: boolean
  readonly rulesLeftOut: boolean
}

const files = (count: number, one: string, many: string): string =>
  count === 1 ? `1 file ${one}` : `${count} files ${many}`

export function grepNotice(facts: GrepFacts): string | undefined {
  const notices = [...endings(facts), ...leftOut(facts)]
  return notices.length === 0 ? undefined : notices.join('; ')
}

function endings(facts: GrepFacts): string[] {
  const notices: string[] = []
  const narrow = 'narrow path, include or pattern'
  if (facts.shown < facts.count) {
    const what = facts.entries === 'lines' ? `matching lines in ${facts.files} files` : 'files'
    const why = facts.overBudget
      ? `the answer ends at ${facts.contentBytes} bytes; ${narrow}`
      : facts.shown < facts.headLimit
        ? narrow
        : `${narrow}, or raise headLimit (now ${facts.headLimit}, at most ${facts.maxHeadLimit})`
    notices.push(`the first ${facts.shown} of ${facts.count} ${what}, newest file first; ${why}`)
  }
  if (facts.ended === 'deadline') {
    notices.push(`the search was stopped after ${facts.searchMs} ms and may have missed files; ${narrow}`)
  }
  if (facts.ended === 'tooMany')
    notices.push(`more files match than are remembered, so newer ones may be missing; ${narrow}`)
  if (facts.windowedRows > 0) {
    const rows = facts.windowedRows === 1 ? '1 row shows' : `${facts.windowedRows} rows show`
    notices.push(
      `${rows} only the text around the match, being longer than ${facts.lineChars} characters, and cannot be edited from here`,
    )
  }
  if (facts.unrecorded > 0) {
    notices.push(
      `${files(facts.unrecorded, 'is', 'are')} beyond what a session remembers; read such a file before you edit it`,
    )
  }
  return notices
}

function leftOut(facts: GrepFacts): string[] {
  const notices: string[] = []
  if (facts.changed > 0)
    notices.push(`${files(facts.changed, 'changed', 'changed')} during the search and left out; search again`)
  if (facts.binary > 0)
    notices.push(`${files(facts.binary, 'with a match is', 'with a match are')} not UTF-8 text and left out`)
  if (facts.tooLarge > 0) {
    notices.push(`${files(facts.tooLarge, 'is', 'are')} larger than ${facts.maxFileBytes} bytes and left out`)
  }
  if (facts.count === 0 && facts.ignored !== 0) {
    const ignored = facts.ignored === null ? 'files' : files(facts.ignored, 'was', 'were')
    notices.push(`${ignored} left out by ignore rules; includeIgnored searches them, and so does naming their path`)
  }
  if (facts.rulesLeftOut) notices.push('some ignore files are too large or too many and were not heeded')
  if (facts.unreadable) notices.push('some files could not be read')
  return notices
}
