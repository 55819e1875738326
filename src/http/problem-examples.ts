/**
 * One realistic refusal per code of the error table, told on the demo workspace. They become the examples of the OpenAPI document.
 *
 * The documents are rendered by the same function that renders real refusals, so that an example can never differ from its answer.
 */
import type { Operation } from '../errors/problem.js'
import { problemOf } from '../errors/problem.js'
import type { ErrorCode, ErrorParams } from '../errors/table.js'
import { ToolError } from '../errors/tool-error.js'
import { limits } from '../limits.js'

const path = 'src/inventory.ts'
const rows = [
  { line: 23, text: '    if (!item) throw new Error(`unknown sku ${sku}`)', clipped: false },
  { line: 24, text: '    item.quantity -= quantity', clipped: false },
  { line: 25, text: '  }', clipped: false },
]
const stale = { liveTag: '4280', expectedTag: 'A1B2', anchors: [24], lines: rows, revealComplete: true } as const

const params: { readonly [C in ErrorCode]: ErrorParams<C> } = {
  INVALID_ARGUMENT: { issues: [{ path: 'pathname', message: 'is not a known property; leave it out' }] },
  UNAUTHORIZED: {},
  TOOL_DENIED: { reason: 'read-only session' },
  PATH_OUTSIDE_WORKSPACE: { path: '../secrets.txt' },
  SESSION_NOT_FOUND: {},
  NOT_FOUND: { what: 'file', name: 'src/inventry.ts', suggestions: [path] },
  METHOD_NOT_ALLOWED: { method: 'PATCH', allowed: ['POST'] },
  UNSUPPORTED_MEDIA_TYPE: { found: 'text/plain' },
  CONFLICT: { reason: 'destination exists', path: 'src/stock.ts' },
  MUTATION_IN_PROGRESS: { path, waitedMs: limits.permitWaitMs },
  PAYLOAD_TOO_LARGE: { limitBytes: limits.bodyBytes },
  FILE_TOO_LARGE: { path: 'data/export.csv', bytes: 104_857_600, limitBytes: limits.maxFileBytes },
  TOOL_BINARY_CONTENT: { path: 'docs/logo.png', offset: 4 },
  ENCODING_UNSUPPORTED: { path: 'docs/legacy.txt', offset: 0, encoding: 'UTF-16LE' },
  IDEMPOTENCY_KEY_REUSED: {},
  RATE_LIMITED: { what: 'requests', limit: 6_000, retryAfterSeconds: 12 },
  TOOL_FAILED: { path, cause: 'the disk is full' },
  INTERNAL: {},
  STORE_UNAVAILABLE: {},
  OVERLOADED: { what: 'calls' },
  SHUTTING_DOWN: {},
  TIMEOUT: { afterMs: 30_000, hint: 'ask for less in one call, or send it again' },
  EDIT_TAG_REQUIRED: { found: 'latest' },
  EDIT_PARSE_FAILED: { opsLine: 1, found: 'CUT 24', problem: { kind: 'single number' }, suggestion: 'CUT 24.=24' },
  EDIT_TAG_MISMATCH: { ...stale, reason: { kind: 'line changed', line: 24 } },
  EDIT_TAG_UNKNOWN: { ...stale, reason: { kind: 'unknown tag' } },
  WRITE_STALE: { ...stale, reason: { kind: 'changed since last seen', line: 24 } },
  EDIT_LINES_UNSEEN: { liveTag: '4280', unseen: [{ start: 24, end: 24 }], lines: rows, revealComplete: true },
  EDIT_RANGE_INVALID: {
    problem: 'out of bounds',
    opsLine: 1,
    line: 48,
    totalLines: 31,
    suggestion: 'to append use PUT >$:',
  },
  EDIT_BLOCK_UNRESOLVED: {
    opsLine: 1,
    line: 24,
    reason: { kind: 'single-line' },
    suggestion: 'PUT 24.=24:',
    enclosing: { start: 21, end: 25 },
  },
  EDIT_REGISTER_EMPTY: { opsLine: 1, register: 'take', known: ['low'] },
  EDIT_REGISTER_AMBIGUOUS: { opsLine: 3, captures: 2, headers: ['CUT 9.=9', 'PUT >20'], known: [] },
  EDIT_REPAIR_AMBIGUOUS: {
    opsLine: 1,
    candidates: [
      { label: 'as written', rows: [{ line: 25, text: '  }', clipped: false }] },
      { label: '"PUT 24.=24:" without the rows that restate line 25', rows: [] },
    ],
    suggestion:
      'CUT 24.=24 with PUT >23: to write exactly these rows, or leave out the rows that restate lines (CUT 24.=24 alone when none is left)',
  },
  EDIT_NO_CHANGE: { path, tag: '4280' },
  EDIT_AMPLIFICATION_LIMIT: { limit: limits.expandedLines },
}

export function problemExample(code: ErrorCode, operation: Operation): Record<string, unknown> {
  const error = new ToolError(code, params[code])
  return problemOf(error, { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', operation, path })
}
