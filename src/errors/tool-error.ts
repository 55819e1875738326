/**
 * The one error that may leave a pure step, a port or a tool: a code of the table with its parameters.
 *
 * Carries no message text of its own. `instanceof` is the only way to recognise it; everything else that is thrown is a fault
 * of ours and becomes INTERNAL at the edge.
 */
import type { ErrorCode, ErrorParams } from './table.js'
import { errors } from './table.js'

export class ToolError<C extends ErrorCode = ErrorCode> extends Error {
  constructor(
    readonly code: C,
    readonly params: ErrorParams<C>,
    options?: { cause?: unknown },
  ) {
    super(code, options)
    this.name = 'ToolError'
  }

  get status(): number {
    return errors[this.code].status
  }

  get retriable(): boolean {
    return errors[this.code].retriable
  }

  get title(): string {
    return errors[this.code].title
  }

  /** What is wrong and the one next step; without the words about nothing being written, which depend on the operation. */
  get detail(): string {
    const detail = errors[this.code].detail as (params: ErrorParams<C>) => string
    return detail(this.params)
  }

  /** The public members of the problem document that belong to this code. */
  get fields(): Record<string, unknown> {
    const entry: { readonly fields?: unknown } = errors[this.code]
    if (typeof entry.fields !== 'function') return {}
    return (entry.fields as (params: ErrorParams<C>) => Record<string, unknown>)(this.params)
  }

  is<K extends ErrorCode>(...codes: readonly K[]): this is ToolError<K> {
    return (codes as readonly ErrorCode[]).includes(this.code)
  }
}

/** The same test as `instanceof`, for code that must not forget which codes there are. */
export const isToolError = (error: unknown): error is ToolError => error instanceof ToolError

/** The refusal that was thrown, or undefined for a fault of ours. */
export function asToolError(error: unknown): ToolError | undefined {
  return error instanceof ToolError ? (error as ToolError) : undefined
}
