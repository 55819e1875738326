/**
 * Routes of sessions and workspaces: schema in, one tool call, schema out.
 */
import { Type } from '@sinclair/typebox'
import {
  SessionAnswerSchema,
  SessionRequestSchema,
  SwitchRequestSchema,
  WorkspaceListAnswerSchema,
} from '../schemas/sessions.js'
import type { Tools } from '../tools/tools.js'
import { anyCall, inSession, answers, withBody } from './answers.js'
import { examples } from './examples.js'
import { SessionParams, body } from './parameters.js'
import type { App } from './provider.js'
import { callOf, callerOf } from './provider.js'

const tags = ['Sessions']

export function sessionRoutes(app: App, tools: Tools): void {
  app.get(
    '/v1/workspaces',
    {
      schema: {
        operationId: 'listWorkspaces',
        summary: 'List the workspaces you may open',
        tags,
        response: answers(
          'other',
          { 200: { schema: WorkspaceListAnswerSchema, description: 'Sorted by name.', examples: examples.workspaces } },
          anyCall,
        ),
      },
    },
    (request) => tools.listWorkspaces(callerOf(request)),
  )

  app.post(
    '/v1/sessions',
    {
      schema: {
        operationId: 'createSession',
        summary: 'Open a session on a workspace',
        description: 'Tags, provenance, registers and reviews live in a session. Every reader needs its own.',
        tags,
        body: body(SessionRequestSchema, examples.openSession),
        response: answers(
          'other',
          { 201: { schema: SessionAnswerSchema, description: 'The session is open.', examples: examples.session } },
          [...withBody, 'TOOL_DENIED', 'NOT_FOUND', ...anyCall],
        ),
      },
    },
    async (request, reply) => reply.code(201).send(await tools.createSession(callerOf(request), request.body)),
  )

  app.get(
    '/v1/sessions/:sessionId',
    {
      schema: {
        operationId: 'getSession',
        summary: 'Show a session and what it holds',
        description: 'Does not make its time start anew.',
        tags,
        params: SessionParams,
        response: answers(
          'other',
          { 200: { schema: SessionAnswerSchema, description: 'The session.', examples: examples.sessionWithUsage } },
          [...inSession, ...anyCall],
        ),
      },
    },
    (request) => tools.getSession(callOf(request)),
  )

  app.delete(
    '/v1/sessions/:sessionId',
    {
      schema: {
        operationId: 'deleteSession',
        summary: 'End a session and drop everything it holds',
        tags,
        params: SessionParams,
        response: answers(
          'other',
          { 204: { schema: Type.Null(), description: 'The session is gone.', examples: {} } },
          // A body is not needed, but one that comes is looked at.
          [...withBody, ...inSession, ...anyCall],
        ),
      },
    },
    async (request, reply) => {
      await tools.deleteSession(callOf(request))
      return reply.code(204).send(null)
    },
  )

  app.put(
    '/v1/sessions/:sessionId/workspace',
    {
      schema: {
        operationId: 'switchWorkspace',
        summary: 'Go on with another workspace',
        description: 'Drops the snapshots, registers and guard counters of the session.',
        tags,
        params: SessionParams,
        body: body(SwitchRequestSchema, examples.switchWorkspace),
        response: answers(
          'other',
          {
            200: {
              schema: SessionAnswerSchema,
              description: 'The session on its new workspace.',
              examples: examples.session,
            },
          },
          [...withBody, 'TOOL_DENIED', 'SESSION_NOT_FOUND', 'NOT_FOUND', ...anyCall],
        ),
      },
    },
    (request) => tools.switchWorkspace(callOf(request), request.body),
  )
}
