/**
 * A thread of the pool: parses, resolves, diffs, one job at a time.
 *
 * An exception out of a grammar leaves the thread's WebAssembly memory in an unknown state, so the thread ends itself and the pool starts another: no later parse is
 * answered from damaged memory. A grammar that cannot be loaded is an ordinary error. Loaded by the entry of the thread only.
 */
import { workerData } from 'node:worker_threads'
import type { BlockAnswer, ParseVerdict } from '../text/facts.js'
import { mapIds } from '../text/line-map.js'
import { GrammarUnfit } from './grammar-module.js'
import type { BlocksJob, JobBase, Jobs, VerdictsJob, WarmJob } from './jobs.js'
import { epochMs, JobControl } from './jobs.js'
import type { Language } from './language.js'
import { LanguageIndex, loadLanguages } from './language-index.js'
import type { ParserHostOptions, Stop } from './parser-host.js'
import { ParserHost } from './parser-host.js'

export type ThreadJobs = { readonly [Name in keyof Jobs]: (job: Jobs[Name]['in']) => Jobs[Name]['out'] }

/** What this thread does, once it is fit to. */
export async function threadJobs(): Promise<ThreadJobs> {
  const [host, languages] = await Promise.all([ParserHost.create(workerData as ParserHostOptions), loadLanguages()])
  const thread = new Thread(host, new LanguageIndex(languages))
  return {
    blocks: (job) => guarded(job, (control) => thread.blocks(job, control)),
    verdicts: (job) => guarded(job, (control) => job.texts.map((text) => thread.verdict(job, text, control))),
    warm: (job) => guarded(job, () => thread.warm(job)),
    map: (job) => guarded(job, () => mapIds(job.lines, job.bounds, () => performance.now())),
  }
}

class Thread {
  constructor(
    private readonly host: ParserHost,
    private readonly index: LanguageIndex,
  ) {}

  blocks(job: BlocksJob, control: JobControl): readonly BlockAnswer[] {
    const parsed = this.host.parse(this.languageOf(job.language), job.text, stopAfter(job.parseMs, control))
    if (parsed === undefined) return job.lines.map(() => missing({ kind: 'timed-out', afterMs: job.parseMs }))
    if (parsed.clean) return job.lines.map((line) => parsed.blocks.at(line))
    if ('beyond' in parsed) return job.lines.map(() => missing({ kind: 'beyond-grammar', ...parsed.beyond }))
    return job.lines.map(() => missing({ kind: 'does-not-parse', errorLine: parsed.errorRow + 1 }))
  }

  verdict({ language: name, parseMs, until, file }: VerdictsJob, text: string, control: JobControl): ParseVerdict {
    const stop = stopAfter(Math.min(parseMs, until - epochMs()), control)
    const language = this.languageOf(name)
    const parsed =
      file === undefined ? this.host.parse(language, text, stop) : this.host.follows(language, file, text, stop)
    if (parsed === undefined) return { verdict: 'no-verdict', why: 'timed-out' }
    if (parsed.clean) return { verdict: 'clean' }
    if ('beyond' in parsed) return { verdict: 'no-verdict', why: 'too-large' }
    return { verdict: 'broken', errorLine: parsed.errorRow + 1 }
  }

  warm(job: WarmJob): undefined {
    this.host.warm(this.languageOf(job.language))
  }

  private languageOf(name: string): Language {
    const language = this.index.named(name)
    if (language === undefined) throw new GrammarUnfit(`there is no language ${name}`)
    return language
  }
}

function guarded<T>(job: JobBase, work: (control: JobControl) => T): T {
  const control = new JobControl(job.control)
  control.begin()
  try {
    return work(control)
  } catch (error) {
    if (error instanceof GrammarUnfit) throw error
    process.exit(1)
  }
}

function stopAfter(ms: number, control: JobControl): Stop {
  const until = performance.now() + ms
  return () => performance.now() >= until || control.isCalledOff
}

function missing(reason: (BlockAnswer & { found: false })['reason']): BlockAnswer {
  return { found: false, reason }
}
