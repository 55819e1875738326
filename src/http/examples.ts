/**
 * Requests and answers of the OpenAPI document, told on the demo workspace in the order of a first visit: open a session, read, search, edit, write, roll back.
 *
 * Every request runs as it stands against a fresh copy of `workspaces/demo`; a test plays them.
 */
import { limits } from '../limits.js'
import type * as op from '../schemas/operations.js'

/** The one example of a request or answer; its type is checked. */
const one = <V>(summary: string, value: V): { readonly example: { readonly summary: string; readonly value: V } } => ({
  example: { summary, value },
})

const path = 'src/inventory.ts'
const sessionId = 'kT3uJ2vWn0eXcB7yQ5aZ1g'
const reviewId = 'rv_2m7Qx1c0Zt'
const at = '2026-11-30T12:00:00.000Z'
const oldTag = '4280'
const newTag = '6E06'
const guardRow = '    if (item.quantity < quantity) throw new Error(`only ${item.quantity} of ${sku} left`)'
const beforeDigest = '3fa2149e82c708eb9d9b8d0bf5c38c7badd08f782b2960a463e3245b50b14280'
const afterDigest = 'b790f224ce5a68bee73d88e8d9434f27fc23f361118aa371adf751b64d5b6e06'

const session: op.SessionAnswer = {
  sessionId,
  workspace: 'demo',
  access: 'read-write',
  scratchRoot: `/tmp/anchorline/scratch/${sessionId}`,
  createdAt: at,
  expiresAt: '2026-11-30T13:00:00.000Z',
  limits: {
    maxFileBytes: limits.maxFileBytes,
    maxReadBytes: limits.maxReadBytes,
    maxLineChars: limits.maxLineChars,
    readDefaultLines: limits.readDefaultLines,
    readMaxLines: limits.readMaxLines,
    readContentBytes: limits.readContentBytes,
    opsBytes: limits.opsBytes,
    opsPerCall: limits.opsPerCall,
    expandedLines: limits.expandedLines,
    revealLines: limits.revealLines,
    revealLineChars: limits.revealLineChars,
    registerLines: limits.registerLines,
    registerBytes: limits.registerBytes,
    registersPerSession: limits.registersPerSession,
    pathsPerSession: limits.pathsPerSession,
    versionsPerPath: limits.versionsPerPath,
    retainedBytesPerSession: limits.retainedBytesPerSession,
    retainedBytesPerFile: limits.retainedBytesPerFile,
    reviewsPerSession: limits.reviewsPerSession,
  },
}

const hunk: op.ReviewAnswer['entries'][number]['hunks'][number] = {
  oldStart: 22,
  oldLines: 4,
  newStart: 22,
  newLines: 5,
  rows: [
    { kind: ' ', line: 22, text: '    const item = this.items.get(sku)' },
    { kind: ' ', line: 23, text: '    if (!item) throw new Error(`unknown sku ${sku}`)' },
    { kind: '+', line: 24, text: guardRow },
    { kind: ' ', line: 25, text: '    item.quantity -= quantity' },
    { kind: ' ', line: 26, text: '  }' },
  ],
}

const entry: op.ReviewSummary['entries'][number] = {
  path,
  status: 'modified',
  additions: 1,
  deletions: 0,
  truncated: false,
  reversible: true,
  beforeDigest,
  afterDigest,
}
const summary: op.ReviewSummary = { reviewId, operation: 'edit', state: 'active', createdAt: at, entries: [entry] }
const review: op.ReviewAnswer = {
  ...summary,
  entries: [{ ...entry, hunks: [hunk] }],
  ops: ['PUT >23:'],
  warnings: [],
  resolutions: [],
}

