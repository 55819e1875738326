/**
 * Drives a plan of the engine: answers its questions from the ports. The only place where the pure engine meets syntax and store.
 */
import type { FactKind, Plan, Question } from '../engine/facts.js'
import type { SessionRef } from '../sessions/store.js'
import { limits } from '../limits.js'
import { Document } from '../text/document.js'
import { lineIds } from '../text/line-ids.js'
import type { ToolDeps } from './deps.js'

type Sources = { readonly [K in FactKind]: (asked: Extract<Question, { kind: K }>) => Promise<unknown> }

/** Runs `plan` to its end. Rejects with what it throws, or with what a port throws. `peek`: the session does not notice that it was asked. */
export async function drive<T>(
  deps: ToolDeps,
  ref: SessionRef,
  plan: Plan<T>,
  signal: AbortSignal,
  peek: boolean,
): Promise<T> {
  const sources = sourcesOf(deps, ref, signal, peek)
  let step = plan.next()
  while (!step.done) {
    const question = step.value
    const source = sources[question.kind] as (asked: Question) => Promise<unknown>
    step = plan.next(await source(question))
  }
  return step.value
}

function sourcesOf({ store, syntax }: ToolDeps, ref: SessionRef, signal: AbortSignal, peek: boolean): Sources {
  return {
    blocks: ({ path, text, lines }) => syntax.blocksAt(path, text.rawText(), lines, signal),
    verdicts: ({ path, texts, optional }) =>
      syntax.parses(
        path,
        texts.map((text) => text.rawText()),
        optional ? limits.parseWarningMs : limits.parseTimeMs,
        signal,
      ),
    follows: ({ path, text }) => syntax.follows(path, text.rawText(), limits.parseWarningMs, signal),
    language: async ({ path, text }) => syntax.knows(path, firstLineOf(text)),
    lineMap: async ({ from, to }) =>
      from.bytes.length + to.bytes.length > limits.diffBytes
        ? { gaveUp: 'maxEdits' }
        : syntax.lineMap(lineIds(from, to), signal),
    text: async ({ textDigest }) => {
      const text = await store.text(ref, textDigest, peek)
      return text === undefined
        ? undefined
        : Document.trusted(Buffer.from(text.buffer, text.byteOffset, text.byteLength))
    },
    register: async ({ name }) => (await store.register(ref, name, peek))?.lines,
    registers: async () => (await store.registers(ref)).map((register) => register.name),
  }
}

/** Enough of the first line to tell a shebang, without decoding one of many megabytes. */
function firstLineOf(text: Document): string {
  return text.lineCount === 0 ? '' : text.content(1).subarray(0, 256).toString('utf8')
}
