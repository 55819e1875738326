/**
 * How the engine asks: a step that needs a fact from outside yields the question as data and goes on with the answer (architecture: "The engine never awaits").
 *
 * A plan is a generator of questions that ends in its result or throws a ToolError. Whoever drives it (tools, tests) answers from ports or from a table; the
 * engine never sees a port.
 */
import type { BlockAnswer, ParseVerdict } from '../text/facts.js'
import type { Document } from '../text/document.js'
import type { LineMapAnswer } from '../text/line-map.js'

interface Facts {
  /** One answer per line, in order. */
  blocks: {
    asked: { readonly path: string; readonly text: Document; readonly lines: readonly number[] }
    answer: readonly BlockAnswer[]
  }
  /** The verdict on the next text of the file; `no-verdict` rather than delay an answer. */
  follows: { asked: { readonly path: string; readonly text: Document }; answer: ParseVerdict }
  /** One verdict per text, in order. `optional` ones may be answered `no-verdict` early rather than delay an answer. */
  verdicts: {
    asked: { readonly path: string; readonly texts: readonly Document[]; readonly optional: boolean }
    answer: readonly ParseVerdict[]
  }
  /** Whether the language of the path is known at all. */
  language: { asked: { readonly path: string; readonly text: Document }; answer: boolean }
  /** Unchanged lines from one text to the other, compared without trailing blanks. */
  lineMap: { asked: { readonly from: Document; readonly to: Document }; answer: LineMapAnswer }
  /** The kept text of a recorded version. */
  text: { asked: { readonly textDigest: string }; answer: Document | undefined }
  /** Lines of a named register of the session. */
  register: { asked: { readonly name: string }; answer: readonly string[] | undefined }
  /** Names of the session's registers. */
  registers: { asked: object; answer: readonly string[] }
}

export type FactKind = keyof Facts
export type Asked<K extends FactKind> = Facts[K]['asked']
export type AnswerTo<K extends FactKind> = Facts[K]['answer']
export type Question = { [K in FactKind]: { readonly kind: K } & Asked<K> }[FactKind]

/** A computation that asks questions on its way to a T. */
export type Plan<T> = Generator<Question, T, unknown>

/** Asks one question. The only place where an answer gets its type: drivers answer by kind. */
export function* ask<K extends FactKind>(kind: K, asked: Asked<K>): Plan<AnswerTo<K>> {
  return (yield { kind, ...asked } as Question) as AnswerTo<K>
}

/** Answers questions without waiting, for tests and for plans whose facts are at hand. */
export type Answers = { readonly [K in FactKind]?: (asked: Asked<K>) => AnswerTo<K> }

/** Drives a plan with answers that are at hand. Throws when a question has no answer. */
export function run<T>(plan: Plan<T>, answers: Answers): T {
  let step = plan.next()
  while (!step.done) {
    const question = step.value
    const answer = answers[question.kind] as ((asked: Question) => unknown) | undefined
    if (!answer) throw new Error(`no answer for ${question.kind}`)
    step = plan.next(answer(question))
  }
  return step.value
}
