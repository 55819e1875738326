/**
 * An Edit on its way through the tools: what was asked, what it speaks about, what was decided. Types alone; a later one holds no doubt of an earlier one.
 */
import type { ToolError } from '../errors/tool-error.js'
import type { Warning } from '../errors/warnings.js'
import type { Prepared } from '../engine/input.js'
import type { Patch } from '../patch/ops.js'
import type { EditRequest } from '../schemas/operations.js'
import type { Roots, Target } from '../workspace/port.js'
import type { ToolDeps } from './deps.js'
import type { LoadedText } from './load-text.js'
import type { MutationContext } from './mutation.js'
import type { MutationCall } from './tools.js'

/** One call on its way. */
export interface EditCall {
  readonly deps: ToolDeps
  readonly call: MutationCall
  readonly request: EditRequest
  readonly context: MutationContext
  readonly dryRun: boolean
}

/** What is known before the file is looked at. */
export interface Addressed {
  readonly patch: Patch
  readonly tag: string
  readonly roots: Roots
  readonly target: Target
  /** The destination of an MV, or why it is none; judged after the source (reading §3.0). */
  readonly dest: Target | ToolError | undefined
  readonly warnings: readonly Warning[]
}

/** What was decided, on which bytes. */
export interface Decided {
  readonly loaded: LoadedText
  readonly prepared: Prepared
  readonly dest: Target | undefined
}
