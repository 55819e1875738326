import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { rgPath } from '@vscode/ripgrep'
import fc from 'fast-check'
import t from 'tap'
import { ToolError } from '../../src/errors/tool-error.js'
import type { SearchOptions } from '../../src/workspace/search.js'
import { createSearch } from '../../src/workspace/search.js'
import type { FilesFound, SearchPort, SearchQuery, SearchScope } from '../../src/workspace/search-port.js'

const never = new AbortController().signal
const plain = (pattern: string): SearchQuery => ({ pattern, literal: false, caseInsensitive: false })

/** A tree on disk: text, bytes, or null for a directory; `.` is the root of every search. */
function tree(files: Record<string, string | Buffer | null>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'anchorline-search-test-')))
  for (const [path, content] of Object.entries(files)) {
    const at = join(root, path)
    mkdirSync(content === null ? at : dirname(at), { recursive: true })
    if (content !== null) writeFileSync(at, content)
  }
  t.teardown(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))
  return root
}

/** One search per set of options, because each has a thread. */
const searches = new Map<string, SearchPort>()
function searchWith(options: SearchOptions): SearchPort {
  const key = JSON.stringify(options)
  const known = searches.get(key) ?? createSearch(options)
  searches.set(key, known)
  return known
}

async function find(
  root: string,
  scope: Partial<SearchScope> = {},
  query: SearchQuery = plain('hit'),
  options: SearchOptions = {},
  signal: AbortSignal = never,
): Promise<FilesFound> {
  return searchWith(options).run(query, signal, (search) =>
    search.files({ root, start: '.', includeIgnored: false, countLines: true, ...scope }),
  )
}

const names = (found: FilesFound): string =>
  found.files
    .map((file) => file.path)
    .sort()
    .join(' ')

/** `text:line` of each line, or with `most` 0 the counts. */
async function linesOf(texts: readonly string[], query: SearchQuery, most = 1_000_000): Promise<string> {
  const asked = texts.map((text) => ({
    bytes: Buffer.from(text),
    lineCount: text.split('\n').length - (text.endsWith('\n') || text === '' ? 1 : 0),
  }))
  const { lines, counts, ended } = await searchWith({}).run(query, never, (search) => search.lines(asked, most))
  const words = most === 0 ? counts.map(String) : lines.map(({ text, line }) => `${text}:${line}`)
  return [...words, ...(ended === 'complete' ? [] : [ended])].join(' ')
}

async function refusal(work: Promise<unknown>): Promise<ToolError> {
  const error = await work.then(
    () => undefined,
    (e: unknown) => e,
  )
  if (error instanceof ToolError) return error
  throw new Error(`no refusal but ${String(error)}`)
}

