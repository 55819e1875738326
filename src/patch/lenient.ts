/**
 * Reads a header that the grammar refused the way its author may have meant it, so that a refusal can show the right spelling.
 *
 * What is read here is only ever shown, never applied. `sure` says whether the reading is the only plausible one; a guess is shown as an
 * example. Looks at the first 300 units of a row. Called by diagnose.ts alone.
 */
import type { PlainProblem } from '../errors/parse-problems.js'
import { clipText } from '../errors/clip.js'
import type { Gap, Span } from './ops.js'

export const ATTEMPT_CHARS = 300

export type Verb = 'PUT' | 'CUT' | 'REM' | 'MV'

/** A row that begins like a header. */
export interface Attempt {
  readonly indented: boolean
  /** The verb as it was written, and the one it stands for. */
  readonly written: string
  readonly verb: Verb
  readonly retired: boolean
  /** False when the old verb does not say on which side of a line it inserts. */
  readonly sure: boolean
  /** What stands behind the verb, blanks included, with old verbs rewritten to our locators. */
  readonly rest: string
}

interface Reading {
  readonly verb: Verb
  readonly unsure?: boolean
  /** Rewrites the line number `n` of an old verb. */
  readonly number?: (n: string) => string
  /** Stands in front of what follows: verbs that name an end of the file. */
  readonly fixed?: string
}

/** Verbs of older and neighbouring edit languages. A map, so that no inherited name is found in it. */
const oldVerbs = new Map<string, Reading>([
  ['SWAP', { verb: 'PUT' }],
  ['REPLACE', { verb: 'PUT' }],
  ['SET', { verb: 'PUT' }],
  ['CHANGE', { verb: 'PUT' }],
  ['SWAP.BLK', { verb: 'PUT', number: (n) => `${n}*` }],
  ['DEL', { verb: 'CUT' }],
  ['DELETE', { verb: 'CUT' }],
  ['REMOVE', { verb: 'CUT' }],
  ['DEL.BLK', { verb: 'CUT', number: (n) => `${n}*` }],
  ['INS', { verb: 'PUT', unsure: true, number: (n) => `>${n}` }],
  ['INSERT', { verb: 'PUT', unsure: true, number: (n) => `>${n}` }],
  ['ADD', { verb: 'PUT', unsure: true, number: (n) => `>${n}` }],
  ['APPEND', { verb: 'PUT', unsure: true, number: (n) => `>${n}` }],
  ['PREPEND', { verb: 'PUT', unsure: true, number: (n) => `<${n}` }],
  ['INS.POST', { verb: 'PUT', number: (n) => `>${n}` }],
  ['INS.AFTER', { verb: 'PUT', number: (n) => `>${n}` }],
  ['INS.PRE', { verb: 'PUT', number: (n) => `<${n}` }],
  ['INS.BEFORE', { verb: 'PUT', number: (n) => `<${n}` }],
  ['INS.HEAD', { verb: 'PUT', fixed: ' <1' }],
  ['INS.TAIL', { verb: 'PUT', fixed: ' >$' }],
  ['INS.BLK.POST', { verb: 'PUT', number: (n) => `>${n}*` }],
  ['PASTE', { verb: 'PUT' }],
  ['RM', { verb: 'REM' }],
  ['MOVE', { verb: 'MV' }],
  ['RENAME', { verb: 'MV' }],
])

const verbs: readonly Verb[] = ['PUT', 'CUT', 'REM', 'MV']

const LOCATOR_LIKE = /^\s*(?:[<>]\s*(?:\d|\$|[NMLXK]\b)|\$|\d|(?:[NMLXK]|START|END)\b|\.=)/i

/**
 * Reads `row` as a header. Inside a body a row is one only when a number or a placeholder follows the verb: `PUT /v1/items` there is
 * text that lacks its plus.
 */
export function readAttempt(row: string, inBody: boolean): Attempt | undefined {
  const clipped = clipText(row, ATTEMPT_CHARS)
  const match = /^(\s*)([A-Za-z]+(?:\.[A-Za-z]+)*)(.*)$/s.exec(clipped)
  if (match === null) return undefined
  const [, indent = '', written = '', behind = ''] = match
  const upper = written.toUpperCase()
  const current = verbs.find((verb) => verb === upper)
  const old = oldVerbs.get(upper)
  const reading = current === undefined ? old : { verb: current }
  if (reading === undefined) return undefined
  if (!isHeaderLike(reading, behind, { capitals: written === upper, old: current === undefined, inBody }))
    return undefined
  const rest = (reading.fixed ?? '') + (reading.number === undefined ? behind : behind.replace(/\d+/, reading.number))
  return {
    indented: indent !== '',
    written,
    verb: reading.verb,
    retired: current === undefined,
    sure: reading.unsure !== true,
    rest,
  }
}

