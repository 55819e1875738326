/**
 * What a model must be told to use the four tools well (contract §13.6): one source for every tool format and for the documentation.
 *
 * Plain text, short lines, because it is paid for in every prompt. Called by tool-definitions.
 */

/** Contract §7.2, one row per form. */
export const operationTable: readonly (readonly [form: string, meaning: string])[] = [
  ['PUT N.=M:', 'replace lines N-M with the body rows (N.=N for one line)'],
  ['PUT N*:', 'replace the block (function, class, section …) that opens at line N'],
  ['PUT <N:', 'insert the body rows before line N; <1 is the head of the file'],
  ['PUT >N:', 'insert the body rows after line N'],
  ['PUT >$:', 'append the body rows at the end of the file'],
  ['PUT >N*:', 'insert the body rows after the end of the block that opens at line N'],
  ['CUT N.=M', 'delete lines N-M'],
  ['CUT N*', 'delete the block that opens at line N'],
  ['CUT N.=M @name', 'delete the lines and keep them in the register @name, which outlives the call'],
  ['PUT >N @name', 'paste the register after line N (also <N and >$)'],
  ['PUT N.=M @name', 'replace the lines with the register (also N*)'],
  ['REM', 'delete the file; stands alone'],
  ['MV new/path', 'move or rename the file, after the other ops of the call'],
]

/** Contract §7.4. */
export const bodyRules: readonly string[] = [
  'A body row is + and then the final text of the line, leading blanks included; a bare + is an empty line.',
  'The body holds only what the file will hold: no - rows, no context rows, no line numbers. Text that begins with + or - is written ++text or +-text.',
  'A header that ends in : takes body rows; a header without : takes none.',
]

export const rules: readonly string[] = [
  'Line numbers and tag come from the newest Read, Grep, Write or Edit of this file: [path#TAG] and N:text rows.',
  'All numbers mean the lines of that version; ops of one call never shift each other.',
  'Ranges name changed lines only.',
  'Only lines that were shown to you, or that belong to the text your own last Write or Edit left, can be anchors.',
  'Re-ground after every edit: use the new tag and the new numbers of its answer, or Read again.',
  'A refusal writes nothing and says the next step; follow it instead of sending the same call again.',
]

export interface AntiPattern {
  readonly name: string
  /** Lines 4-6 of the example file are `function add(a, b) {`, `  return a + b`, `}`. */
  readonly wrong: string
  readonly why: string
  readonly right: string
}

/** The file that every anti-pattern is told on, as Read shows it. */
export const exampleFile = ['4:function add(a, b) {', '5:  return a + b', '6:}'] as const

/** The six worked anti-patterns of contract §13.6. */
export const antiPatterns: readonly AntiPattern[] = [
  {
    name: 'empty PUT used as a delete',
    wrong: 'PUT 5.=5:',
    why: 'a PUT with : needs body rows',
    right: 'CUT 5.=5',
  },
  {
    name: 'range sized to the text after the edit',
    wrong: 'PUT 5.=6:\n+  const sum = a + b\n+  return sum',
    why: 'two new rows replace one old line; the range counts old lines, so line 6 would be lost',
    right: 'PUT 5.=5:\n+  const sum = a + b\n+  return sum',
  },
  {
    name: '- rows or context rows',
    wrong: 'PUT 5.=5:\n-  return a + b\n+  return a - b',
    why: 'the range already says what goes',
    right: 'PUT 5.=5:\n+  return a - b',
  },
  {
    name: 'widened PUT for a pure insertion',
    wrong: 'PUT 4.=5:\n+function add(a, b) {\n+  check(a, b)\n+  return a + b',
    why: 'restating lines that stay is how they get damaged',
    right: 'PUT >4:\n+  check(a, b)',
  },
  {
    name: '>N* anchored on a closer',
    wrong: 'PUT >6*:\n+\n+function sub(a, b) {}',
    why: 'line 6 closes the block; N is the line that opens it',
    right: 'PUT >4*:\n+\n+function sub(a, b) {}',
  },
  {
    name: 'body rows under a register paste',
    wrong: 'PUT >6 @add\n+// moved',
    why: 'a paste takes no rows; the second insert needs its own op at another gap',
    right: 'PUT >6 @add',
  },
]

const indent = (text: string): string =>
  text
    .split('\n')
    .map((row) => `    ${row}`)
    .join('\n')

/** The whole guidance of Edit as plain text. */
export function editGuidance(): string {
  const width = Math.max(...operationTable.map(([form]) => form.length))
  return [
    'Edits one file by line anchors: ops name lines of the version `tag` and supply new content only.',
    '',
    'Operations (one header per line, body rows below it):',
    ...operationTable.map(([form, meaning]) => `  ${form.padEnd(width)}  ${meaning}`),
    '',
    'Body rows:',
    ...bodyRules.map((rule) => `- ${rule}`),
    '',
    'Rules:',
    ...rules.map((rule) => `- ${rule}`),
    '',
    'Mistakes to avoid, on a file that Read shows as',
    indent(exampleFile.join('\n')),
    ...antiPatterns.flatMap(({ name, wrong, why, right }, i) => [
      `${i + 1}. ${name}. Wrong:`,
      indent(wrong),
      `  because ${why}. Right:`,
      indent(right),
    ]),
  ].join('\n')
}

export const readGuidance = [
  'Reads a window of a text file. The answer begins with [path#TAG], then N:text rows with absolute line numbers.',
  'Edit accepts this tag, and the lines shown here as anchors. A row that ends in … was clipped and is no anchor.',
  'Read on with `offset` where the notice says so.',
].join('\n')

export const grepGuidance = [
  'Searches file contents with a regular expression (or plain text with `literal`). Honours .gitignore and .ignore.',
  'Each file is shown as [path#TAG] and its matching lines as N:text rows; only these lines can be anchors of an Edit.',
  '`filesWithMatches` and `count` show no lines, so Read before you edit.',
].join('\n')

export const writeGuidance = [
  'Creates a file, or overwrites it as a whole; to change part of a file use Edit.',
  'Send the plain text, without line numbers and without a [path#TAG] header. The answer gives the new tag, so an Edit may follow at once.',
  'With `tag` only that version is overwritten; without it a file that changed since you last saw it is refused.',
].join('\n')
