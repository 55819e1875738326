/**
 * Routes of what a session remembers: snapshots, registers and the repeat guard.
 */
import {
  FailureAnswerSchema,
  FailureRequestSchema,
  RegisterAnswerSchema,
  RegisterListAnswerSchema,
  RegisterSnapshotRequestSchema,
  SnapshotAnswerSchema,
  SnapshotListAnswerSchema,
} from '../schemas/records.js'
import type { Tools } from '../tools/tools.js'
import { aboutFile, aboutText, anyCall, inSession, answers, withBody } from './answers.js'
import { examples } from './examples.js'
import { RegisterParams, SessionParams, body } from './parameters.js'
import type { App } from './provider.js'
import { callOf } from './provider.js'

export function recordRoutes(app: App, tools: Tools): void {
  app.get(
    '/v1/sessions/:sessionId/snapshots',
    {
      schema: {
        operationId: 'listSnapshots',
        summary: 'List the versions the session has seen',
        tags: ['Records'],
        params: SessionParams,
        response: answers(
          'other',
          {
            200: { schema: SnapshotListAnswerSchema, description: 'Retained versions.', examples: examples.snapshots },
          },
          [...inSession, ...anyCall],
        ),
      },
    },
    (request) => tools.listSnapshots(callOf(request)),
  )

  app.post(
    '/v1/sessions/:sessionId/snapshots',
    {
      schema: {
        operationId: 'registerSnapshot',
        summary: 'Register a file that was displayed by other means',
        description: 'Without `seenLines` provenance is unknown and Edit checks the version only.',
        tags: ['Records'],
        params: SessionParams,
        body: body(RegisterSnapshotRequestSchema, examples.registerSnapshot),
        response: answers(
          'other',
          { 200: { schema: SnapshotAnswerSchema, description: 'The live version.', examples: examples.snapshot } },
          [...withBody, 'SESSION_NOT_FOUND', ...aboutFile, ...aboutText, ...anyCall],
        ),
      },
    },
    (request) => tools.registerSnapshot(callOf(request), request.body),
  )

  app.get(
    '/v1/sessions/:sessionId/registers',
    {
      schema: {
        operationId: 'listRegisters',
        summary: 'List the named registers',
        tags: ['Records'],
        params: SessionParams,
        response: answers(
          'other',
          {
            200: { schema: RegisterListAnswerSchema, description: 'Names with counts.', examples: examples.registers },
          },
          [...inSession, ...anyCall],
        ),
      },
    },
    (request) => tools.listRegisters(callOf(request)),
  )

  app.get(
    '/v1/sessions/:sessionId/registers/:name',
    {
      schema: {
        operationId: 'getRegister',
        summary: 'Show the lines of a register',
        tags: ['Records'],
        params: RegisterParams,
        response: answers(
          'other',
          { 200: { schema: RegisterAnswerSchema, description: 'The captured lines.', examples: examples.register } },
          [...inSession, 'NOT_FOUND', ...anyCall],
        ),
      },
    },
    (request) => tools.getRegister(callOf(request), request.params.name),
  )

  app.post(
    '/v1/sessions/:sessionId/failures',
    {
      schema: {
        operationId: 'reportFailure',
        summary: 'Report a failed shell patch to the repeat guard',
        tags: ['Records'],
        params: SessionParams,
        body: body(FailureRequestSchema, examples.failure),
        response: answers(
          'other',
          {
            200: { schema: FailureAnswerSchema, description: 'State of the guard.', examples: examples.failureAnswer },
          },
          [...withBody, 'SESSION_NOT_FOUND', 'PATH_OUTSIDE_WORKSPACE', 'TOOL_DENIED', ...anyCall],
        ),
      },
    },
    (request) => tools.reportFailure(callOf(request), request.body),
  )
}
