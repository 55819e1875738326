/**
 * Tools for tests of the transport: they answer what a test tells them to and remember their calls. They know nothing of files; what the real tools do
 * is tested with the real ones.
 */
import { ToolError } from '../../src/errors/tool-error.js'
import type { Call, Caller, Tools } from '../../src/tools/tools.js'
import { examples } from '../../src/http/examples.js'

type Answers = { [K in keyof Tools]: Tools[K] }

export interface StubTools {
  readonly tools: Tools
  readonly calls: { readonly name: string; readonly args: readonly unknown[] }[]
  /** Replaces what one operation does. */
  set<K extends keyof Tools>(name: K, does: Tools[K]): void
}

const notSet = async (): Promise<never> => {
  throw new ToolError('SESSION_NOT_FOUND', {})
}

export function stubTools(): StubTools {
  const calls: { name: string; args: readonly unknown[] }[] = []
  const does: Answers = {
    createSession: async () => examples.session.example.value,
    getSession: async () => examples.sessionWithUsage.example.value,
    deleteSession: async () => undefined,
    switchWorkspace: async () => examples.session.example.value,
    read: async () => examples.readAnswer.example.value,
    grep: async () => examples.grepAnswer.example.value,
    write: async () => ({ status: 200, body: { ...examples.writeAnswer.example.value }, replayed: false }),
    edit: async () => ({ status: 200, body: { ...examples.editAnswer.example.value }, replayed: false }),
    listSnapshots: async () => examples.snapshots.example.value,
    registerSnapshot: async () => examples.snapshot.example.value,
    listRegisters: async () => examples.registers.example.value,
    getRegister: async () => examples.register.example.value,
    listReviews: async () => examples.reviews.example.value,
    getReview: async () => examples.review.example.value,
    rollback: async () => ({ status: 200, body: { ...examples.rolledBack.example.value }, replayed: false }),
    reportFailure: async () => examples.failureAnswer.example.value,
    events: notSet,
    listWorkspaces: async () => examples.workspaces.example.value,
  }
  const tools = new Proxy(does, {
    get(target, name: keyof Tools) {
      const operation = target[name] as (...args: unknown[]) => unknown
      return (...args: unknown[]) => {
        calls.push({ name, args })
        return operation(...args)
      }
    },
  })
  return {
    tools,
    calls,
    set: (name, operation) => {
      does[name] = operation
    },
  }
}

export const callIn = (stub: StubTools, index = -1): Call & { caller: Caller } => stub.calls.at(index)!.args[0] as Call