/** Ignore files, then where the search starts, then what it finds. Every other file holds `hit`. */
const ignoreCases: readonly (readonly [string, Record<string, string>, Partial<SearchScope>, string])[] = [
  ['a rule of the root', { '.gitignore': '*.log\n', 'a.log': '', 'a.txt': '', 'd/b.log': '' }, {}, 'a.txt'],
  [
    '.ignore beside .gitignore',
    { '.gitignore': '*.a\n', '.ignore': '*.b\n', '1.a': '', '2.b': '', '3.c': '' },
    {},
    '3.c',
  ],
  ['.ignore beats .gitignore', { '.gitignore': '*.a\n', '.ignore': '!1.a\n', '1.a': '', '2.a': '' }, {}, '1.a'],
  ['a directory', { '.gitignore': 'gen/\n', 'gen/a': '', 'x/gen/b': '', 'x/generic': '' }, {}, 'x/generic'],
  ['a rule bound to the root', { '.gitignore': '/gen\n', 'gen/a': '', 'x/gen/b': '' }, {}, 'x/gen/b'],
  [
    'a deeper file speaks last',
    { '.gitignore': '*.log\n', 'd/.gitignore': '!keep.log\n', 'd/keep.log': '', 'keep.log': '' },
    {},
    'd/keep.log',
  ],
  [
    'a deeper rule stays in its directory',
    { 'd/.gitignore': '*.log\n/top\n', 'd/a.log': '', 'd/e/b.log': '', 'd/top': '', 'd/e/top': '', 'c.log': '' },
    {},
    'c.log d/e/top',
  ],
  [
    'a rule with a slash in the middle',
    { 'd/.gitignore': 'e/*.log\n', 'd/e/a.log': '', 'd/f/e/b.log': '' },
    {},
    'd/f/e/b.log',
  ],
  [
    'negation and comments',
    { '.gitignore': '# *\n*\n!*/\n!*.keep\n', 'a.keep': '', 'd/b.keep': '', 'd/c': '' },
    {},
    'a.keep d/b.keep',
  ],
  [
    'CRLF and a byte order mark in an ignore file',
    { '.gitignore': '\ufeff*.a\r\n*.b\r\n', '1.a': '', '2.b': '', '3.c': '' },
    {},
    '3.c',
  ],
  ['rules of nothing', { '.gitignore': '/\n!\n \n!/\n', 'd/.gitignore': '/\n', a: '', 'd/b': '' }, {}, 'a d/b'],
  [
    'a rule that is no glob',
    { '.gitignore': 'a[\n*.b\n', 'd/.gitignore': '{x\n*.c\n', '1.a': '', '2.b': '', 'd/3.c': '' },
    {},
    '1.a',
  ],
  [
    'names with the characters of globs',
    { 'q-]^!\\*?{a},[b] #/.gitignore': 'no\n', 'q-]^!\\*?{a},[b] #/no': '', 'q-]^!\\*?{a},[b] #/yes': '', 'q/no': '' },
    {},
    'q-]^!\\*?{a},[b] #/yes q/no',
  ],
  ['hidden files are searched', { '.env': '', '.github/w.yml': '' }, {}, '.env .github/w.yml'],
  [
    '.git and node_modules are not',
    { '.git/config': '', 'node_modules/p/i.js': '', 'd/node_modules/i.js': '', 'd/.git': '', 'src/a': '' },
    {},
    'src/a',
  ],
  [
    'a rule may bring node_modules back',
    { '.gitignore': '!node_modules\n', 'node_modules/a': '' },
    {},
    'node_modules/a',
  ],
  ['no rule brings .git back', { '.gitignore': '!.git\n!.*\n', '.git/config': '', a: '' }, {}, 'a'],
  [
    'includeIgnored lifts rules, and .git stays out',
    { '.gitignore': '*\n', 'node_modules/a': '', b: '', '.git/c': '' },
    { includeIgnored: true },
    'b node_modules/a',
  ],
  [
    'below a start the rules above it count',
    { '.gitignore': '*.log\n', 'd/a.log': '', 'd/b.txt': '', 'c.txt': '' },
    { start: 'd' },
    'd/b.txt',
  ],
  [
    'and so do those between',
    { 'd/.gitignore': '*.log\n', 'd/e/a.log': '', 'd/e/b.txt': '', 'd/c.txt': '' },
    { start: 'd/e' },
    'd/e/b.txt',
  ],
  ['a rule of a sibling does not', { 'x/.gitignore': '*\n', 'd/a': '' }, { start: 'd' }, 'd/a'],
  [
    'what a rule brings back beside the start stays out',
    { '.gitignore': '!keep\n', keep: '', 'd/a': '', 'e/keep': '' },
    { start: 'd' },
    'd/a',
  ],
  [
    'a start that is ignored is searched',
    { '.gitignore': 'gen/\n', 'gen/a.py': '', 'gen/d/b.py': '' },
    { start: 'gen' },
    'gen/a.py gen/d/b.py',
  ],
  [
    'and one below an ignored directory',
    { '.gitignore': 'gen/\n', 'gen/d/b.py': '' },
    { start: 'gen/d' },
    'gen/d/b.py',
  ],
  [
    'a start whose files are all ignored is searched',
    { '.gitignore': 'gen/**\n', 'gen/a': '' },
    { start: 'gen' },
    'gen/a',
  ],
  [
    'a start that ignores itself is searched',
    { 'cache/.gitignore': '*\n', 'cache/a': '' },
    { start: 'cache' },
    'cache/a',
  ],
  [
    'other rules count in a start that is ignored',
    { '.gitignore': 'gen/\n*.tmp\n', 'gen/a': '', 'gen/b.tmp': '' },
    { start: 'gen' },
    'gen/a',
  ],
  [
    'a start in node_modules',
    { 'node_modules/p/i.js': '', 'node_modules/p/node_modules/q/i.js': '' },
    { start: 'node_modules/p' },
    'node_modules/p/i.js',
  ],
  ['a start in .git', { '.git/config': '', '.git/hooks/h': '' }, { start: '.git' }, '.git/config .git/hooks/h'],
  ['a start with the characters of globs', { 'a[b]/x': '', 'ab/y': '', 'a [/z': '' }, { start: 'a[b]' }, 'a[b]/x'],
  ['a start beside one that begins alike', { 'src/a': '', 'src2/b': '' }, { start: 'src' }, 'src/a'],
  ['a start that ends in blanks', { 'd \u00a0/a': '', 'd/b': '' }, { start: 'd \u00a0' }, 'd \u00a0/a'],
  ['a start with a line break in its name', { 'd\ne/a': '', 'd/b': '' }, { start: 'd\ne' }, 'd\ne/a'],
  ['a name that begins with a dash', { '-e': '', '--no-ignore/x': '' }, { start: '--no-ignore' }, '--no-ignore/x'],
]

