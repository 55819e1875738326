/**
 * The closed table of everything the service refuses: code → status, title, retriable, the detail sentence and the public fields.
 *
 * No message text stands at a throw site; a throw names a code and its parameters. The OpenAPI enum and the documentation are
 * compared with this table in a test. Says nothing about HTTP bodies: `http/problem.ts` renders these entries.
 */
import { editErrors } from './edit-errors.js'
import { serviceErrors } from './service-errors.js'

export type { Issue, LineSpan, ReadAdvice, RevealFields } from './entry.js'

export const errors = { ...serviceErrors, ...editErrors } as const

export type ErrorCode = keyof typeof errors
export type ErrorParams<C extends ErrorCode> = Parameters<(typeof errors)[C]['detail']>[0]
export const errorCodes = Object.keys(errors) as readonly ErrorCode[]
