/**
 * Why a row of `ops` was refused (contract §7, reading §4): a closed list and its words.
 *
 * A text says what is wrong and what holds instead; the row, what was found and the corrected spelling are added by the
 * table (`row N of ops: TEXT; found "…"; write …`). The parser names the kinds, it writes no text.
 */
const plain = {
  // — the shape of ops —
  'no op': 'ops holds no op; an op begins with PUT, CUT, REM or MV',
  'not an op': 'no op begins like this; ops begin with PUT, CUT, REM or MV',
  'no verb': 'an op begins with its verb, PUT or CUT, before any number',
  'body before op': 'a body row stands above the first op; the header over it says where it goes',
  'file header not first': 'a [path#TAG] line may only be the first row, and one call edits one file',
  'file header form': 'the [path#TAG] line holds a path, #, the 4 hex digits of the tag and ], and it may be left out',
  'remove beside others': 'REM deletes the whole file, so no other op stands beside it; leave one of the two out',

  'escaped line feed': 'rows are separated by line feeds, not by the two characters \\n',

  // — body rows —
  'empty row in body': 'an empty row inside a body is not read; a blank line of the file is written +',
  'row of blanks':
    'a row of blanks is neither an op nor a body row; leave it out, or write + for a blank line of the file',
  'missing plus': 'every body row is + and the final text, there are no context rows',
  'indented plus': 'the + of a body row stands in the first column',
  'minus row': 'there are no - rows; text that begins with - is written behind a +',
  'old row': 'there are no - rows; the header already names the lines that go, so leave their old text out',
  'numbered body row': 'body rows carry no line numbers, only + and the text',
  'missing body':
    'a PUT with a colon needs + rows below it; to delete lines use CUT, for a blank line a row of + alone',
  'missing colon': 'a PUT with rows below it ends in a colon',
  'rows under paste':
    'a register paste takes no rows; leave the rows out, or end the header in a colon in place of the register',
  'rows under cut': 'CUT takes no rows; PUT with a colon puts rows in place of lines',

  // — headers —
  'leading blank': 'a header begins in the first column',
  'verb case': 'verbs are written in capitals',
  spacing: 'one blank stands behind the verb and one before @name, and none elsewhere',
  'leading zero': 'line numbers have no leading zeros',
  'line zero': 'lines are numbered from 1, as Read shows them; the head of the file is PUT <1:',
  'single number': 'a range has two numbers, also for one line',
  'range separator': 'the two numbers of a range are joined by .=',
  'open range': 'the range has no last line',
  'range to the end':
    '$ is no line number, >$ names only the gap at the end; the last line is the totalLines that Read answers, and one line alone is its number twice',
  placeholder: 'a header takes line numbers as Read shows them, not letters',
  locator: 'the header names no lines and no gap; the forms are 5.=7, 5*, <5, >5, >$ and >5*',
  'several ranges': 'one op names one range',
  'block before': 'a block has a gap behind it (>5*), and what goes before it goes before its first line',
  'block at end': '>$ is the end of the file and opens no block',
  'end of file': 'the end of the file is written >$',
  'text behind colon': 'a header takes only numbers; nothing stands behind its colon, text goes into + rows below',
  'text behind header': 'a header takes only numbers and a register, nothing more stands on its row',
  'colon after cut': 'CUT takes neither colon nor rows; PUT with a colon puts rows in place of lines',
  'cut at gap': 'CUT deletes lines, and a gap holds none; name the lines',
  'missing register':
    'a PUT over lines needs a colon with + rows, or a register to paste such as @part; to delete lines use CUT',
  'register with colon': 'a header ends in a register or in a colon, never in both',
  'register sigil': 'a register is written with @',
  'text behind REM': 'REM takes nothing behind it; it deletes the file that path names, and CUT deletes lines',

  // — destinations —
  'no destination': 'MV needs a destination, a path relative to the workspace root',
  'empty destination': 'the quoted destination is empty; it is a path relative to the workspace root',
  'open quote': 'the quoted destination has no closing quote',
  'text behind quote': 'nothing stands behind the closing quote of a destination',
  'unknown escape': 'inside a quoted destination only \\" and \\\\ are escapes',
} as const

/** What was sent in place of our syntax. */
export type ForeignSyntax = 'apply_patch' | 'unified diff' | 'conflict markers' | 'code fence' | 'JSON' | 'markup'

const foreign: Record<ForeignSyntax, string> = {
  apply_patch: 'the apply_patch format is not read here',
  'unified diff': 'a diff is not read here',
  'conflict markers': 'search and replace blocks and conflict markers are not read here',
  'code fence': 'ops stand without a code fence, leave it out',
  JSON: 'ops is plain text in rows, not JSON',
  markup: 'ops is plain text in rows, without tags around it',
}

export type PlainProblem = keyof typeof plain

export type ParseProblem =
  | { readonly kind: PlainProblem }
  | { readonly kind: 'unknown verb'; readonly verb: string }
  | { readonly kind: 'retired verb'; readonly verb: string; readonly now: string }
  | { readonly kind: 'foreign syntax'; readonly syntax: ForeignSyntax }
  /** `repeated` is a number that stands before more than one row. */
  | { readonly kind: 'numbered rows'; readonly repeated?: number }
  | { readonly kind: 'register name'; readonly maxChars: number }
  | { readonly kind: 'rows under'; readonly verb: 'REM' | 'MV' }
  | { readonly kind: 'second move'; readonly firstRow: number }

const isPlain = (problem: ParseProblem): problem is { readonly kind: PlainProblem } =>
  Object.hasOwn(plain, problem.kind)

export function parseProblemText(problem: ParseProblem): string {
  if (isPlain(problem)) return plain[problem.kind]
  switch (problem.kind) {
    case 'unknown verb':
      return `${problem.verb} is no verb; ops begin with PUT, CUT, REM or MV`
    case 'retired verb':
      return `${problem.verb} is no verb here, it is spelled ${problem.now}`
    case 'foreign syntax':
      return `${foreign[problem.syntax]}; a header names lines and + rows below it hold the new text`
    case 'numbered rows':
      return `rows with line numbers are what Read shows, an op names its lines in a header${problem.repeated === undefined ? '' : ` (line ${problem.repeated} is repeated here)`}`
    case 'register name':
      return `a register name is @ and 1 to ${problem.maxChars} letters, digits, _ or -`
    case 'rows under':
      return `${problem.verb} takes no rows; leave them out, or put a PUT header with a colon over them`
    case 'second move':
      return `a file moves once, and row ${problem.firstRow} moves it already; leave one of the two out`
  }
}

/**
 * The next step after a range that ends before it starts. `counted` is the header when the second number was a count, `insert` the one
 * when the range was meant to be empty. Never the numbers exchanged: nobody named those lines.
 */
export function reversedRangeText(p: {
  readonly first: number
  readonly last: number
  readonly counted?: string
  readonly insert?: string
}): string {
  const steps = [
    ...(p.counted === undefined
      ? []
      : [`if ${p.last} is a count of lines and the file has them all, write ${p.counted}`]),
    ...(p.insert === undefined ? [] : [`to insert before line ${p.first}, write ${p.insert}`]),
  ]
  return steps.length === 0 ? 'write the first line of the range first, as Read numbers it' : steps.join('; ')
}