t.test('what is searched under ignore rules', async (t) => {
  for (const [name, files, scope, expected] of ignoreCases) {
    const root = tree(
      Object.fromEntries(
        Object.entries(files).map(([path, text]) => [path, /(^|\/)\.(git)?ignore$/.test(path) ? text : 'hit\n']),
      ),
    )
    t.equal(names(await find(root, scope)), expected, name)
  }
})

t.test('ignore files above the root and of the machine do not count', async (t) => {
  const outer = tree({
    '.gitignore': '*\n',
    '.ignore': '*\n',
    '.git/config': '',
    'ws/a': 'hit\n',
    'ws/.git/info/exclude': '*\n',
  })
  t.equal(names(await find(join(outer, 'ws'))), 'a')
})

t.test('ignore files that are no regular files are not read', { timeout: 20_000 }, async (t) => {
  const outside = tree({ rules: 'a\n' })
  const root = tree({ 'd/a': 'hit\n', 'e/a': 'hit\n', 'f/a': 'hit\n', 'g/.gitignore/x': 'hit\n' })
  symlinkSync('/dev/zero', join(root, 'd/.gitignore'))
  symlinkSync(join(outside, 'rules'), join(root, '.ignore'))
  execFileSync('mkfifo', [join(root, 'e/.gitignore'), join(root, '.gitignore')])
  t.equal(names(await find(root)), 'd/a e/a f/a g/.gitignore/x')
})

t.test('ignore files beyond the bounds are said', async (t) => {
  const root = tree({ 'd/.gitignore': `${'#'.repeat(300_000)}\na\n`, 'd/a': 'hit\n' })
  t.match(await find(root), { rulesLeftOut: true })
  const many = tree({ '.gitignore': `${'x\n'.repeat(6_000)}a\n`, a: 'hit\n' })
  t.match(await find(many), { rulesLeftOut: true })
})

const part = fc.constantFrom('a', 'b', 'c.log', 'd', 'e f', 'x[1]')
const rule = fc
  .tuple(
    fc.constantFrom('', '', '!'),
    fc.constantFrom('', '/', '**/'),
    fc.array(fc.oneof(part, fc.constantFrom('*', '**', '*.log', '[ab]', '?')), { minLength: 1, maxLength: 2 }),
    fc.constantFrom('', '/'),
  )
  .map(([not, from, parts, to]) => not + from + parts.join('/') + to)
const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
const ignoreFile = fc.record({
  dir: fc.oneof(
    fc.constant(''),
    path.map((dir) => `${dir}/`),
  ),
  name: fc.constantFrom('.gitignore', '.gitignore', '.ignore'),
  rules: fc.array(rule, { minLength: 1, maxLength: 4 }),
})

