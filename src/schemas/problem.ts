/**
 * The schema of every refusal: an RFC 9457 problem document with the members of http-api "Errors".
 *
 * `code` is the closed list of the error table. Which further members stand beside it depends on the code.
 */
import { Type } from '@sinclair/typebox'
import type { ErrorCode } from '../errors/table.js'
import { errorCodes } from '../errors/table.js'
import { Count, LineNumber, ShownRow, Span, Tag, arrayOf, strict } from './parts.js'
import { GuardSchema } from './records.js'

export const ProblemSchema = Type.Object(
  {
    type: Type.String({ examples: ['urn:anchorline:error:EDIT_TAG_MISMATCH'] }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    detail: Type.String({ description: 'What is wrong and the one next step.' }),
    code: Type.Unsafe<ErrorCode>({ type: 'string', enum: [...errorCodes] }),
    retriable: Type.Boolean(),
    traceId: Type.String({ description: 'Trace id of a given traceparent, else the request id.' }),
    content: Type.Optional(Type.String({ description: 'The text to show a model (Read, Grep, Write, Edit).' })),
    issues: Type.Optional(arrayOf(strict({ path: Type.String(), message: Type.String() }))),
    totalLines: Type.Optional(Count('Lines of the file.')),
    limitBytes: Type.Optional(Count('The bound that was exceeded.')),
    limit: Type.Optional(Count('The bound that was exceeded.')),
    suggestions: Type.Optional(arrayOf(Type.String(), 'Near names.')),
    offset: Type.Optional(Count('Byte offset of the first bad byte.')),
    encoding: Type.Optional(Type.String()),
    opsLine: Type.Optional(Count('Row of `ops`, 1-based.')),
    found: Type.Optional(Type.String({ description: 'What stood in that row.' })),
    suggestion: Type.Optional(
      Type.String({ description: 'What to write instead: ops text, or a sentence that names them (see the code).' }),
    ),
    liveTag: Type.Optional(Tag),
    expectedTag: Type.Optional(Type.String()),
    anchors: Type.Optional(arrayOf(LineNumber('A line that the ops name.'))),
    reason: Type.Optional(Type.String()),
    lines: Type.Optional(arrayOf(ShownRow, 'Rows of the live file.')),
    revealComplete: Type.Optional(Type.Boolean({ description: 'Every anchor line was shown in full.' })),
    unseen: Type.Optional(arrayOf(Span, 'Anchor lines that the session has not seen.')),
    line: Type.Optional(Count('The line the refusal is about.')),
    ops: Type.Optional(arrayOf(Type.String(), 'The two op headers that conflict.')),
    enclosing: Type.Optional(Span),
    register: Type.Optional(Type.String({ description: 'Register name; empty for the anonymous one.' })),
    known: Type.Optional(arrayOf(Type.String(), 'Registers of the session.')),
    candidates: Type.Optional(
      arrayOf(
        strict({
          label: Type.String({ description: 'How it reads the call.' }),
          rows: arrayOf(
            ShownRow,
            'Rows that the file would hold by it and not by every other one, with the lines they restate or are.',
          ),
        }),
        'Equally good readings.',
      ),
    ),
    terminate: Type.Optional(Type.Boolean({ description: 'The repeat guard ends this prompt.' })),
    guard: Type.Optional(GuardSchema),
  },
  {
    title: 'Problem',
    description: 'Every answer with a status of 400 and above.',
    additionalProperties: true,
  },
)