function isHeaderLike(
  { verb, fixed }: Reading,
  behind: string,
  is: { readonly capitals: boolean; readonly old: boolean; readonly inBody: boolean },
): boolean {
  if (verb === 'REM' || verb === 'MV') return is.capitals ? !is.inBody || behind.trim() !== '' : !is.inBody
  if (fixed !== undefined || LOCATOR_LIKE.test(behind)) return true
  return is.capitals && !is.inBody
}

/** A place as an author may have written it, and what was wrong with it. */
export interface Located {
  readonly at?: Gap | Span
  readonly fault?: PlainProblem
  readonly sure: boolean
  /** What stands behind the place. */
  readonly rest: string
}

const SEPARATOR = String.raw`\s*(?:\.=|=\.|\.{2,3}=?|\.|--?>?|[–—−~:=,]|\bto\b|\bthrough\b)\s*`
const RANGE = new RegExp(String.raw`^(\d+)(${SEPARATOR}|\s+)(?:[lL]?)(\d+)`, 's')
const BLOCK = /^(\d+)\s*\*/
const OPEN = /^(\d+)\s*(?:\.=|\.\.=?|[-–—])/
const TO_END = new RegExp(String.raw`^(\d+)${SEPARATOR}(?:\$|EOF\b|END\b)`, 'is')
const SINGLE = /^(\d+)/
const GAP = /^([<>])\s*(\d+)(?:\s*(\*))?/
const END = /^(>?)\s*(?:\$|EOF\b|END\b)(?:\s*(\*))?/i
const PREFIX = /^(?:lines?\s+|line:|L(?=\d))/i

/** Reads the start of `text`. Undefined: no place is recognised. `long number`: it has more than `digits` digits. */
export function locate(text: string, digits: number): Located | 'long number' | undefined {
  const trimmed = text.trimStart()
  const bare = trimmed.replace(PREFIX, '')
  const prefixed = bare.length < trimmed.length
  const found = locateRange(bare) ?? locateGap(bare)
  if (found === undefined) return undefined
  if (found.numbers.some((n) => n.replace(/^0+/, '').length > digits)) return 'long number'
  const zero = found.numbers.some((n) => Number(n) === 0)
  if (zero && (found.at.kind === 'before' || found.at.kind === 'after'))
    return { at: { kind: 'before', line: 1 }, fault: 'line zero', sure: true, rest: found.rest }
  if (zero) return { fault: 'line zero', sure: false, rest: found.rest }
  const padded = found.numbers.some((n) => n.startsWith('0'))
  const fault = found.fault ?? (padded ? 'leading zero' : prefixed ? 'locator' : undefined)
  const { at } = found
  const reversed = at.kind === 'range' && at.last < at.first
  return {
    ...(reversed ? {} : { at }),
    ...(fault === undefined ? {} : { fault }),
    sure: found.sure !== false,
    rest: found.rest,
  }
}

interface Found {
  readonly at: Gap | Span
  readonly numbers: readonly string[]
  readonly fault?: PlainProblem
  readonly sure?: boolean
  readonly rest: string
}

function locateRange(text: string): Found | undefined {
  const range = RANGE.exec(text)
  if (range !== null) {
    const [whole, first = '', separator = '', last = ''] = range
    const joined = separator.trim()
    return {
      at: { kind: 'range', first: Number(first), last: Number(last) },
      numbers: [first, last],
      ...(joined === '.=' ? {} : { fault: 'range separator' }),
      // "5 7" and "5, 7" may be two lines, "5 = 7" anything.
      sure: joined !== '' && separator !== ', ',
      rest: text.slice(whole.length),
    }
  }
  const block = BLOCK.exec(text)
  if (block !== null) return ofLine('block', block)
  const toEnd = TO_END.exec(text)
  if (toEnd !== null) {
    const [whole, first = ''] = toEnd
    // How many lines the file has is not known here, so one line stands as an example.
    const at = { kind: 'range', first: Number(first), last: Number(first) } as const
    return { at, numbers: [first], fault: 'range to the end', sure: false, rest: text.slice(whole.length) }
  }
  const single = OPEN.exec(text) ?? SINGLE.exec(text)
  if (single === null) return undefined
  const [whole, first = ''] = single
  return {
    at: { kind: 'range', first: Number(first), last: Number(first) },
    numbers: [first],
    fault: whole === first ? 'single number' : 'open range',
    rest: text.slice(whole.length),
  }
}

