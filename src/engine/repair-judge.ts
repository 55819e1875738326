/**
 * Asks whether texts parse, each at most once and no more than a call may look at (contract §8.4: a bounded search).
 *
 * Answers are verdicts as they came; a missing one is handed on, never replaced by a guess. Called by repair and its search.
 */
import type { NotEvaluated } from '../errors/repair-ties.js'
import type { Document } from '../text/document.js'
import type { ParseVerdict } from '../text/facts.js'
import type { Plan } from './facts.js'
import { ask } from './facts.js'

/** A text to judge; the same key is the same text. Its text is built only when it is asked about. */
export interface Judged {
  readonly key: string
  readonly text: Document
}

/** In the order of what was asked. */
export interface Verdicts {
  readonly needed: readonly ParseVerdict[]
  readonly candidates: readonly ParseVerdict[]
}

const LOST: ParseVerdict = { verdict: 'no-verdict', why: 'parser-lost' }

export class Judge {
  private readonly known = new Map<string, ParseVerdict>()
  private tried = 0

  /** `candidates` bounds the texts that a search may try, beside the text as written and the tagged text. */
  constructor(
    private readonly path: string,
    readonly candidates: number,
  ) {}

  hasRoomFor(candidates: number): boolean {
    return this.tried + candidates <= this.candidates
  }

  /**
   * Verdicts on texts that every such call needs and on candidates, which alone are counted, in one question. `optional` where no byte depends on the
   * answer.
   */
  *judge(needed: readonly Judged[], candidates: readonly Judged[] = [], optional = false): Plan<Verdicts> {
    this.tried += candidates.length
    const open = new Map<string, Judged>()
    for (const text of [...needed, ...candidates]) if (!this.known.has(text.key)) open.set(text.key, text)
    if (open.size > 0) {
      const texts = [...open.values()].map(({ text }) => text)
      const answers = yield* ask('verdicts', { path: this.path, texts, optional })
      for (const [i, key] of [...open.keys()].entries()) this.known.set(key, answers[i] ?? LOST)
    }
    const verdictOf = ({ key }: Judged): ParseVerdict => this.known.get(key) ?? LOST
    return { needed: needed.map(verdictOf), candidates: candidates.map(verdictOf) }
  }
}

/** Why one of the verdicts is missing; undefined when all are there. */
export function missing(...verdicts: readonly (ParseVerdict | undefined)[]): NotEvaluated | undefined {
  for (const verdict of verdicts) if (verdict?.verdict === 'no-verdict') return verdict.why
  return undefined
}

export function isClean(verdict: ParseVerdict | undefined): boolean {
  return verdict?.verdict === 'clean'
}

export function isBroken(verdict: ParseVerdict | undefined): boolean {
  return verdict?.verdict === 'broken'
}
