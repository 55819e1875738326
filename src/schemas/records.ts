/**
 * Schemas of what a session remembers beside reviews: snapshots, registers, guard counters, events.
 */
import { Type } from '@sinclair/typebox'
import {
  Count,
  Header,
  PromptId,
  RequestPath,
  Root,
  ShownPath,
  Span,
  Tag,
  Time,
  arrayOf,
  oneOf,
  strict,
} from './parts.js'
import { SeenLines } from './sessions.js'

const Seen = Type.Union([Type.Array(Span), Type.Null()], {
  description:
    'Lines that may be anchors: what was shown to the session, and every line of the text that its own Write or direct Edit left. Null when provenance was not recorded and no anchor is refused.',
})

// — snapshots —

export const SnapshotListAnswerSchema = strict(
  {
    snapshots: arrayOf(
      strict({
        path: ShownPath,
        tag: Tag,
        seen: Seen,
        bytes: Count('Bytes of the text with LF and without BOM.'),
        totalLines: Count('Lines of the version.'),
        recordedAt: Time('When it was last displayed or written.'),
        retained: Type.Boolean({ description: 'The text is kept, so drift can be recovered from.' }),
      }),
      'Most recently used path first, newest version first.',
    ),
  },
  { title: 'SnapshotList' },
)

export const RegisterSnapshotRequestSchema = strict(
  { path: RequestPath, seenLines: Type.Optional(SeenLines) },
  {
    title: 'RegisterSnapshotRequest',
    description: 'Registers the live file as displayed by other means. Without `seenLines` its provenance is unknown.',
  },
)

export const SnapshotAnswerSchema = strict(
  {
    path: ShownPath,
    root: Root,
    tag: Tag,
    header: Header,
    seen: Seen,
    bytes: Count('Bytes of the text with LF and without BOM.'),
    totalLines: Count('Lines of the file.'),
  },
  { title: 'Snapshot' },
)

// — registers —

const RegisterName = Type.String({ pattern: '^[A-Za-z0-9_-]{1,32}$', examples: ['fn'] })

const registerFacts = {
  name: RegisterName,
  lineCount: Count('Lines captured.'),
  bytes: Count('UTF-8 bytes captured.'),
  updatedAt: Time('When it was captured.'),
}

export const RegisterListAnswerSchema = strict({ registers: arrayOf(strict(registerFacts)) }, { title: 'RegisterList' })

export const RegisterAnswerSchema = strict(
  { ...registerFacts, lines: arrayOf(Type.String(), 'The captured lines without terminators.') },
  { title: 'Register' },
)

// — the repeat guard —

export const mutationBudgetExhausted = 'MUTATION_RETRY_BUDGET_EXHAUSTED'

export const GuardSchema = Type.Union(
  [
    strict({
      attempt: Count('Counted failures of this prompt on this path; 0 on a grace.'),
      grace: Type.Boolean({ description: 'This failure was free.' }),
    }),
    strict({
      code: Type.Literal(mutationBudgetExhausted),
      retriable: Type.Literal(true),
      kind: oneOf(['edit', 'patch-command']),
      lastErrorCode: Type.String(),
      attempt: Count('Counted failures of this prompt on this path.'),
      recovery: Type.String({ description: 'What the next prompt should do differently.' }),
    }),
  ],
  { title: 'Guard', description: 'State of the repeat guard.' },
)

export const FailureRequestSchema = strict(
  { promptId: PromptId, path: RequestPath, kind: Type.Literal('patch-command') },
  { title: 'FailureRequest', description: 'A failed shell patch, reported by an orchestrator.' },
)

export const FailureAnswerSchema = strict(
  {
    guard: GuardSchema,
    terminate: Type.Optional(Type.Boolean({ description: 'The prompt has spent its budget; stop it.' })),
  },
  { title: 'FailureAnswer' },
)
