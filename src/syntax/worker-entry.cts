/**
 * Where a thread of the pool begins. A thread may be ended while it still loads, and Node 20 takes the whole process with it when that meets the loading of an ECMAScript
 * module through `require`, which is how the pool loads this file, or a module that awaits at its top level. So this one is CommonJS and imports the rest.
 */
import type { Jobs } from './jobs.js'
import type { ThreadJobs } from './worker.js'

const loaded: Promise<ThreadJobs> = import('./worker.js').then(({ threadJobs }) => threadJobs())
// Whoever has a job hears of it.
loaded.catch(() => undefined)

type Done<Name extends keyof Jobs> = (job: Jobs[Name]['in']) => Promise<Jobs[Name]['out']>
const blocks: Done<'blocks'> = async (job) => (await loaded).blocks(job)
const verdicts: Done<'verdicts'> = async (job) => (await loaded).verdicts(job)
const map: Done<'map'> = async (job) => (await loaded).map(job)
const warm: Done<'warm'> = async (job) => (await loaded).warm(job)

export = { blocks, verdicts, map, warm }
