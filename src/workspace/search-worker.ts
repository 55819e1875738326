/**
 * The thread that searches. Starting a process and reading what it writes holds up the thread that does it, so the one that answers requests leaves it to this one.
 *
 * Carries out orders of search-thread.ts side by side; holds nothing between them.
 */
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { errorCodes } from '../errors/table.js'
import { ToolError } from '../errors/tool-error.js'
import { denyRule } from './deny.js'
import { directoryOpener, hasDescriptorPaths } from './directory.js'
import { Children } from './search-child.js'
import type { Answer, Order, Reply, Task, WorkerSetup } from './search-messages.js'
import { SearchRun } from './search-run.js'

const { program, denyRead, bounds } = workerData as WorkerSetup
const denies = denyRule(denyRead)
const openDirectory = directoryOpener(hasDescriptorPaths())
/** Above 0 is less urgent than the rest of the service; 19 would be the least. */
const niceness = 5
const running = new Map<number, AbortController>()

async function carryOut(order: Exclude<Order, { cancel: number }>): Promise<Reply> {
  const { id, query, spentMs, task } = order
  const stop = new AbortController()
  running.set(id, stop)
  try {
    const children = new Children(program, stop.signal)
    const run = new SearchRun(query, { children, openDirectory, denyRead: denies, bounds }, spentMs)
    return { id, answer: await answerOf(run, task) }
  } catch (error) {
    if (error instanceof ToolError && error.is(...errorCodes)) {
      return { id, refused: { code: error.code, params: error.params } }
    }
    return { id, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  } finally {
    running.delete(id)
  }
}

function answerOf(run: SearchRun, task: Task): Promise<Answer<Task>> {
  switch (task.kind) {
    case 'files':
      return run.files(task.scope)
    case 'lines':
      return run.lines(task.texts, task.most)
    case 'ends':
      return run.ends(task.lines)
  }
}

// On Linux a priority belongs to a thread, and its processes inherit it: a search yields to calls that are answered at once. Elsewhere it belongs to the process.
if (process.platform === 'linux') setPriority(0, niceness)

parentPort?.on('message', (order: Order) => {
  if ('cancel' in order) running.get(order.cancel)?.abort(new Error('cancelled'))
  else void carryOut(order).then((reply) => parentPort?.postMessage(reply))
})
