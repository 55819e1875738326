/**
 * The error table, the warnings, the OpenAPI document and the documentation say the same, in both directions.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { withEnvironmentTable } from '../src/environment.js'
import { errorCodes, errors } from '../src/errors/table.js'
import { warningCodes } from '../src/errors/warnings.js'
import { documentText, readmePath } from '../src/openapi.js'
import { packageRoot } from '../src/package-root.js'

/** The cells of the table rows of a section that begin with a code. */
function rows(markdown: string): string[][] {
  return markdown
    .split('\n')
    .filter((line) => /^\| `[A-Z_]+` \|/.test(line))
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| /, '').replace(/ \|$/, '').replaceAll('`', '')))
}

const [errorSection = '', warningSection = ''] = readFileSync(
  join(packageRoot(import.meta.url), 'docs/errors.md'),
  'utf8',
).split('\n## Warnings\n')

/** The codes of http-api "Errors", with their statuses: written here once more, because nobody may change them by changing the table. */
const agreed: Readonly<Record<number, readonly string[]>> = {
  400: ['INVALID_ARGUMENT', 'EDIT_TAG_REQUIRED', 'EDIT_PARSE_FAILED'],
  401: ['UNAUTHORIZED'],
  403: ['TOOL_DENIED', 'PATH_OUTSIDE_WORKSPACE'],
  404: ['SESSION_NOT_FOUND', 'NOT_FOUND'],
  405: ['METHOD_NOT_ALLOWED'],
  409: [
    'CONFLICT',
    'MUTATION_IN_PROGRESS',
    'EDIT_TAG_MISMATCH',
    'EDIT_TAG_UNKNOWN',
    'WRITE_STALE',
    'EDIT_LINES_UNSEEN',
  ],
  413: ['PAYLOAD_TOO_LARGE', 'FILE_TOO_LARGE'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'TOOL_BINARY_CONTENT', 'ENCODING_UNSUPPORTED'],
  422: [
    'IDEMPOTENCY_KEY_REUSED',
    'EDIT_RANGE_INVALID',
    'EDIT_BLOCK_UNRESOLVED',
    'EDIT_REGISTER_EMPTY',
    'EDIT_REGISTER_AMBIGUOUS',
    'EDIT_REPAIR_AMBIGUOUS',
    'EDIT_NO_CHANGE',
    'EDIT_AMPLIFICATION_LIMIT',
  ],
  429: ['RATE_LIMITED'],
  500: ['TOOL_FAILED', 'INTERNAL'],
  503: ['STORE_UNAVAILABLE', 'OVERLOADED', 'SHUTTING_DOWN'],
  504: ['TIMEOUT'],
}
const retriable = [
  'MUTATION_IN_PROGRESS',
  'RATE_LIMITED',
  'STORE_UNAVAILABLE',
  'OVERLOADED',
  'SHUTTING_DOWN',
  'TIMEOUT',
  'EDIT_TAG_MISMATCH',
  'EDIT_TAG_UNKNOWN',
  'WRITE_STALE',
  'EDIT_LINES_UNSEEN',
]

t.test('the table holds the agreed codes at their statuses, and no other', async (t) => {
  t.same([...errorCodes].sort(), Object.values(agreed).flat().sort())
  for (const [status, codes] of Object.entries(agreed))
    for (const code of codes) t.equal(errors[code as keyof typeof errors].status, Number(status), code)
  t.same(errorCodes.filter((code) => errors[code].retriable).sort(), [...retriable].sort())
})

t.test('the documentation of errors is the table', async (t) => {
  t.same(
    rows(errorSection).map(([code, status, again]) => [code, status, again]),
    errorCodes.map((code) => [code, String(errors[code].status), errors[code].retriable ? 'yes' : 'no']),
  )
})

t.test('the documentation of warnings is the list', async (t) => {
  t.same(
    rows(warningSection).map(([code]) => code),
    [...warningCodes],
  )
})

t.test('the document knows no code that the tables do not', async (t) => {
  const text = await documentText()
  const named = [...text.matchAll(/urn:anchorline:error:([A-Z_]+)/g)].map(([, code]) => code)
  t.same([...new Set(named)].sort(), [...errorCodes].sort())
})

t.test('every title is a short sentence and no two are the same', async (t) => {
  const titles = errorCodes.map((code) => errors[code].title)
  t.equal(new Set(titles).size, titles.length)
  for (const title of titles) t.ok(title.length < 60 && /^[A-Z].*[^.]$/.test(title), title)
})

t.test('the configuration table of the README is made from the schema', async (t) => {
  const readme = readFileSync(readmePath(), 'utf8')
  t.match(readme, /<!-- configuration -->\n\n\| variable \|/)
  t.ok(readme === withEnvironmentTable(readme), 'run npm run openapi and commit the result')
})