/** What ripgrep searches when it reads the ignore files by itself, which is safe in a tree of ours. */
function byRipgrep(root: string): string[] {
  const args = [
    '--no-config',
    '--files',
    '--hidden',
    '--no-require-git',
    '--no-ignore-global',
    '--no-ignore-parent',
    '--null',
    '.',
  ]
  const out = spawnSync(rgPath, args, { cwd: root, encoding: 'utf8' }).stdout
  return out
    .split('\0')
    .filter((file) => file !== '')
    .map((file) => file.replace('./', ''))
    .sort()
}

t.test('our one file of rules means what ripgrep makes of the many', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(path, { minLength: 1, maxLength: 8 }),
      fc.array(ignoreFile, { maxLength: 3 }),
      path,
      async (files, ignores, start) => {
        const root = realpathSync(mkdtempSync(join(tmpdir(), 'anchorline-search-test-')))
        try {
          const put = (at: string, text: string): void => {
            try {
              mkdirSync(dirname(join(root, at)), { recursive: true })
              writeFileSync(join(root, at), text)
            } catch {
              // A name is a file here and a directory there: the first one stays.
            }
          }
          for (const file of files) put(file, 'hit\n')
          for (const { dir, name, rules } of ignores) put(dir + name, `${rules.join('\n')}\nhit-free-rule\n`)
          const all = byRipgrep(root).filter((file) => !/ignore$/.test(file))
          const query = plain('^hit$')
          assert.equal(names(await find(root, {}, query)), all.join(' '))
          if (!existsSync(join(root, start)) || !lstatSync(join(root, start)).isDirectory()) return
          const below = all.filter((file) => file.startsWith(`${start}/`))
          if (below.length > 0) assert.equal(names(await find(root, { start }, query)), below.join(' '))
        } finally {
          rmSync(root, { recursive: true, force: true })
        }
      },
    ),
    { numRuns: 40 },
  )
})

const includeCases: readonly (readonly [string, string])[] = [
  ['*.ts', 'a.ts src/b.ts src/d/c.ts'],
  ['*.{ts,tsx}', 'a.ts src/b.ts src/d/c.ts src/e.tsx'],
  ['src/*.ts', 'src/b.ts'],
  ['src/**', 'src/.h.js src/[x].md src/b.ts src/d/c.ts src/e.tsx'],
  ['src/', 'src/.h.js src/[x].md src/b.ts src/d/c.ts src/e.tsx'],
  ['./src/**/*.ts', 'src/b.ts src/d/c.ts'],
  ['/a.ts', 'a.ts src/b.ts src/d/c.ts'.slice(0, 4)],
  ['**/c.ts', 'src/d/c.ts'],
  ['{a,src/b}.ts', 'a.ts src/b.ts'],
  ['[!a].ts', 'src/b.ts src/d/c.ts'],
  ['[a-b].ts', 'a.ts src/b.ts'],
  ['?.tsx', 'src/e.tsx'],
  ['!*.ts', 'src/.h.js src/[x].md src/e.tsx'],
  ['\\[x\\].md', 'src/[x].md'],
  ['[[]x].md', 'src/[x].md'],
  ['.*', 'src/.h.js'],
  ['no', ''],
]

t.test('include globs', async (t) => {
  const root = tree(
    Object.fromEntries(
      ['a.ts', 'src/b.ts', 'src/d/c.ts', 'src/e.tsx', 'src/.h.js', 'src/[x].md'].map((file) => [file, 'hit\n']),
    ),
  )
  for (const [include, expected] of includeCases) t.equal(names(await find(root, { include })), expected, include)
  t.equal(names(await find(root, { include: 'd/*.ts', start: 'src' })), 'src/d/c.ts', 'from the start')
  t.equal(names(await find(root, { include: 'src/d/*.ts', start: 'src' })), 'src/d/c.ts', 'from the root')
})

t.test('an include glob does not bring ignored files back', async (t) => {
  const root = tree({ '.gitignore': '*.log\n!keep.md\n', 'a.log': 'hit\n', 'keep.md': 'hit\n' })
  t.equal(names(await find(root, { include: '*.log' })), '')
})

