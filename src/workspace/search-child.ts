/**
 * One ripgrep process: started without a shell and without an environment, read as it writes, killed at its deadline, on abort and when enough was read.
 *
 * Knows nothing of arguments and rows. When a call settles its process is gone. Called by the search.
 */
import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { ToolError } from '../errors/tool-error.js'
import { codeOf } from './faults.js'

export interface ChildTask {
  readonly args: readonly string[]
  /** Absolute path of a directory. */
  readonly cwd: string
  /** What the process reads, in order. */
  readonly input?: Iterable<Uint8Array>
  /** Milliseconds until it is killed; it is not started when they are not positive. */
  readonly timeMs: number
  /** Takes what the process writes; true when no more is wanted. */
  readonly take: (chunk: Buffer) => boolean
}

export type ChildEnd =
  | { readonly how: 'exit'; readonly code: number; readonly complaint: string }
  | { readonly how: 'enough' }
  | { readonly how: 'deadline' }

/** Characters of its complaints that are kept. */
const complaintChars = 32_768

/** Starts the processes of one piece of work, all under one signal. */
export class Children {
  constructor(
    private readonly program: string,
    private readonly signal: AbortSignal,
  ) {}

  /** Throws the reason of the signal, OVERLOADED when the machine has no room for a process, Error when it cannot be started or died by itself. */
  run(task: ChildTask): Promise<ChildEnd> {
    return runChild(this.program, task, this.signal)
  }
}

async function runChild(program: string, task: ChildTask, signal: AbortSignal): Promise<ChildEnd> {
  signal.throwIfAborted()
  if (task.timeMs <= 0) return { how: 'deadline' }
  const child = spawn(program, [...task.args], { cwd: task.cwd, env: {}, stdio: ['pipe', 'pipe', 'pipe'] })
  let killed: ChildEnd | undefined
  const kill = (why?: ChildEnd): void => {
    killed ??= why
    child.kill('SIGKILL')
  }
  const aborted = (): void => kill()
  const timer = setTimeout(() => kill({ how: 'deadline' }), task.timeMs)
  signal.addEventListener('abort', aborted)
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(0, complaintChars)
  })
  let fault: unknown
  child.stdout.on('data', (chunk: Buffer) => {
    if (killed || fault !== undefined) return
    try {
      if (task.take(chunk)) kill({ how: 'enough' })
    } catch (error) {
      fault = error
      kill()
    }
  })
  try {
    const [code] = await Promise.all([closed(child), feed(child.stdin, task.input ?? [])])
    signal.throwIfAborted()
    if (fault !== undefined) throw fault as Error
    if (killed) return killed
    if (code === null) throw new Error(`${program} died: ${complaint}`)
    return { how: 'exit', code, complaint }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', aborted)
  }
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** The exit code; null when a signal ended it. */
function closed(child: Child): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on('error', (error) => {
      const noRoom = ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE'].includes(codeOf(error) ?? '')
      reject(noRoom ? new ToolError('OVERLOADED', { what: 'searches' }, { cause: error }) : error)
    })
    child.on('close', resolve)
  })
}

/** Writes as fast as the process reads. A process that ends early leaves the rest unread, which is no fault. */
async function feed(stdin: Writable, input: Iterable<Uint8Array>): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    stdin.on('error', () => resolve())
    stdin.on('close', () => resolve())
  })
  for (const bytes of input) {
    if (stdin.destroyed) return
    if (!stdin.write(bytes)) await Promise.race([gone, new Promise<void>((resolve) => stdin.once('drain', resolve))])
  }
  stdin.end()
}
