/**
 * Schemas of the four tools: Read, Grep, Write, Edit (http-api "Operations", contract §5 and §6).
 *
 * `tag` of Edit is an optional free string, so that a missing or malformed one is answered EDIT_TAG_REQUIRED by the tool (reading §3.0).
 */
import { Type } from '@sinclair/typebox'
import { limits } from '../limits.js'
import {
  Count,
  DryRun,
  Header,
  HunkSchema,
  LineNumber,
  PromptId,
  RequestPath,
  ResolutionSchema,
  Root,
  ShownPath,
  Tag,
  WarningSchema,
  arrayOf,
  oneOf,
  strict,
} from './parts.js'
import { ReviewSummarySchema } from './reviews.js'

const Notice = Type.Optional(Type.String({ description: 'What else the caller should know, and the next step.' }))

// — Read —

export const ReadRequestSchema = strict(
  {
    path: RequestPath,
    offset: Type.Optional(Type.Integer({ minimum: 1, description: 'First line, 1-based. Default 1.' })),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.readMaxLines,
        description: `Lines to show. Default ${limits.readDefaultLines}.`,
      }),
    ),
    raw: Type.Optional(
      Type.Boolean({ description: 'Give the exact text without numbers and header; it still counts as displayed.' }),
    ),
  },
  { title: 'ReadRequest' },
)

export const ReadAnswerSchema = strict(
  {
    path: ShownPath,
    root: Root,
    content: Type.String({
      description: 'The header line, then `N:text` rows, without final newline; or the raw text.',
    }),
    tag: Tag,
    header: Header,
    offset: LineNumber('First line of the window.'),
    lineCount: Count('Lines in the window.'),
    totalLines: Count('Lines of the file.'),
    truncated: Type.Boolean({ description: 'Lines remain below the window.' }),
    fileBytes: Count('Bytes of the file.'),
    lineEnding: oneOf(['LF', 'CRLF'], { description: 'The dominant line ending, which new lines take.' }),
    bom: Type.Boolean({ description: 'The file begins with a byte order mark, which is kept.' }),
    endsWithNewline: Type.Boolean({ description: 'The last line is terminated.' }),
    notice: Notice,
  },
  { title: 'ReadAnswer' },
)

// — Grep —

export const GrepRequestSchema = strict(
  {
    pattern: Type.String({
      minLength: 1,
      maxLength: 4_096,
      description: 'A regular expression in the syntax of Rust regex (ripgrep), or plain text with `literal`.',
    }),
    path: Type.Optional(RequestPath),
    include: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1_024, description: 'Glob of files to search.', examples: ['*.ts'] }),
    ),
    outputMode: Type.Optional(oneOf(['content', 'filesWithMatches', 'count'], { description: 'Default `content`.' })),
    headLimit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.grepMaxHeadLimit,
        description: `Most entries to answer. Default ${limits.grepHeadLimit}.`,
      }),
    ),
    caseInsensitive: Type.Optional(Type.Boolean()),
    literal: Type.Optional(Type.Boolean({ description: 'Search the pattern as plain text.' })),
    includeIgnored: Type.Optional(Type.Boolean({ description: 'Search ignored files too.' })),
  },
  { title: 'GrepRequest' },
)

const grepCommon = {
  tags: Type.Record(Type.String(), Tag, { description: 'Tag of each file shown, by path.' }),
  content: Type.String({ description: 'The text to show a model.' }),
  count: Count('Matching lines in all, or entries of the list.'),
  truncated: Type.Boolean({ description: 'There is more than was answered.' }),
  skipped: strict({
    binary: Count('Files that are not text.'),
    ignored: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'Files that ignore rules left out; null when counting would cost too much.',
    }),
    tooLarge: Count('Files over the size bound.'),
  }),
  notice: Notice,
}

export const GrepContentAnswerSchema = strict(
  {
    matches: arrayOf(
      strict({ path: ShownPath, line: LineNumber('Line number of the match.'), text: Type.String() }),
      'Newest file first, then path, then line.',
    ),
    files: Count('Files with a match.'),
    ...grepCommon,
  },
  { title: 'GrepContentAnswer', description: 'Answer of outputMode `content`. Matched lines count as displayed.' },
)

