/**
 * Runs the save hooks of the operator: glob → command, text on standard input, text on standard output, within a timeout (contract §5.4).
 *
 * No shell, no arguments from callers but the path in place of `{path}`; output is bounded. A hook that exits with an error, is killed or answers invalid
 * UTF-8 leaves the text as it was given to it. Called by tools through SaveHooks.
 */
import { spawn } from 'node:child_process'
import picomatch from 'picomatch'
import { notText } from '../text/utf8.js'
import type { HookAnswer, SaveHooks } from './hooks-port.js'

export interface HookConfig {
  /** Matched on the path as it is shown. */
  readonly glob: string
  /** Program and arguments; `{path}` stands for the path as it is shown. */
  readonly command: readonly [string, ...string[]]
  readonly timeoutMs: number
}

export function createSaveHooks(configs: readonly HookConfig[], probeBytes: number): SaveHooks {
  const hooks = configs.map((config) => ({ config, matches: picomatch(config.glob, { dot: true }) }))
  return {
    async apply(path, bytes, maxBytes): Promise<HookAnswer> {
      const chosen = hooks.filter((hook) => hook.matches(path))
      if (chosen.length === 0) return { kind: 'none' }
      let current = bytes
      for (const { config } of chosen) {
        const name = config.command[0]
        try {
          const output = await filter(config, path, current, maxBytes)
          const problem = notText(output, probeBytes)
          if (problem) throw new Error(problem.kind === 'binary' ? 'its output is binary' : 'its output is not UTF-8')
          current = output
        } catch (error) {
          const cause = error instanceof Error ? error.message : String(error)
          return { kind: 'failed', hook: name, cause, ...(current.equals(bytes) ? {} : { bytes: current }) }
        }
      }
      return current.equals(bytes)
        ? { kind: 'unchanged' }
        : { kind: 'changed', bytes: current, hook: chosen.map((hook) => hook.config.command[0]).join(', ') }
    },
  }
}

/** One process: its standard output when it exits with 0. Rejects with plain words otherwise. */
function filter(config: HookConfig, path: string, input: Buffer, maxBytes: number): Promise<Buffer> {
  const [program, ...args] = config.command
  return new Promise((resolve, reject) => {
    const child = spawn(
      program,
      args.map((arg) => arg.replaceAll('{path}', () => path)),
      { stdio: ['pipe', 'pipe', 'ignore'], shell: false },
    )
    const chunks: Buffer[] = []
    let size = 0
    const fail = (cause: string): void => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      reject(new Error(cause))
    }
    const timer = setTimeout(() => fail(`no answer within ${config.timeoutMs} ms`), config.timeoutMs)
    child.on('error', (error) => fail(error.message))
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) fail(`more than ${maxBytes} bytes of output`)
      else chunks.push(chunk)
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (code === 0) resolve(Buffer.concat(chunks))
      else reject(new Error(signal === null ? `exit status ${code}` : `ended by ${signal}`))
    })
    // A filter may exit without reading everything; its exit status decides, not the broken pipe.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}
