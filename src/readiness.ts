/**
 * What readiness asks: the store, the workspace root, the grammars. Each question has an end, and answers are kept for a moment, because probes need no token.
 *
 * Called by main, which hands it to the probes.
 */
import type { Check, Checks } from './http/health.js'

export interface Questions {
  readonly store: () => Promise<boolean>
  readonly workspaces: () => Promise<boolean>
  /** Settles once, when every grammar has parsed its sample or one could not. */
  readonly grammars: Promise<void>
  /** Milliseconds of a clock that never steps. */
  readonly monotonic: () => number
}

/** Milliseconds that a question may take. */
const patienceMs = 2_000
/** Milliseconds for which an answer is given again. */
const keptMs = 500

/** The function it returns never throws. */
export function readiness({ store, workspaces, grammars, monotonic }: Questions): () => Promise<Checks> {
  let loaded: Check = 'starting'
  grammars.then(
    () => (loaded = 'ok'),
    () => (loaded = 'failed'),
  )
  let asked: { readonly at: number; readonly checks: Promise<Checks> } | undefined
  return () => {
    if (asked === undefined || monotonic() - asked.at > keptMs)
      asked = {
        at: monotonic(),
        checks: Promise.all([answered(store), answered(workspaces)]).then(([s, w]) => ({
          store: s,
          workspaces: w,
          grammars: loaded,
        })),
      }
    return asked.checks
  }
}

async function answered(question: () => Promise<boolean>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), patienceMs)
  })
  try {
    return (await Promise.race([question(), patience])) ? 'ok' : 'failed'
  } catch {
    return 'failed'
  } finally {
    clearTimeout(timer)
  }
}
