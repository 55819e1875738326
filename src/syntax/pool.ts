/**
 * Parses in worker threads: the implementation of the syntax port.
 *
 * The event loop only chooses the language, measures and waits. Every wait has an end: a parse stops itself at its time limit; a thread that does not come back from one is
 * killed and replaced; a job that finds no free thread is given up. Load and crashes become reasons, never guesses. Whether a text is too large is decided here,
 * before it is copied to a thread. Called by main and tests.
 */
import { fileURLToPath } from 'node:url'
import { LRUCache } from 'lru-cache'
import { Piscina, queueOptionsSymbol } from 'piscina'
import { limits } from '../limits.js'
import type { BlockReason } from '../errors/blocks.js'
import type { BlockAnswer, ParseVerdict } from '../text/facts.js'
import type { LineMapAnswer } from '../text/line-map.js'
import type { LineIds } from '../text/line-ids.js'
import { mapIds } from '../text/line-map.js'
import type { JobBase, Jobs } from './jobs.js'
import { epochMs, JobControl } from './jobs.js'
import { LanguageIndex } from './language-index.js'
import { languages } from './languages.js'
import type { ParserHostOptions } from './parser-host.js'
import type { SyntaxPort } from './port.js'

export interface SyntaxOptions {
  /** Threads that parse; further ones than the first start when they are needed. */
  readonly maxWorkers?: number
  /** Jobs that may wait for a thread. */
  readonly maxQueue?: number
  /** Milliseconds that a job may wait for a thread. */
  readonly queueMs?: number
  /** Bytes of UTF-8 of a text that is parsed. */
  readonly parseBytes?: number
  /** Milliseconds that parsing one text may take. */
  readonly parseMs?: number
  /** Milliseconds past its limit after which a thread counts as lost. */
  readonly graceMs?: number
  /** What each thread may keep and take. */
  readonly host?: ParserHostOptions
}

const defaults = {
  maxWorkers: 2,
  maxQueue: 64,
  queueMs: 15_000,
  parseBytes: limits.blockParseBytes,
  parseMs: limits.parseTimeMs,
  graceMs: 500,
  host: {
    keptTrees: 8,
    keptFiles: 256,
    keptFileUnits: limits.blockParseBytes / 2,
    keptUnits: 2 * limits.blockParseBytes,
    memoryBytes: 1024 * 1024 * 1024,
  },
} satisfies SyntaxOptions

/** Why a job has no result. */
interface Lost {
  readonly lost: 'busy' | 'timed-out' | 'parser-lost'
}

interface Wait {
  /** Milliseconds that a thread may work on the job, from when it began. */
  readonly workMs: number
  /** Milliseconds that the caller waits, from now. */
  readonly budgetMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Most drift is a few edits, found in less time than a thread takes to answer; the rest never holds the event loop for longer. */
const inlineMapBounds = { maxEdits: limits.diffInlineEdits, timeMs: limits.diffInlineMs }
const mapBounds = { maxEdits: limits.diffMaxEdits, timeMs: limits.diffTimeMs }
/** The diff bounds itself; splitting and numbering the lines of two very large texts comes on top. */
const mapWorkMs = 4 * limits.diffTimeMs

export function createSyntax(options: SyntaxOptions = {}): SyntaxPort {
  return new SyntaxPool({ ...defaults, ...options })
}

class SyntaxPool implements SyntaxPort {
  readonly #index = new LanguageIndex(languages)
  readonly #pool: Piscina
  #completed = 0
  #replaced = 0

