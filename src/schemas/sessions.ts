/**
 * Schemas of sessions and workspaces (http-api "Operations").
 */
import { Type } from '@sinclair/typebox'
import { limits } from '../limits.js'
import { AccessMode, Count, Span, Time, arrayOf, strict } from './parts.js'

const WorkspaceName = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Name of a directory directly below WORKSPACES_DIR.',
  examples: ['demo'],
})

export const SessionRequestSchema = strict(
  {
    workspace: WorkspaceName,
    access: Type.Optional(AccessMode),
    externalRoots: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: limits.pathBytes }), {
        maxItems: 16,
        description: 'Absolute directories the session may also use; each must lie inside EXTERNAL_ROOTS.',
      }),
    ),
    ttlSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Seconds without a tool call after which the session ends. At most SESSION_MAX_TTL.',
      }),
    ),
    label: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: '^[^\\p{Cc}\\p{Cs}]*$',
        description: 'Free text for people who look at sessions.',
      }),
    ),
  },
  { title: 'SessionRequest', description: 'Opens a session on one workspace.' },
)

export const SwitchRequestSchema = strict(
  { workspace: WorkspaceName },
  { title: 'SwitchRequest', description: 'The workspace to go on with. Snapshots and registers are dropped.' },
)

/** The bounds that a caller can run into, by their names in limits.ts. */
export const SessionLimitsSchema = strict(
  {
    maxFileBytes: Count('Bytes of a file that Edit and Write accept.'),
    maxReadBytes: Count('Bytes of a file that Read accepts.'),
    maxLineChars: Count('UTF-16 units of a row before it is clipped.'),
    readDefaultLines: Count('Lines of a Read without `limit`.'),
    readMaxLines: Count('Largest `limit` of a Read.'),
    readContentBytes: Count('Bytes of content in one Read.'),
    opsBytes: Count('UTF-8 bytes of `ops`.'),
    opsPerCall: Count('Operations in one Edit.'),
    expandedLines: Count('Rows inserted or pasted plus lines deleted in one Edit.'),
    revealLines: Count('Lines that a refusal shows.'),
    revealLineChars: Count('Characters of a line that a refusal shows.'),
    registerLines: Count('Lines of one register.'),
    registerBytes: Count('Bytes of one register.'),
    registersPerSession: Count('Named registers.'),
    pathsPerSession: Count('Paths whose versions are kept.'),
    versionsPerPath: Count('Versions kept of one path.'),
    retainedBytesPerSession: Count('Bytes of text kept for recovery.'),
    retainedBytesPerFile: Count('Bytes of a file whose text is kept.'),
    reviewsPerSession: Count('Reviews that can be rolled back; older ones keep their evidence alone.'),
  },
  { title: 'SessionLimits', description: 'Every bound that a caller can run into.' },
)

export const UsageSchema = strict(
  {
    paths: Count('Paths with retained versions.'),
    versions: Count('Retained versions.'),
    retainedBytes: Count('Bytes of retained text.'),
    registers: Count('Named registers.'),
  },
  { title: 'Usage', description: 'What the session holds now.' },
)

export const SessionAnswerSchema = strict(
  {
    sessionId: Type.String({
      description: 'Unguessable; the key of every further call.',
      examples: ['V1StGXR8Z5jdHi6BmyTq3w'],
    }),
    workspace: WorkspaceName,
    access: AccessMode,
    scratchRoot: Type.String({ description: 'Absolute path of the private folder of this session.' }),
    externalRoots: Type.Optional(arrayOf(Type.String(), 'Approved external roots, when there are any.')),
    label: Type.Optional(Type.String()),
    createdAt: Time('When it was opened.'),
    expiresAt: Time('When it ends unless a tool is called before.'),
    limits: SessionLimitsSchema,
    usage: Type.Optional(UsageSchema),
  },
  { title: 'Session' },
)

export const WorkspaceListAnswerSchema = strict(
  {
    workspaces: arrayOf(strict({ name: WorkspaceName, access: AccessMode }), 'Sorted by name.'),
  },
  { title: 'WorkspaceList', examples: [{ workspaces: [{ name: 'demo', access: 'read-write' }] }] },
)

export const SeenLines = Type.Array(Span, {
  maxItems: 10_000,
  description: 'Inclusive line ranges.',
  examples: [[{ start: 1, end: 40 }]],
})
