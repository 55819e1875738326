/**
 * What the tools count: what happened, how often, how long. The interface and its silent implementation.
 *
 * Labels are closed words; no path, session, tenant or text ever becomes one. Recording never throws and never waits. The real recorder is
 * http/metrics.ts; tests and benchmarks take `noMetrics`.
 */
import type { BlockReason } from '../errors/blocks.js'
import type { DeclineReason } from '../errors/declines.js'

export type EditBranch = 'direct' | 'positionStable' | 'recovered'
export type RepairOutcome = 'echoRemoved' | 'rowKept' | 'ambiguous' | 'notEvaluated'

export interface Metrics {
  /** An edit that landed, by the way it was proven. */
  editBranch(branch: EditBranch): void
  /** A stale tag that recovery saw: accepted, or why not. */
  recovery(outcome: 'accepted' | DeclineReason['kind']): void
  repair(outcome: RepairOutcome): void
  /** A block locator: resolved, or why not. */
  block(outcome: 'resolved' | BlockReason['kind']): void
  /** A wait for the permits of a mutation, had or not. */
  permitWait(seconds: number, outcome: 'held' | 'busy'): void
  /** A call of the store, by its name. */
  storeCall(call: string, seconds: number, ok: boolean): void
  /** Bytes that a mutation put on the disk. */
  bytesWritten(bytes: number): void
  /** The repeat guard ended a prompt. */
  guardTerminated(): void
}

const nothing = (): void => undefined

export const noMetrics: Metrics = {
  editBranch: nothing,
  recovery: nothing,
  repair: nothing,
  block: nothing,
  permitWait: nothing,
  storeCall: nothing,
  bytesWritten: nothing,
  guardTerminated: nothing,
}
