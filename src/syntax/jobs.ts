/**
 * What the pool and its workers say to each other.
 *
 * A job carries the name of a language, never a path: the choice of the language is made once, outside. Beside each job goes a small piece of shared memory through
 * which the worker tells that it has begun and the pool tells that nobody waits any more.
 */
import type { BlockAnswer, ParseVerdict } from '../text/facts.js'
import type { LineIds } from '../text/line-ids.js'
import type { LineMapAnswer, LineMapBounds } from '../text/line-map.js'

/** What every job carries. */
export interface JobBase {
  readonly control: SharedArrayBuffer
  /** Milliseconds that parsing one text may take. */
  readonly parseMs: number
}

export interface BlocksJob extends JobBase {
  readonly language: string
  readonly text: string
  readonly lines: readonly number[]
}

export interface VerdictsJob extends JobBase {
  readonly language: string
  readonly texts: readonly string[]
  /** They are the next texts of this file. */
  readonly file?: string | undefined
  /** Milliseconds since the epoch at which the answer is worth nothing any more. */
  readonly until: number
}

export interface WarmJob extends JobBase {
  readonly language: string
}

export interface LineMapJob extends JobBase {
  readonly lines: LineIds
  readonly bounds: LineMapBounds
}

/** The jobs of calls, by the name of the worker's export that does them: what goes in, what comes out. */
export interface Jobs {
  blocks: { in: BlocksJob; out: readonly BlockAnswer[] }
  verdicts: { in: VerdictsJob; out: readonly ParseVerdict[] }
  map: { in: LineMapJob; out: LineMapAnswer }
  warm: { in: WarmJob; out: undefined }
}

const begun = 0
const calledOff = 1
const flagBytes = 8

/** The shared memory of one job, as either side sees it. */
export class JobControl {
  readonly #flags: Int32Array
  readonly #begunAt: Float64Array

  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(2 * flagBytes)) {
    this.#flags = new Int32Array(memory, 0, 2)
    this.#begunAt = new Float64Array(memory, flagBytes, 1)
  }

  /** Called by the worker: the job has left the queue. */
  begin(): void {
    this.#begunAt[0] = epochMs()
    Atomics.store(this.#flags, begun, 1)
  }

  /** Milliseconds since the worker began; undefined while the job waits. */
  get runningMs(): number | undefined {
    return Atomics.load(this.#flags, begun) === 0 ? undefined : epochMs() - (this.#begunAt[0] ?? 0)
  }

  /** Called by the pool: stop at the next chance. */
  callOff(): void {
    Atomics.store(this.#flags, calledOff, 1)
  }

  get isCalledOff(): boolean {
    return Atomics.load(this.#flags, calledOff) === 1
  }
}

/** A clock that all threads of the process share and that never runs backwards. */
export function epochMs(): number {
  return performance.timeOrigin + performance.now()
}