t.test('a hostile glob is refused or cheap', async (t) => {
  const root = tree({ [`d/${'a'.repeat(200)}`]: 'hit\n' })
  for (const include of ['*a'.repeat(32) + 'b', '{a,b}'.repeat(5), 'x/**/'.repeat(16) + 'b', '?'.repeat(32)]) {
    const started = performance.now()
    await find(root, { include })
    t.ok(performance.now() - started < 5_000, include)
  }
  for (const include of ['*'.repeat(40), '{a,b}'.repeat(12), '{'.repeat(400), '[a', '{a'])
    t.match(await refusal(find(root, { include })), { code: 'INVALID_ARGUMENT' }, include)
})

t.test('newest files come first, then by path', async (t) => {
  const root = tree({ a: 'hit\n', b: 'hit\n', c: 'hit\n', d: 'hit\n' })
  for (const [name, seconds] of Object.entries({ a: 1_000, b: 3_000, c: 1_000, d: 2_000 }))
    utimesSync(join(root, name), seconds, seconds)
  t.equal((await find(root)).files.map((file) => file.path).join(''), 'bdac')
})

t.test('what was left out is counted', async (t) => {
  const root = tree({
    '.gitignore': '*.log\ngen/\n',
    'a.log': '',
    'gen/b': '',
    'gen/c': '',
    'node_modules/d': '',
    '.git/e': '',
    f: 'hit\n',
    big: 'hit\n'.repeat(100),
    'big.log': 'hit\n'.repeat(100),
  })
  t.match(await find(root, {}, plain('hit'), { maxFileBytes: 50 }), { ignored: 5, tooLarge: 1, files: [{ path: 'f' }] })
  t.match(await find(root, { includeIgnored: true }, plain('hit'), { maxFileBytes: 50 }), { ignored: 0, tooLarge: 2 })
  t.match(await find(root, {}, plain('hit'), { searchCountFiles: 3 }), {
    ignored: null,
    tooLarge: null,
    ended: 'complete',
  })
})

t.test('files that may not be read are as if they were not there', async (t) => {
  const root = tree({ 'private/a': 'hit\n', b: 'hit\n', 'c.key': 'hit\n' })
  const found = await find(root, { includeIgnored: true }, plain('hit'), {
    denyRead: ['private/**', '*.key'],
  })
  t.match(found, { files: [{ path: 'b' }], ignored: 0 })
  t.equal(found.files.length, 1)
})

t.test('links are not followed, pipes and devices not opened', { timeout: 20_000 }, async (t) => {
  const outside = tree({ secret: 'hit\n', 'd/secret': 'hit\n' })
  const root = tree({ 'd/a': 'hit\n' })
  symlinkSync(join(outside, 'secret'), join(root, 'file'))
  symlinkSync(outside, join(root, 'dir'))
  symlinkSync('d', join(root, 'inside'))
  symlinkSync('/dev/zero', join(root, 'zero'))
  symlinkSync('.', join(root, 'loop'))
  execFileSync('mkfifo', [join(root, 'pipe')])
  t.equal(names(await find(root, { includeIgnored: true })), 'd/a')
})

const lineCases: readonly (readonly [string, SearchQuery, readonly string[], string])[] = [
  ['lines of several texts', plain('hit'), ['hit\nx\nhit\n', '', 'a hit', 'hit\n'], '0:1 0:3 2:1 3:1'],
  ['an end of line before CRLF', plain('x$'), ['x\r\nyx\r\nx y\r\n'], '0:1 0:2'],
  ['a start of line in every text', plain('^x'), ['x\n', 'x\nyx\n'], '0:1 1:1'],
  ['an empty line', plain('^$'), ['\na\n\r\n', 'b'], '0:1 0:3'],
  ['a NUL far into the text', plain('hit'), [`${'a\n'.repeat(9_000)}\0\nhit\n`], '0:9002'],
  ['characters that end no line', plain('hit'), ['a\fb\u0085c\u2028d\rhit\nhit\n'], '0:1 0:2'],
  ['a byte order mark that is content', plain('^.hit'), ['\ufeffhit\n'], '0:1'],
  ['plain text', { ...plain('a.b('), literal: true }, ['a.b(\naxb(\n'], '0:1'],
  ['either case', { ...plain('É'), caseInsensitive: true }, ['é\n'], '0:1'],
  ['exact case', plain('hit'), ['HIT\nhit\n'], '0:2'],
  ['a pattern that begins with a dash', plain('-e'), ['a -e\n--files\n'], '0:1'],
  ['a pattern that looks like an option', plain('--files'), ['a\n--files\n'], '0:2'],
  ['the start of the text is the start of a line', plain('\\Ahit'), ['a\nhit\n', 'hit\n'], '0:2 1:1'],
  ['nothing', plain('no'), ['a\n'], ''],
]

