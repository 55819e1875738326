/**
 * Pieces that several requests and answers share: paths, tags, spans, hunks, warnings.
 *
 * Schemas are data: they validate requests, give the types of the tools and become the OpenAPI document. A schema with a `title` is a named
 * component of that document. Says nothing about routes. Used by the other schema files.
 */
import type { ObjectOptions, Static, TProperties, TSchema, TString } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { Warning } from '../errors/warnings.js'
import { warningCodes } from '../errors/warnings.js'

/** A type as it is read: arrays and members are readonly at every depth, so that values of the store fit without a copy. */
export type Frozen<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends readonly (infer E)[]
      ? readonly Frozen<E>[]
      : { readonly [K in keyof T]: Frozen<T[K]> }

/** An object without unknown properties; `title` names it in the OpenAPI document. */
export const strict = <P extends TProperties>(properties: P, options: ObjectOptions = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false })

/** One of a closed list of words. */
export const oneOf = <const T extends readonly string[]>(
  values: T,
  options: { description?: string; default?: T[number] } = {},
) => Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options })

export const arrayOf = <T extends TSchema>(items: T, description?: string) =>
  Type.Array(items, description === undefined ? {} : { description })

export const Count = (description: string) => Type.Integer({ minimum: 0, description })

export const LineNumber = (description: string) => Type.Integer({ minimum: 1, description })

export const Time = (description: string): TString =>
  Type.String({ format: 'date-time', description, examples: ['2026-11-30T12:00:00.000Z'] })

export const RequestPath = Type.String({
  minLength: 1,
  description:
    'Path relative to the workspace root with `/`, or absolute below the scratch root or an approved external root.',
  examples: ['src/server.ts'],
})

export const ShownPath = Type.String({
  description: 'Relative to the workspace root with `/`; absolute for scratch and external roots.',
  examples: ['src/server.ts'],
})

export const Tag = Type.String({
  pattern: '^[0-9A-F]{4}$',
  description: 'Version of the whole file: the last four hex digits of SHA-256 over its hash-normalized text.',
  examples: ['A1B2'],
})

export const Header = Type.String({
  description: 'The section header `[path#TAG]` that Edit accepts as its first row.',
  examples: ['[src/server.ts#A1B2]'],
})

export const Root = oneOf(['workspace', 'scratch', 'external'], {
  description: 'Which root of the session holds the file.',
})

export const AccessMode = oneOf(['read-write', 'read-only'], { description: 'Whether files may be changed.' })

/** Any text a caller chooses as an id: no control characters, no lone surrogates. */
export const PromptId = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\p{Cc}\\p{Cs}]*$',
  description: 'Id of the prompt whose failures the repeat guard counts. Without one the guard is off.',
  examples: ['prompt-7'],
})

export const DryRun = Type.Boolean({
  default: false,
  description: 'Answer what would happen and change nothing at all. An Idempotency-Key is ignored.',
})

export const Span = strict(
  { start: LineNumber('First line.'), end: LineNumber('Last line, inclusive.') },
  { title: 'LineSpan', description: 'An inclusive range of 1-based lines.', examples: [{ start: 3, end: 7 }] },
)

export const ShownRow = strict(
  {
    line: LineNumber('Line number in the live file.'),
    text: Type.String({ description: 'The line without its terminator.' }),
    clipped: Type.Boolean({ description: 'The text was cut to the width of a reveal.' }),
  },
  { title: 'ShownRow', description: 'A line that a refusal shows.' },
)

export const HunkSchema = strict(
  {
    oldStart: Count('First old line; numbers the text the edit was applied to.'),
    oldLines: Count('Old lines covered.'),
    newStart: Count('First new line.'),
    newLines: Count('New lines covered.'),
    rows: arrayOf(
      strict({
        kind: oneOf([' ', '-', '+'], { description: 'Context, deleted or added.' }),
        line: LineNumber('Old number for `-`, new number otherwise.'),
        text: Type.String({ description: 'The line without its terminator.' }),
      }),
    ),
  },
  { title: 'Hunk', description: 'A run of changed rows with two rows of context, numbered as unified diffs are.' },
)

export const ResolutionSchema = strict(
  {
    anchorLine: LineNumber('The line that the op named.'),
    start: LineNumber('First line of the block.'),
    end: LineNumber('Last line of the block.'),
    op: oneOf(['cut', 'replace', 'insertAfter']),
  },
  { title: 'Resolution', description: 'What a block locator `N*` stood for.' },
)

export const WarningSchema = Type.Unsafe<Warning>(
  Type.Object(
    { code: oneOf(warningCodes), message: Type.String() },
    {
      title: 'Warning',
      description: 'What a success must still say. Further members depend on the code.',
      additionalProperties: true,
      examples: [
        {
          code: 'RECOVERED_LINE_REMAP',
          message: 'the lines had moved by +2: 10 is now 12',
          offset: 2,
          anchors: [{ from: 10, to: 12 }],
        },
      ],
    },
  ),
)

export type Part<T extends TSchema> = Frozen<Static<T>>
