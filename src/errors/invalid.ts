/**
 * The words of INVALID_ARGUMENT: one constructor per kind of issue, each naming the argument and the next step.
 *
 * Throw sites call these and write no text of their own.
 */
import type { Issue } from './table.js'
import { ToolError } from './tool-error.js'

const invalid = (
  issue: Issue,
  extra: { totalLines?: number; limitBytes?: number } = {},
): ToolError<'INVALID_ARGUMENT'> => new ToolError('INVALID_ARGUMENT', { issues: [issue], ...extra })

// — ops (contract §12, reading §1.6) —

export const opsTooLarge = (bytes: number, limitBytes: number): ToolError<'INVALID_ARGUMENT'> =>
  invalid(
    { path: 'ops', message: `has ${bytes} bytes, the limit is ${limitBytes}; split the change into several calls` },
    { limitBytes },
  )

export const opsHoldNul = (row: number): ToolError<'INVALID_ARGUMENT'> =>
  invalid({ path: 'ops', message: `row ${row} holds a NUL character, which no text file has; leave it out` })

export const opsHoldLoneSurrogate = (row: number): ToolError<'INVALID_ARGUMENT'> =>
  invalid({
    path: 'ops',
    message: `row ${row} holds half of a surrogate pair, which no UTF-8 file can hold; send the whole character`,
  })

export const tooManyOps = (limit: number): ToolError<'INVALID_ARGUMENT'> =>
  invalid({ path: 'ops', message: `holds more than ${limit} ops; split the change into several calls` })