t.test('lines of texts', async (t) => {
  for (const [name, query, texts, expected] of lineCases) t.equal(await linesOf(texts, query), expected, name)
  t.equal(await linesOf(['hit\n'.repeat(100_000)], plain('hit'), 2), '0:1 0:2 enough')
  t.equal(await linesOf(['hit\n', 'hit\nhit\n'], plain('hit'), 3), '0:1 1:1 1:2')
  t.equal(await linesOf(['hit\n', 'x\n', '', 'hit\n'.repeat(1_000_000)], plain('hit'), 0), '1 0 0 1000000')
})

t.test('many matches on one long line cost neither time nor memory', async (t) => {
  t.equal(await linesOf(['a'.repeat(20_000_000)], plain('a')), '0:1')
  t.equal(await linesOf(['a\n'.repeat(100) + 'a'.repeat(20_000_000)], plain('a'), 0), '101')
})

const endCases: readonly (readonly [string, SearchQuery, readonly string[], readonly number[]])[] = [
  ['the first match of each line', plain('hit'), ['hit hit', 'a hit', 'b'], [3, 5, 0]],
  ['bytes, not characters', plain('é+'), ['aé漢éé', '漢é'], [3, 5]],
  ['alternatives and anchors', plain('^x|y$|z'), ['x z', 'a y', 'az y'], [1, 3, 2]],
  ['plain text', { ...plain('a.b('), literal: true }, ['axb( a.b(!', 'a.b('], [9, 4]],
  [
    'plain text with every sign',
    { ...plain('\\^$.*+?()[]{}|#&~-/<>'), literal: true },
    ['a\\^$.*+?()[]{}|#&~-/<>b'],
    [22],
  ],
  ['either case', { ...plain('HIT'), caseInsensitive: true }, ['a hit'], [5]],
  ['a match over the whole line', plain('.*'), ['abc'], [3]],
]

t.test('ends of first matches', async (t) => {
  for (const [name, query, lines, expected] of endCases) {
    const ends = await searchWith({}).run(query, never, (search) => search.ends(lines.map((line) => Buffer.from(line))))
    t.strictSame(ends, expected, name)
  }
  const long = Buffer.from(`${'a'.repeat(10_000_000)}hit${'a'.repeat(10_000_000)}`)
  t.strictSame(await searchWith({}).run(plain('hit'), never, (search) => search.ends([long])), [10_000_003])
})

const patternCases: readonly (readonly [string, RegExp])[] = [
  ['foo(bar[', /at character 8: unclosed character class; .*literal: true/],
  ['é(', /at character 2: unclosed group/],
  ['a{2', /at character 2: /],
  ['(?=x)', /at character 1: look-around/],
  ['*', /at character 1: repetition operator missing expression/],
  ['a\\nb', /"\\n" is not allowed/],
  ['(a{1000}){1000}', /exceeds size limit/],
  ['\\p{Nope}', /Unicode property not found/],
  ['(?P<n>a)(?P<n>b)', /duplicate capture group name/],
]

t.test('a pattern that is none says where and offers literal', async (t) => {
  const root = tree({ 'regex parse error': 'hit\n' })
  for (const [pattern, words] of patternCases) {
    const found = await refusal(find(root, {}, plain(pattern)))
    t.equal(found.code, 'INVALID_ARGUMENT', pattern)
    t.match(found.detail, words, pattern)
    t.match(await refusal(linesOf(['a\n'], plain(pattern))), { detail: words }, `${pattern} in lines`)
  }
})

