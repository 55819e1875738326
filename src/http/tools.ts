/**
 * Routes of the four tools: schema in, one tool call, schema out.
 */
import {
  EditAnswerSchema,
  EditRequestSchema,
  GrepAnswerSchema,
  GrepRequestSchema,
  ReadAnswerSchema,
  ReadRequestSchema,
  WriteAnswerSchema,
  WriteRequestSchema,
} from '../schemas/tools.js'
import type { Tools } from '../tools/tools.js'
import { aboutFile, aboutText, anyCall, answers, withBody } from './answers.js'
import { examples } from './examples.js'
import { MutationHeaders, SessionParams, body, editBodyBytes, keyOf } from './parameters.js'
import { sendOutcome } from './problems.js'
import type { App } from './provider.js'
import { callOf } from './provider.js'

const tags = ['Tools']

export interface ToolRouteOptions {
  /** Bytes of the largest body; Write takes whole files. */
  readonly bodyBytes: number
}

export function toolRoutes(app: App, tools: Tools, { bodyBytes }: ToolRouteOptions): void {
  app.post(
    '/v1/sessions/:sessionId/read',
    {
      config: { tool: 'read' },
      schema: {
        operationId: 'read',
        summary: 'Read a window of a file with line numbers',
        description: 'The lines shown in full count as seen: Edit accepts them as anchors.',
        tags,
        params: SessionParams,
        body: body(ReadRequestSchema, examples.read),
        response: answers(
          'read',
          { 200: { schema: ReadAnswerSchema, description: 'The window.', examples: examples.readAnswer } },
          [...withBody, 'SESSION_NOT_FOUND', ...aboutFile, ...aboutText, ...anyCall],
        ),
      },
    },
    (request) => tools.read(callOf(request), request.body),
  )

  app.post(
    '/v1/sessions/:sessionId/grep',
    {
      config: { tool: 'grep' },
      schema: {
        operationId: 'grep',
        summary: 'Search files',
        description: 'Matched lines shown in full count as seen; nothing else does.',
        tags,
        params: SessionParams,
        body: body(GrepRequestSchema, examples.grep),
        response: answers(
          'grep',
          { 200: { schema: GrepAnswerSchema, description: 'What was found.', examples: examples.grepAnswer } },
          [...withBody, 'SESSION_NOT_FOUND', ...aboutFile, ...anyCall],
        ),
      },
    },
    (request) => tools.grep(callOf(request), request.body),
  )

  app.post(
    '/v1/sessions/:sessionId/write',
    {
      config: { tool: 'write' },
      bodyLimit: bodyBytes,
      schema: {
        operationId: 'write',
        summary: 'Create or overwrite a file',
        description:
          'Keeps the line ending and the byte order mark of a file that exists. Without `tag` a file that changed since it was last seen is refused.',
        tags,
        params: SessionParams,
        headers: MutationHeaders,
        body: body(WriteRequestSchema, examples.write),
        response: answers(
          'write',
          { 200: { schema: WriteAnswerSchema, description: 'The file landed.', examples: examples.writeAnswer } },
          [
            ...withBody,
            'SESSION_NOT_FOUND',
            ...aboutFile,
            ...aboutText,
            'CONFLICT',
            'MUTATION_IN_PROGRESS',
            'EDIT_TAG_MISMATCH',
            'WRITE_STALE',
            'IDEMPOTENCY_KEY_REUSED',
            ...anyCall,
          ],
        ),
      },
    },
    async (request, reply) =>
      sendOutcome(request, reply, await tools.write({ ...callOf(request), ...keyOf(request.headers) }, request.body)),
  )

  app.post(
    '/v1/sessions/:sessionId/edit',
    {
      config: { tool: 'edit' },
      bodyLimit: Math.min(bodyBytes, editBodyBytes),
      schema: {
        operationId: 'edit',
        summary: 'Edit a file by line anchors',
        description:
          'Names lines of the tagged version and supplies new content only. The version, the provenance of every anchor and the meaning of every op are proven before a byte is written.',
        tags,
        params: SessionParams,
        headers: MutationHeaders,
        body: body(EditRequestSchema, examples.edit),
        response: answers(
          'edit',
          { 200: { schema: EditAnswerSchema, description: 'The edit landed.', examples: examples.editAnswer } },
          [
            ...withBody,
            'EDIT_TAG_REQUIRED',
            'EDIT_PARSE_FAILED',
            'SESSION_NOT_FOUND',
            ...aboutFile,
            ...aboutText,
            'CONFLICT',
            'MUTATION_IN_PROGRESS',
            'EDIT_TAG_MISMATCH',
            'EDIT_TAG_UNKNOWN',
            'EDIT_LINES_UNSEEN',
            'IDEMPOTENCY_KEY_REUSED',
            'EDIT_RANGE_INVALID',
            'EDIT_BLOCK_UNRESOLVED',
            'EDIT_REGISTER_EMPTY',
            'EDIT_REGISTER_AMBIGUOUS',
            'EDIT_REPAIR_AMBIGUOUS',
            'EDIT_NO_CHANGE',
            'EDIT_AMPLIFICATION_LIMIT',
            ...anyCall,
          ],
        ),
      },
    },
    async (request, reply) =>
      sendOutcome(request, reply, await tools.edit({ ...callOf(request), ...keyOf(request.headers) }, request.body)),
  )
}
