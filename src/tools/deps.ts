/**
 * What the tools are given: ports, clock, randomness and what an operator may configure. Nothing here is global; tests pass their own.
 */
import type { Store } from '../sessions/store.js'
import type { SyntaxPort } from '../syntax/port.js'
import type { WorkspacePort } from '../workspace/port.js'
import type { SearchPort } from '../workspace/search-port.js'
import type { SaveHooks } from '../workspace/hooks-port.js'
import type { Metrics } from './metrics.js'
import type { Tracer } from './tracer.js'

export interface ToolSettings {
  readonly maxFileBytes: number
  readonly maxReadBytes: number
  readonly sessionTtlSeconds: number
  readonly sessionMaxTtlSeconds: number
  readonly sessionsPerTenant: number
  readonly permitWaitMs: number
}

/** The few lines of a logger that tools need; never given file contents, patch bodies or tokens. */
export interface ToolLog {
  warn(facts: Record<string, unknown>, message: string): void
  error(facts: Record<string, unknown>, message: string): void
}

export interface ToolDeps {
  readonly store: Store
  readonly workspace: WorkspacePort
  readonly syntax: SyntaxPort
  readonly search: SearchPort
  readonly hooks: SaveHooks
  readonly metrics: Metrics
  /** Undefined: nothing is traced. */
  readonly tracer?: Tracer
  readonly log: ToolLog
  readonly settings: ToolSettings
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** An unguessable id of at least 128 bits, URL-safe. */
  readonly randomId: () => string
}
