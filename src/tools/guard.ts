/**
 * The repeat guard: counts the failures of a prompt on a path and ends it at the limit (contract §9.3, reading §8.10).
 *
 * One honest retry per recoverable code is free. Off without a promptId. Called for every refusal of Write and Edit, and for failures that an
 * orchestrator reports.
 */
import { guardRecovery } from '../errors/recovery.js'
import type { ErrorCode } from '../errors/table.js'
import type { ToolError } from '../errors/tool-error.js'
import { limits } from '../limits.js'
import type { Guard } from '../schemas/operations.js'
import type { SessionRef } from '../sessions/store.js'
import type { ToolDeps } from './deps.js'

/** Codes with one free attempt per path: each hands back what the retry needs. */
const graced: readonly ErrorCode[] = ['EDIT_TAG_MISMATCH', 'EDIT_TAG_UNKNOWN', 'EDIT_LINES_UNSEEN', 'WRITE_STALE']

/** The code under which reported shell patches count. */
export const patchCommand = 'PATCH_COMMAND_FAILED'

export interface Failure {
  readonly promptId: string | undefined
  readonly path: string | undefined
  readonly error: ToolError
}

export interface GuardFields {
  readonly guard?: Guard
  readonly terminate?: true
}

export async function guardRefusal(
  deps: ToolDeps,
  ref: SessionRef,
  { promptId, path, error }: Failure,
): Promise<GuardFields> {
  if (promptId === undefined || path === undefined || !counts(error)) return {}
  const suggestion = error.is(
    'EDIT_PARSE_FAILED',
    'EDIT_RANGE_INVALID',
    'EDIT_BLOCK_UNRESOLVED',
    'EDIT_REPAIR_AMBIGUOUS',
  )
    ? error.params.suggestion
    : undefined
  return count(deps, ref, {
    promptId,
    path,
    code: error.code,
    kind: 'edit',
    recovery: guardRecovery(error.code, suggestion),
  })
}

export interface Counted {
  readonly promptId: string
  readonly path: string
  readonly code: string
  readonly kind: 'edit' | 'patch-command'
  readonly recovery: string
}

export async function count(
  deps: ToolDeps,
  ref: SessionRef,
  failure: Counted,
): Promise<{ guard: Guard; terminate?: true }> {
  const hasGrace = (graced as readonly string[]).includes(failure.code)
  const { attempt, grace } = await deps.store.countFailure(ref, failure.promptId, failure.path, failure.code, hasGrace)
  if (attempt < limits.guardAttempts) return { guard: { attempt, grace } }
  deps.metrics.guardTerminated()
  return {
    terminate: true,
    guard: {
      code: 'MUTATION_RETRY_BUDGET_EXHAUSTED',
      retriable: true,
      kind: failure.kind,
      lastErrorCode: failure.code,
      attempt,
      recovery: failure.recovery,
    },
  }
}

function counts(error: ToolError): boolean {
  if (error.status < 400 || error.status >= 500) return false
  return (
    error.status !== 401 &&
    error.status !== 403 &&
    error.status !== 429 &&
    !error.is('MUTATION_IN_PROGRESS', 'SESSION_NOT_FOUND')
  )
}