t.test('plain text may hold a carriage return, but not end in one', async (t) => {
  const root = tree({ a: 'hit\rhit\rfoo\n', b: 'hit\r\n' })
  const literal = (pattern: string): SearchQuery => ({ ...plain(pattern), literal: true })
  t.equal(names(await find(root, {}, literal('hit\rhit'))), 'a')
  t.equal(names(await find(root, {}, literal('hit'))), 'a b')
  t.match(await refusal(find(root, {}, literal('hit\r'))), { code: 'INVALID_ARGUMENT', detail: /leave it out/ })
})

t.test('braces in ignore rules mean themselves', async (t) => {
  const root = tree({
    '.gitignore': '{a,b}\n{{c}}/d\n*.{x\n[{]e\n\\{f\n',
    a: 'hit\n',
    b: 'hit\n',
    '{a,b}': 'hit\n',
    'g.{x': 'hit\n',
    '{e': 'hit\n',
    '{f': 'hit\n',
    '{{c}}/d': 'hit\n',
    '{{c}}/e': 'hit\n',
    'sub/.ignore': '{g}\n',
    'sub/{g}': 'hit\n',
    'sub/g': 'hit\n',
  })
  t.equal(names(await find(root)), 'a b sub/g {{c}}/e')
})

t.test('a comment on the last line of a verbose pattern ends with it', async (t) => {
  const root = tree({ a: 'a hit\n', b: '(?x)hi t # c\n' })
  t.equal(names(await find(root, {}, plain('(?x) h it # what is looked for'))), 'a')
  t.equal(names(await find(root, {}, plain('(?ix)H IT#'))), 'a')
  t.equal(names(await find(root, {}, { ...plain('(?x)hi t # c'), literal: true })), 'b')
  const long = Buffer.from(`${'a'.repeat(10_000)}hit`)
  t.strictSame(await searchWith({}).run(plain('(?x)h it # c'), never, (search) => search.ends([long])), [10_003])
})

t.test('ripgrep takes no settings from its surroundings', async (t) => {
  const root = tree({ config: '--invert-match\n', a: 'hit\n' })
  process.env['RIPGREP_CONFIG_PATH'] = join(root, 'config')
  t.teardown(() => delete process.env['RIPGREP_CONFIG_PATH'])
  t.equal(names(await find(root)), 'a')
})

/** Processes of ripgrep that work in `root`. */
function processesIn(root: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && realpathSync(`/proc/${pid}/cwd`) === root
    } catch {
      return false
    }
  }).length
}

/** A program in the place of ripgrep that never ends. */
function stuck(): string {
  const dir = tree({ rg: '#!/bin/sh\nexec sleep 60\n' })
  execFileSync('chmod', ['+x', join(dir, 'rg')])
  return join(dir, 'rg')
}

t.test('the deadline ends a search and its process', async (t) => {
  const root = tree({ a: 'hit\n' })
  const started = performance.now()
  const found = await find(root, {}, plain('hit'), { rgPath: stuck(), searchMs: 300, searchCountMs: 100 })
  t.match(found, { ended: 'deadline', files: [], ignored: null })
  t.ok(performance.now() - started < 5_000)
  t.equal(processesIn(root), 0)
})

t.test('an abort ends a search and its process, with its reason', async (t) => {
  const root = tree({ a: 'hit\n' })
  const stop = new AbortController()
  const work = find(root, {}, plain('hit'), { rgPath: stuck() }, stop.signal)
  await sleep(200)
  stop.abort(new Error('the client is gone'))
  await t.rejects(work, { message: 'the client is gone' })
  t.equal(processesIn(root), 0)
})

t.test('a search that is left early leaves no process', async (t) => {
  const root = tree({ a: 'hit\n' })
  const search = createSearch({ rgPath: stuck() })
  await t.rejects(
    search.run(plain('hit'), never, async (running) => {
      void running.files({ root, start: '.', includeIgnored: false, countLines: true }).catch(() => undefined)
      await sleep(200)
      throw new Error('left')
    }),
    { message: 'left' },
  )
  t.equal(processesIn(root), 0)
})

