/**
 * Where the time of a call goes, as spans: the interface, its silent implementation, and ports whose calls are spans.
 *
 * Names are closed words; no path, session, tenant or text ever becomes one. Knows no tracing library; the real tracer is src/tracing.ts. Changes no answer and
 * no error. Called by main and by the tools.
 */
import type { Store } from '../sessions/store.js'
import type { SyntaxPort } from '../syntax/port.js'
import type { WorkspacePort } from '../workspace/port.js'

/** `gates`: the engine's decision, of which `recovery`, `blocks` and `repair` are parts. */
export type SpanName = 'load' | 'gates' | 'recovery' | 'blocks' | 'repair' | 'commit' | `store.${string}`

export interface Tracer {
  /** Runs `work` once, as a span of the call at hand, which ends when the work does; a promise is followed. Without a call at hand, only runs it. */
  span<T>(name: SpanName, work: () => T): T
}

export const noTracer: Tracer = { span: (_name, work) => work() }

export interface Ports {
  readonly store: Store
  readonly workspace: WorkspacePort
  readonly syntax: SyntaxPort
}

const workspaceSpans: ReadonlyMap<string, SpanName> = new Map<keyof WorkspacePort, SpanName>([
  ['load', 'load'],
  ['loadForWriting', 'load'],
  ['replace', 'commit'],
  ['create', 'commit'],
  ['remove', 'commit'],
  ['move', 'commit'],
])

const syntaxSpans: ReadonlyMap<string, SpanName> = new Map<keyof SyntaxPort, SpanName>([
  ['blocksAt', 'blocks'],
  ['parses', 'repair'],
  ['follows', 'repair'],
  ['lineMap', 'recovery'],
])

export function tracedPorts({ store, workspace, syntax }: Ports, tracer: Tracer): Ports {
  return {
    store: traced(store, tracer, (method) => `store.${method}`),
    workspace: traced(workspace, tracer, (method) => workspaceSpans.get(method)),
    syntax: traced(syntax, tracer, (method) => syntaxSpans.get(method)),
  }
}

function traced<P extends object>(port: P, tracer: Tracer, nameOf: (method: string) => SpanName | undefined): P {
  return new Proxy(port, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function' || typeof key !== 'string') return member
      const name = nameOf(key)
      return (...args: readonly unknown[]): unknown => {
        const work = (): unknown => Reflect.apply(member, target, args)
        return name === undefined ? work() : tracer.span(name, work)
      }
    },
  })
}