function locateGap(text: string): Found | undefined {
  const gap = GAP.exec(text)
  if (gap !== null) {
    const [, side, , star] = gap
    if (side === '>') return ofLine(star === undefined ? 'after' : 'afterBlock', gap, 2)
    const before = ofLine('before', gap, 2)
    return star === undefined ? before : { ...before, fault: 'block before' }
  }
  const end = END.exec(text)
  if (end === null) return undefined
  const [whole, side, star] = end
  const canonical = side === '>' && /^>\s*\$/.test(whole)
  const fault = star !== undefined ? 'block at end' : canonical ? undefined : 'end of file'
  return { at: { kind: 'end' }, numbers: [], ...(fault === undefined ? {} : { fault }), rest: text.slice(whole.length) }
}

function ofLine(kind: 'block' | 'before' | 'after' | 'afterBlock', match: RegExpExecArray, group = 1): Found {
  const digits = match[group] ?? ''
  return { at: { kind, line: Number(digits) }, numbers: [digits], rest: match.input.slice(match[0].length) }
}

/** What stands behind the place of a header. */
export interface Tail {
  readonly colon: boolean
  readonly register?: string
  /** Text behind the colon, without the blank in front of it. */
  readonly text?: string
  readonly fault?: PlainProblem | 'register name'
  /** False when dropping what stands there may drop a meaning. */
  readonly sure: boolean
}

export function readTail(rest: string, registerChars: number): Tail {
  const text = rest.trim()
  if (text === '') return { colon: false, sure: true }
  if (text.startsWith(':')) return behindColon(text.slice(1), registerChars)
  if (text.startsWith('@')) return readRegister(text.slice(1), registerChars)
  const [, register] = /^\s["'`]?([A-Za-z_-][A-Za-z0-9_-]*)["'`]?$/.exec(rest.trimEnd()) ?? []
  if (register !== undefined && register.length <= registerChars)
    return { colon: false, register, fault: 'register sigil', sure: true }
  const remark = /^(?:#|\/\/|--|\(|;)/.test(text)
  return { colon: text.endsWith(':'), fault: 'text behind header', sure: remark || !/\d/.test(text) }
}

function behindColon(behind: string, registerChars: number): Tail {
  if (behind.trim() === '') return { colon: true, sure: true }
  if (behind.trimStart().startsWith('@')) {
    const { register, sure } = readRegister(behind.trim().slice(1), registerChars)
    return { colon: true, ...(register === undefined ? {} : { register }), fault: 'register with colon', sure }
  }
  const text = behind.replace(/^[ \t]?\r?/, '')
  return {
    colon: true,
    ...(/[\p{L}\p{N}]/u.test(text) ? { text: text.replace(/^\s*\+/, '') } : {}),
    fault: 'text behind colon',
    sure: true,
  }
}

function readRegister(text: string, registerChars: number): Tail {
  const [, blank = '', name = '', colon = '', more = ''] = /^(\s*)([^\s:]*)(\s*:)?(.*)$/s.exec(text) ?? []
  const register = plainName(name, registerChars)
  if (more.trim() !== '') return { colon: false, register, fault: 'text behind header', sure: false }
  const fault =
    register !== name ? 'register name' : colon !== '' ? 'register with colon' : blank !== '' ? 'spacing' : undefined
  const sure = register !== EXAMPLE_REGISTER || name === register
  return { colon: colon !== '', register, ...(fault === undefined ? {} : { fault }), sure }
}

/** What stands for a name of which no letter or digit can be kept. */
const EXAMPLE_REGISTER = 'part'

/** `name` without what a register name cannot hold: accents go, runs of anything else become one `-`. */
function plainName(name: string, maxChars: number): string {
  if (/^[A-Za-z0-9_-]+$/.test(name)) return clipText(name, maxChars)
  const plain = name
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9_-]+/gu, '-')
    .replace(/^-+|-+$/g, '')
  return plain === '' ? EXAMPLE_REGISTER : clipText(plain, maxChars)
}