t.test('a ripgrep that cannot be started is a fault, and every turn comes back', async (t) => {
  const root = tree({ a: 'hit\n' })
  for (let i = 0; i < 6; i++) {
    await t.rejects(find(root, {}, plain('hit'), { rgPath: '/nonexistent/rg', searchesWaiting: 0 }), {
      message: /ENOENT/,
    })
  }
})

t.test('too many files end a search', async (t) => {
  const root = tree(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, 'hit\n'])))
  const found = await find(root, {}, plain('hit'), { searchFiles: 10 })
  t.equal(found.ended, 'tooMany')
  t.ok(found.files.length >= 10)
})

t.test('searches take turns, in order, and overload is said', async (t) => {
  const search = createSearch({ searchesAtOnce: 2, searchesWaiting: 2, searchWaitMs: 10_000 })
  const order: number[] = []
  const doors: (() => void)[] = []
  const enter = (i: number): Promise<void> =>
    search.run(plain('x'), never, async () => {
      order.push(i)
      await new Promise<void>((resolve) => doors.push(resolve))
    })
  const running = [enter(0), enter(1)]
  await sleep(10)
  const waiting = [enter(2), enter(3)]
  await sleep(10)
  t.match(await refusal(enter(4)), { code: 'OVERLOADED' }, 'the queue is full')
  t.strictSame(order, [0, 1])
  doors.shift()?.()
  await sleep(20)
  t.strictSame(order, [0, 1, 2])
  const gone = new AbortController()
  const impatient = search.run(plain('x'), gone.signal, async () => order.push(9))
  gone.abort(new Error('gone'))
  await t.rejects(impatient, { message: 'gone' })
  while (order.length < 4 || doors.length > 0) {
    doors.shift()?.()
    await sleep(5)
  }
  await Promise.all([...running, ...waiting])
  t.strictSame(order, [0, 1, 2, 3])
  t.equal(await search.run(plain('x'), never, async () => 'free'), 'free', 'every turn came back')
})

t.test('a wait for a turn that takes too long is OVERLOADED', async (t) => {
  const search = createSearch({ searchesAtOnce: 1, searchWaitMs: 50 })
  let open = (): void => undefined
  const first = search.run(plain('x'), never, () => new Promise<void>((resolve) => (open = resolve)))
  t.match(await refusal(search.run(plain('x'), never, async () => undefined)), { code: 'OVERLOADED' })
  open()
  await first
  await t.rejects(
    search.run(plain('x'), never, async () => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  )
  t.equal(await search.run(plain('x'), never, async () => 'free'), 'free')
})

t.test('what stands at a path', async (t) => {
  const root = tree({ 'd/a': 'x' })
  symlinkSync('d', join(root, 'link'))
  await searchWith({}).run(plain('x'), never, async (search) => {
    t.equal(await search.kindOf(join(root, 'd')), 'directory')
    t.equal(await search.kindOf(join(root, 'd/a')), 'file')
    t.equal(await search.kindOf(join(root, 'link')), 'other')
    t.equal(await search.kindOf(join(root, 'no')), 'absent')
    t.equal(await search.kindOf(join(root, 'd/a/b')), 'absent')
  })
})

t.test('a tree that changes all the time is searched to the end', { timeout: 30_000 }, async (t) => {
  const root = tree({ 'd/a': 'hit\n', keep: 'hit\n' })
  const script = `while :; do rm -rf d; ln -s /etc d; rm -f d; mkdir -p d/e; echo hit > d/e/f; done`
  const racer = spawn('/bin/sh', ['-c', script], { cwd: root, stdio: 'ignore' })
  t.teardown(() => racer.kill('SIGKILL'))
  for (let i = 0; i < 20; i++) {
    const found = await find(root, {}, plain('hit|root'))
    t.ok(names(found).split(' ').includes('keep'))
    t.equal(found.ended, 'complete')
  }
})