  constructor(private readonly options: Required<SyntaxOptions>) {
    this.#pool = new Piscina({
      filename: fileURLToPath(new URL('./worker-entry.cjs', import.meta.url)),
      minThreads: 1,
      maxThreads: options.maxWorkers,
      maxQueue: options.maxQueue,
      idleTimeout: Infinity,
      workerData: options.host,
      loadBalancer: familiar(options.host.keptFiles),
    })
    this.#pool.on('workerDestroy', () => this.#replaced++)
    // A thread that dies between two jobs has no call to answer for, and the pool has replaced it already.
    this.#pool.on('error', () => undefined)
  }

  async blocksAt(
    path: string,
    text: string,
    lines: readonly number[],
    signal?: AbortSignal,
  ): Promise<readonly BlockAnswer[]> {
    const none = (reason: BlockReason): readonly BlockAnswer[] => lines.map(() => ({ found: false, reason }))
    const language = this.#index.of(path, firstLine(text))
    if (language === undefined) return none({ kind: 'unsupported-language', name: path })
    const { parseBytes, parseMs, queueMs } = this.options
    if (this.#isTooLarge(text)) return none({ kind: 'too-large', limitBytes: parseBytes })
    const answer = await this.#run(
      'blocks',
      path,
      { language: language.name, text, lines },
      { workMs: parseMs, signal },
    )
    if (!('lost' in answer)) return answer
    if (answer.lost === 'busy') return none({ kind: 'busy', afterMs: queueMs })
    return none(answer.lost === 'timed-out' ? { kind: 'timed-out', afterMs: parseMs } : { kind: 'parser-lost' })
  }

  async parses(
    path: string,
    texts: readonly string[],
    budgetMs?: number,
    signal?: AbortSignal,
  ): Promise<readonly ParseVerdict[]> {
    return this.#verdicts(path, texts, undefined, budgetMs, signal)
  }

  async follows(path: string, text: string, budgetMs: number, signal?: AbortSignal): Promise<ParseVerdict> {
    const [verdict] = await this.#verdicts(path, [text], path, budgetMs, signal)
    return verdict ?? { verdict: 'no-verdict', why: 'parser-lost' }
  }

  async #verdicts(
    path: string,
    texts: readonly string[],
    file: string | undefined,
    budgetMs: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<readonly ParseVerdict[]> {
    const language = this.#index.of(path, firstLine(texts[0] ?? ''))
    if (language === undefined) return texts.map(() => ({ verdict: 'unknown-language' }))
    const small = texts.filter((text) => !this.#isTooLarge(text))
    const until = budgetMs === undefined ? Infinity : epochMs() + budgetMs
    const workMs = budgetMs ?? this.options.parseMs * small.length
    const job = { language: language.name, texts: small, file, until }
    const answer = small.length === 0 ? [] : await this.#run('verdicts', path, job, { workMs, budgetMs, signal })
    const why = 'lost' in answer && answer.lost === 'parser-lost' ? 'parser-lost' : 'timed-out'
    const verdicts = ('lost' in answer ? [] : answer)[Symbol.iterator]()
    return texts.map((text): ParseVerdict => {
      if (this.#isTooLarge(text)) return { verdict: 'no-verdict', why: 'too-large' }
      const next = verdicts.next()
      return next.done === true ? { verdict: 'no-verdict', why } : next.value
    })
  }

  knows(path: string, line: string): boolean {
    return this.#index.of(path, line) !== undefined
  }

  async lineMap(lines: LineIds, signal?: AbortSignal): Promise<LineMapAnswer> {
    const quick = mapIds(lines, inlineMapBounds, () => performance.now())
    if (!('gaveUp' in quick)) return quick
    const answer = await this.#run('map', undefined, { lines, bounds: mapBounds }, { workMs: mapWorkMs, signal })
    if (!('lost' in answer)) return answer
    return { gaveUp: answer.lost === 'parser-lost' ? 'parser-lost' : 'time' }
  }

  async ready(): Promise<void> {
    // One after the other: this proves that the grammars load, it is no race for the threads that calls may need meanwhile.
    for (const language of languages) {
      const job = { language: language.name, control: new JobControl().memory, parseMs: this.options.parseMs }
      await this.#pool.run(job, { name: 'warm' }).catch((cause: unknown) => {
        throw new Error(`the ${language.name} grammar cannot be used`, { cause })
      })
    }
  }

  stats(): ReturnType<SyntaxPort['stats']> {
    const { threads, queueSize } = this.#pool
    return { workers: threads.length, queued: queueSize, completed: this.#completed, replaced: this.#replaced }
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  #isTooLarge(text: string): boolean {
    const { parseBytes } = this.options
    // A UTF-16 unit takes at least one byte and at most three.
    return text.length > parseBytes || (text.length * 3 > parseBytes && Buffer.byteLength(text) > parseBytes)
  }

  /** Runs a job. Rejects only when the caller's signal aborts; everything else that may go wrong is an answer. */
  async #run<Name extends keyof Jobs>(
    name: Name,
    path: string | undefined,
    job: Omit<Jobs[Name]['in'], keyof JobBase>,
    wait: Wait,
  ): Promise<Jobs[Name]['out'] | Lost> {
    wait.signal?.throwIfAborted()
    const watch = new JobWatch(wait.workMs, this.options)
    const onHandOver = (): void => watch.handedOver()
    const base = { control: watch.control.memory, parseMs: this.options.parseMs }
    const task = { ...job, ...base, [queueOptionsSymbol]: { path, onHandOver } satisfies Handling }
    const done: Promise<Jobs[Name]['out'] | Lost> = this.#pool.run(task, { name, signal: watch.signal }).then(
      (result: Jobs[Name]['out']) => {
        this.#completed++
        return result
      },
      (error: unknown) => watch.lost(error),
    )
    const settled = done.finally(() => watch.end())
    return wait.budgetMs === undefined && wait.signal === undefined ? settled : abandonable(settled, watch, wait)
  }
}

