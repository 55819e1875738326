/**
 * Renders a refusal as the RFC 9457 document of http-api "Errors", and the text that an orchestrator may hand to a model as it is.
 *
 * Pure: knows no request, no guard and no header. Called by the tools, which may have to store a refusal (reading §8.8), and by http for everything else.
 */
import type { LineRow } from '../text/rows.js'
import type { ToolError } from './tool-error.js'

export type Operation = 'read' | 'grep' | 'write' | 'edit' | 'other'

export interface ProblemContext {
  /** Trace id of a given traceparent, else the request id. */
  readonly traceId: string
  readonly operation: Operation
  /** The path to show above revealed rows. */
  readonly path?: string
}

/**
 * The members type, title, status, detail, code, retriable and traceId, then those of the code, and `content` for the four tools. Refusals of
 * Write and Edit say that nothing was written; a fault of ours does not, because nobody can know.
 */
export function problemOf(error: ToolError, context: ProblemContext): Record<string, unknown> {
  const { fields } = error
  const detail = detailOf(error, context.operation)
  return {
    type: `urn:anchorline:error:${error.code}`,
    title: error.title,
    status: error.status,
    detail,
    code: error.code,
    retriable: error.retriable,
    traceId: context.traceId,
    ...fields,
    ...(context.operation === 'other' ? {} : { content: contentOf(error.code, detail, fields, context.path) }),
  }
}

function detailOf(error: ToolError, operation: Operation): string {
  if (operation !== 'write' && operation !== 'edit') return error.detail
  if (error.is('INTERNAL')) return `${error.detail}; read the file to see whether it was written`
  return `nothing was written: ${error.detail}`
}

/** Code and detail, then, where rows were revealed, their header and `N:text` rows. */
function contentOf(code: string, detail: string, fields: Record<string, unknown>, path: string | undefined): string {
  const head = `${code}: ${detail}`
  const rows = fields['lines']
  if (!isRows(rows) || rows.length === 0) return head
  const tag = fields['liveTag']
  const header = typeof tag === 'string' && path !== undefined ? [`[${path}#${tag}]`] : []
  return [head, ...header, ...rows.map((row) => `${row.line}:${row.text}${row.clipped ? '…' : ''}`)].join('\n')
}

const isRows = (value: unknown): value is readonly LineRow[] => Array.isArray(value)