export const GrepFilesAnswerSchema = strict(
  { files: arrayOf(strict({ path: ShownPath, tag: Tag }), 'Newest first, then path.'), ...grepCommon },
  { title: 'GrepFilesAnswer', description: 'Answer of outputMode `filesWithMatches`. No line counts as displayed.' },
)

export const GrepCountAnswerSchema = strict(
  {
    counts: arrayOf(
      strict({ path: ShownPath, count: Count('Matching lines.'), tag: Tag }),
      'Newest file first, then path.',
    ),
    files: Count('Files with a match.'),
    ...grepCommon,
  },
  { title: 'GrepCountAnswer', description: 'Answer of outputMode `count`. No line counts as displayed.' },
)

export const GrepAnswerSchema = Type.Union([GrepContentAnswerSchema, GrepFilesAnswerSchema, GrepCountAnswerSchema], {
  title: 'GrepAnswer',
})

// — Write —

export const WriteRequestSchema = strict(
  {
    path: RequestPath,
    content: Type.String({ description: 'The whole text of the file.' }),
    tag: Type.Optional(Type.String({ description: 'Overwrite only this version of the file.', examples: ['A1B2'] })),
    dryRun: Type.Optional(DryRun),
    promptId: Type.Optional(PromptId),
  },
  { title: 'WriteRequest' },
)

export const WriteAnswerSchema = strict(
  {
    path: ShownPath,
    root: Root,
    tag: Tag,
    header: Header,
    previousTag: Type.Optional(Tag),
    created: Type.Boolean(),
    bytes: Count('Bytes of the file as it landed.'),
    totalLines: Count('Lines of the file as it landed.'),
    warnings: arrayOf(WarningSchema),
    review: Type.Optional(ReviewSummarySchema),
    content: Type.Optional(Type.String({ description: 'The text to show a model.' })),
  },
  { title: 'WriteAnswer' },
)

// — Edit —

export const EditRequestSchema = strict(
  {
    path: RequestPath,
    tag: Type.Optional(
      Type.String({
        description:
          'Required: the 4 hex digits behind `#` in the newest header of this file. Missing or malformed is answered EDIT_TAG_REQUIRED.',
        examples: ['A1B2'],
      }),
    ),
    ops: Type.String({
      description: `Operation headers with their \`+\` body rows, one per line; at most ${limits.opsBytes} UTF-8 bytes.`,
      examples: ['PUT 2.=2:\n+  console.log("hello")'],
    }),
    dryRun: Type.Optional(DryRun),
    promptId: Type.Optional(PromptId),
  },
  { title: 'EditRequest' },
)

export const EditAnswerSchema = strict(
  {
    path: ShownPath,
    root: Root,
    tag: Type.Optional(Tag),
    header: Type.Optional(Header),
    previousTag: Type.Optional(Tag),
    branch: oneOf(['direct', 'positionStable', 'recovered'], {
      description:
        'How the edit was proven: on the version that the tag names, by its place at head or tail, or line by line on a file that had changed.',
    }),
    ops: arrayOf(Type.String(), 'The op headers, verbatim.'),
    resolutions: arrayOf(ResolutionSchema, 'What block locators stood for; empty on a recovered edit.'),
    hunks: Type.Optional(arrayOf(HunkSchema)),
    hunksTruncated: Type.Optional(Type.Boolean({ description: 'Rows or characters of the hunks were left out.' })),
    shifts: arrayOf(
      strict({
        from: LineNumber('First old line with this offset.'),
        by: Type.Integer({ description: 'What to add to its number.' }),
      }),
      'Cumulative, one entry per change of offset; empty when the edit was not direct.',
    ),
    additions: Count('Lines added.'),
    deletions: Count('Lines deleted.'),
    totalLines: Count('Lines of the file now.'),
    content: Type.String({ description: 'The text to show a model.' }),
    warnings: arrayOf(WarningSchema),
    review: Type.Optional(ReviewSummarySchema),
    movedTo: Type.Optional(ShownPath),
    deleted: Type.Optional(Type.Boolean({ description: 'The file was removed; tag, header and hunks are absent.' })),
  },
  { title: 'EditAnswer' },
)
