/**
 * The search thread as seen from outside: gives it orders and waits for what it answers.
 *
 * Starts it with the first order, and anew after it was lost. It never keeps a process alive by itself. Called by search.ts.
 */
import { Worker } from 'node:worker_threads'
import type { ErrorCode, ErrorParams } from '../errors/table.js'
import { ToolError } from '../errors/tool-error.js'
import type { Answer, Reply, Task, WorkerSetup } from './search-messages.js'
import type { SearchQuery } from './search-port.js'

interface Waiting {
  readonly settle: (reply: Reply) => void
  readonly lost: (error: Error) => void
}

export class SearchThread {
  private worker: Worker | undefined
  private readonly waiting = new Map<number, Waiting>()
  private lastId = 0

  constructor(private readonly setup: WorkerSetup) {}

  /**
   * Settles when the processes of the task are gone, after an abort as well. Throws the reason of the signal, what the task refuses, and Error when the thread was
   * lost.
   */
  async ask<T extends Task>(query: SearchQuery, spentMs: number, task: T, signal: AbortSignal): Promise<Answer<T>> {
    signal.throwIfAborted()
    const id = ++this.lastId
    const worker = (this.worker ??= this.start())
    const cancel = (): void => worker.postMessage({ cancel: id })
    signal.addEventListener('abort', cancel)
    worker.ref()
    try {
      const reply = await new Promise<Reply>((resolve, reject) => {
        this.waiting.set(id, { settle: resolve, lost: reject })
        worker.postMessage({ id, query, spentMs, task })
      })
      signal.throwIfAborted()
      if ('answer' in reply) return reply.answer as Answer<T>
      if ('refused' in reply) throw new ToolError(reply.refused.code, reply.refused.params as ErrorParams<ErrorCode>)
      throw new Error(reply.fault)
    } finally {
      signal.removeEventListener('abort', cancel)
      this.waiting.delete(id)
      if (this.waiting.size === 0) worker.unref()
    }
  }

  private start(): Worker {
    const worker = new Worker(new URL('./search-worker.js', import.meta.url), { workerData: this.setup })
    const lost = (error: Error): void => {
      if (this.worker === worker) this.worker = undefined
      for (const waiting of this.waiting.values()) waiting.lost(error)
    }
    worker.on('message', (reply: Reply) => this.waiting.get(reply.id)?.settle(reply))
    worker.on('error', lost)
    worker.on('exit', () => lost(new Error('the search thread has ended')))
    return worker
  }
}