export const examples = {
  openSession: one<op.SessionRequest>('Open a session on the demo workspace', { workspace: 'demo' }),
  session: one<op.SessionAnswer>('A fresh session', session),
  sessionWithUsage: one<op.SessionAnswer>('A session and what it holds', {
    ...session,
    usage: { paths: 1, versions: 2, retainedBytes: 1_552, registers: 0 },
  }),
  switchWorkspace: one<op.SwitchRequest>('Begin anew on a workspace', { workspace: 'demo' }),
  workspaces: one<op.WorkspaceListAnswer>('The demo workspace', {
    workspaces: [{ name: 'demo', access: 'read-write' }],
  }),

  read: {
    window: { summary: 'Five lines', value: { path, offset: 21, limit: 5 } },
    whole: { summary: 'A whole file', value: { path: 'docs/handbook.md' } },
  },
  readAnswer: one<op.ReadAnswer>('Five lines', {
    path,
    root: 'workspace',
    content: [
      `[${path}#${oldTag}]`,
      '21:  take(sku: string, quantity: number): void {',
      '22:    const item = this.items.get(sku)',
      '23:    if (!item) throw new Error(`unknown sku ${sku}`)',
      '24:    item.quantity -= quantity',
      '25:  }',
    ].join('\n'),
    tag: oldTag,
    header: `[${path}#${oldTag}]`,
    offset: 21,
    lineCount: 5,
    totalLines: 31,
    truncated: true,
    fileBytes: 731,
    lineEnding: 'LF',
    bom: false,
    endsWithNewline: true,
    notice: '6 more lines; read on with offset 26',
  }),

  grep: {
    content: { summary: 'Lines that match', value: { pattern: 'reorder', include: '*.ts' } },
    files: { summary: 'Files that match', value: { pattern: 'quantity', outputMode: 'filesWithMatches' } },
  },
  grepAnswer: one<op.GrepContentAnswer>('Lines that match', {
    matches: [
      { path, line: 5, text: '  reorderAt: number' },
      { path, line: 29, text: '    return [...this.items.values()].filter((item) => item.quantity < item.reorderAt)' },
    ],
    tags: { [path]: oldTag },
    content: [
      `[${path}#${oldTag}]`,
      '5:  reorderAt: number',
      '29:    return [...this.items.values()].filter((item) => item.quantity < item.reorderAt)',
    ].join('\n'),
    count: 2,
    files: 1,
    truncated: false,
    skipped: { binary: 0, ignored: 0, tooLarge: 0 },
  }),

  edit: {
    insert: {
      summary: 'Insert a line (read lines 21-25 first)',
      value: { path, tag: oldTag, ops: `PUT >23:\n+${guardRow}` },
    },
    replaceBlock: {
      summary: 'Replace a whole Markdown section, as a dry run (read docs/handbook.md first)',
      value: {
        path: 'docs/handbook.md',
        tag: '1582',
        ops: 'PUT 15*:\n+### Marks\n+\n+The mark of an item is its use in three weeks.\n+',
        dryRun: true,
      },
    },
  },
  editAnswer: one<op.EditAnswer>('A line was inserted', {
    path,
    root: 'workspace',
    tag: newTag,
    header: `[${path}#${newTag}]`,
    previousTag: oldTag,
    branch: 'direct',
    ops: ['PUT >23:'],
    resolutions: [],
    hunks: [hunk],
    shifts: [{ from: 24, by: 1 }],
    additions: 1,
    deletions: 0,
    totalLines: 32,
    content: [
      `applied: ${path}, line 24 (+1 -0)`,
      `[${path}#${newTag}]`,
      ...hunk.rows.map((row) => `${row.line}:${row.text}`),
    ].join('\n'),
    warnings: [],
    review: summary,
  }),

  write: one<op.WriteRequest>('Create a file', {
    path: 'docs/notes.md',
    content: '# Notes\n\nCheck the marks in spring.\n',
  }),
  writeAnswer: one<op.WriteAnswer>('A file was created', {
    path: 'docs/notes.md',
    root: 'workspace',
    tag: 'E31C',
    header: '[docs/notes.md#E31C]',
    created: true,
    bytes: 36,
    content: 'applied: docs/notes.md, 3 lines\n[docs/notes.md#E31C]',
    totalLines: 3,
    warnings: [],
    review: {
      reviewId: 'rv_8b1Tn4s6Lk',
      operation: 'write',
      state: 'active',
      createdAt: at,
      entries: [
        {
          path: 'docs/notes.md',
          status: 'added',
          additions: 3,
          deletions: 0,
          truncated: false,
          reversible: true,
          afterDigest: '7320521f41d819a69c0252f92193921e503abf5cbe03a5b13acc0e0c5516e31c',
        },
      ],
    },
  }),

  snapshots: one<op.SnapshotListAnswer>('What the session has seen', {
    snapshots: [
      {
        path,
        tag: oldTag,
        seen: [{ start: 21, end: 25 }],
        bytes: 731,
        totalLines: 31,
        recordedAt: at,
        retained: true,
      },
    ],
  }),
  registerSnapshot: {
    lines: { summary: 'Some lines were shown', value: { path, seenLines: [{ start: 1, end: 20 }] } },
    unknown: { summary: 'Provenance is unknown', value: { path } },
  },
  snapshot: one<op.SnapshotAnswer>('A registered version', {
    path,
    root: 'workspace',
    tag: oldTag,
    header: `[${path}#${oldTag}]`,
    seen: [{ start: 1, end: 20 }],
    bytes: 731,
    totalLines: 31,
  }),
  registers: one<op.RegisterListAnswer>('One register', {
    registers: [{ name: 'take', lineCount: 2, bytes: 34, updatedAt: at }],
  }),
  register: one<op.RegisterAnswer>('The captured lines', {
    name: 'take',
    lineCount: 2,
    bytes: 34,
    updatedAt: at,
    lines: ['    item.quantity -= quantity', '  }'],
  }),

  reviews: one<op.ReviewListAnswer>('The newest change', { reviews: [summary] }),
  review: one<op.ReviewAnswer>('One change with its rows', review),
  rolledBack: one<op.ReviewAnswer>('A change that was rolled back', { ...review, state: 'rolledBack' }),

  failure: one<op.FailureRequest>('A shell patch failed', { promptId: 'prompt-7', path, kind: 'patch-command' }),
  failureAnswer: one<op.FailureAnswer>('The first counted failure', { guard: { attempt: 1, grace: false } }),
} as const
