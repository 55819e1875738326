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
import type { BlocksJob, JobBase, Jobs, VerdictsJob } from './jobs.js'
import { epochMs, JobControl } from './jobs.js'
import type { Language } from './language.js'
import { LanguageIndex, languages } from './languages.js'
import type { ParserHostOptions, Stop } from './parser-host.js'
import { ParserHost } from './parser-host.js'

const index = new LanguageIndex(languages)

export type ThreadJobs = { readonly [Name in keyof Jobs]: (job: Jobs[Name]['in']) => Jobs[Name]['out'] }

/** What this thread does, once it is fit to. */
export async function threadJobs(): Promise<ThreadJobs> {
  const host = await ParserHost.create(workerData as ParserHostOptions)
  return {
    blocks: (job) => guarded(job, (control) => blocks(host, job, control)),
    verdicts: (job) => guarded(job, (control) => job.texts.map((text) => verdict(host, job, text, control))),
    warm: (job) =>
      guarded(job, () => {
        host.warm(languageOf(job.language))
        return undefined
      }),
    map: (job) => guarded(job, () => mapIds(job.lines, job.bounds, () => performance.now())),
  }
}

function blocks(host: ParserHost, job: BlocksJob, control: JobControl): readonly BlockAnswer[] {
  const parsed = host.parse(languageOf(job.language), job.text, stopAfter(job.parseMs, control))
  if (parsed === undefined) return job.lines.map(() => missing({ kind: 'timed-out', afterMs: job.parseMs }))
  if (parsed.clean) return job.lines.map((line) => parsed.blocks.at(line))
  if ('beyond' in parsed) return job.lines.map(() => missing({ kind: 'beyond-grammar', ...parsed.beyond }))
  return job.lines.map(() => missing({ kind: 'does-not-parse', errorLine: parsed.errorRow + 1 }))
}

function verdict(host: ParserHost, job: VerdictsJob, text: string, control: JobControl): ParseVerdict {
  const stop = stopAfter(Math.min(job.parseMs, job.until - epochMs()), control)
  const language = languageOf(job.language)
  const parsed =
    job.from === undefined ? host.parse(language, text, stop) : host.follows(language, job.from, text, stop)
  if (parsed === undefined) return { verdict: 'no-verdict', why: 'timed-out' }
  if (parsed.clean) return { verdict: 'clean' }
  if ('beyond' in parsed) return { verdict: 'no-verdict', why: 'too-large' }
  return { verdict: 'broken', errorLine: parsed.errorRow + 1 }
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

function languageOf(name: string): Language {
  const language = index.named(name)
  if (language === undefined) throw new GrammarUnfit(`there is no language ${name}`)
  return language
}

function missing(reason: (BlockAnswer & { found: false })['reason']): BlockAnswer {
  return { found: false, reason }
}