/** What the pool is told of a job beside the job. */
interface Handling {
  readonly path: string | undefined
  /** Called when a thread gets the job. */
  readonly onHandOver: () => void
}

type Balancer = NonNullable<NonNullable<ConstructorParameters<typeof Piscina>[0]>['loadBalancer']>

/** Tells the pool who gets a job, and the job that somebody did. */
function familiar(paths: number): Balancer {
  const choose = familiarThread(paths)
  return (task, workers) => {
    const { path, onHandOver } = (task[queueOptionsSymbol] ?? {}) as Partial<Handling>
    const chosen = choose(path, workers)
    if (chosen !== null) onHandOver?.()
    return chosen
  }
}

/** Chooses the thread that got the file last, which has its tree, when that is free; else any that is, or none. Remembers the last `paths` files. */
export function familiarThread(
  paths: number,
): <T extends { readonly id: number; readonly currentUsage: number }>(
  path: string | undefined,
  threads: readonly T[],
) => T | null {
  const last = new LRUCache<string, number>({ max: paths })
  return (path, threads) => {
    const free = threads.filter((thread) => thread.currentUsage === 0)
    const known = path === undefined ? undefined : last.get(path)
    const chosen = free.find((thread) => thread.id === known) ?? free[0] ?? null
    if (path !== undefined && chosen !== null) last.set(path, chosen.id)
    return chosen
  }
}

/** A job that nobody waits for any more is called off; whether it stops is then between its watch and the thread. */
async function abandonable<T>(job: Promise<T>, watch: JobWatch, { budgetMs, signal }: Wait): Promise<T | Lost> {
  let timer: NodeJS.Timeout | undefined
  let onAbort = (): void => undefined
  const gaveUp = new Promise<Lost>((resolve, reject) => {
    onAbort = () => {
      watch.abandon()
      reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
    }
    const onTime = (): void => {
      watch.abandon()
      resolve({ lost: 'timed-out' })
    }
    if (budgetMs !== undefined) timer = setTimeout(onTime, budgetMs)
    signal?.addEventListener('abort', onAbort)
  })
  try {
    return await Promise.race([job, gaveUp])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Gives up on a job that finds no thread, and on a thread that does not come back from its job. Aborting a running job kills the thread. */
class JobWatch {
  readonly control = new JobControl()
  readonly #abort = new AbortController()
  readonly #since = performance.now()
  #timer: NodeJS.Timeout | undefined
  #isHandedOver = false

  constructor(
    private readonly workMs: number,
    private readonly bounds: { readonly queueMs: number; readonly graceMs: number },
  ) {
    this.#look()
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** When a job begins is not told, only whether it has: a job that waits is looked at again after the time that it may run. */
  #look(): void {
    const mayRunMs = this.workMs + this.bounds.graceMs
    const running = this.control.runningMs
    const waited = performance.now() - this.#since
    const left = running === undefined ? this.bounds.queueMs - waited : mayRunMs - running
    if (left <= 0) this.#abort.abort()
    else this.#timer = setTimeout(() => this.#look(), Math.min(left, mayRunMs))
  }

  handedOver(): void {
    this.#isHandedOver = true
  }

  /** Nobody waits: a job that no thread has leaves the queue, any other stops at its next chance. A thread that is still loading is not ended for it. */
  abandon(): void {
    this.control.callOff()
    if (!this.#isHandedOver) this.#abort.abort()
  }

  lost(error: unknown): Lost {
    const ran = this.control.runningMs !== undefined
    if (this.signal.aborted) return { lost: ran ? 'timed-out' : 'busy' }
    const isFull = error instanceof Error && error.message === 'Task queue is at limit'
    return { lost: isFull ? 'busy' : 'parser-lost' }
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}

function firstLine(text: string): string {
  const end = text.indexOf('\n')
  return end === -1 ? text : text.slice(0, end)
}
