/**
 * What opens where, against the corpora, and the laws that hold for every file (reading §7).
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { packageRoot } from '../../src/package-root.js'
import { languages } from '../../src/syntax/languages.js'
import type { CleanText } from '../../src/syntax/parser-host.js'
import { inTerms, samples } from './corpus.js'
import { index, languageOf, parse, tryParse } from './parsing.js'

interface Span {
  readonly start: number
  readonly end: number
}

function answersOf(path: string, text: string): (number | string)[] {
  const { blocks, lines } = parse(path, text)
  return Array.from({ length: lines.count }, (_, row) => inTerms(blocks.at(row + 1)))
}

function spansOf({ blocks, lines }: CleanText): Span[] {
  return Array.from({ length: lines.count }, (_, row) => blocks.at(row + 1)).flatMap((answer) =>
    answer.found ? [answer.span] : [],
  )
}

function withSource(text: string, answers: readonly (number | string)[]): string[] {
  const lines = text.split('\n')
  return answers.map((answer, row) => `${row + 1} ${answer} | ${lines[row] ?? ''}`)
}

for (const { language, path, title, text, expected } of samples) {
  t.test(`${language}: ${path}, ${title}`, async (t) => {
    t.equal(languageOf(path, text).name, language)
    t.same(withSource(text, answersOf(path, text)), withSource(text, expected))
  })
}

t.test('every language has a corpus, and each of the thirteen at least forty anchors', async (t) => {
  const anchors = new Map<string, number>()
  for (const { language, expected } of samples) {
    const spoken = expected.filter((answer) => answer !== 'blank-line').length
    anchors.set(language, (anchors.get(language) ?? 0) + spoken)
  }
  const thirteen = 'bash css html javascript json jsx markdown python rust toml tsx typescript yaml'.split(' ')
  for (const name of thirteen) t.ok((anchors.get(name) ?? 0) >= 40, `${name} has ${anchors.get(name) ?? 0}`)
  for (const { name } of languages) t.ok((anchors.get(name) ?? 0) >= 5, `${name} has ${anchors.get(name) ?? 0}`)
})

/** Real files of the packages that this project names, a few of each kind, spread over all there are. */
const perExtension = 6
const extensions = '.ts .js .mjs .json .md .css .html .yml .yaml .toml .py .sh .c .h .go .php'.split(' ')
const largestFile = 60_000

function realFiles(): { readonly path: string; readonly text: string }[] {
  const root = packageRoot(import.meta.url)
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
    'dependencies' | 'devDependencies',
    Record<string, string>
  >
  const names = [
    ...Object.keys({ ...dependencies, ...devDependencies }),
    'node-gyp',
    'flatted',
    'typescript-eslint',
  ].sort()
  const all = names.flatMap((name) => filesBelow(join(root, 'node_modules', name)))
  return extensions.flatMap((extension) => {
    const files = all.filter((path) => path.endsWith(extension))
    const step = Math.max(1, Math.floor(files.length / perExtension))
    return files
      .filter((_, at) => at % step === 0)
      .slice(0, perExtension)
      .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
  })
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules')
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return filesBelow(path)
      return entry.isFile() && statSync(path).size <= largestFile ? [path] : []
    })
    .sort()
}

const texts = [...samples, ...realFiles()].filter(({ path, text }) => tryParse(path, text).clean)

t.test(
  'a span starts at its anchor, holds two lines or more, and ends on a line with something of its own',
  async (t) => {
    for (const { path, text } of texts) {
      const parsed = parse(path, text)
      const isMarkdown = languageOf(path, text).name === 'markdown'
      for (const { start, end } of spansOf(parsed)) {
        const answer = parsed.blocks.at(start)
        if (!answer.found || answer.span.start !== start || end <= start) t.fail(`${path}:${start}-${end}`)
        // The section of a heading takes the blank lines before the next one.
        if (!isMarkdown && parsed.lines.firstColumn(end - 1) === undefined)
          t.fail(`${path}:${start} ends on blank line ${end}`)
        const last = parsed.blocks.at(end)
        if (!last.found && last.reason.kind === 'comment-only')
          t.fail(`${path}:${start} ends on a comment in line ${end}`)
      }
    }
    t.ok(texts.length > 80, `${texts.length} files`)
  },
)

t.test('spans of two anchors nest or are disjoint', async (t) => {
  for (const { path, text } of texts) {
    const open: Span[] = []
    for (const span of spansOf(parse(path, text))) {
      while ((open.at(-1)?.end ?? Infinity) < span.start) open.pop()
      if (span.end > (open.at(-1)?.end ?? Infinity)) t.fail(`${path}: ${JSON.stringify([open.at(-1), span])}`)
      open.push(span)
    }
  }
})

/** Languages in which an element leaves its separator behind, or a root its file. */
const notCut = new Set(['json', 'xml', 'markdown'])

t.test('cutting a top-level construct from a file that parses leaves a file that parses', async (t) => {
  let cuts = 0
  for (const { path, text } of texts) {
    if (notCut.has(languageOf(path, text).name)) continue
    for (const { start, end } of topLevel(spansOf(parse(path, text))).slice(0, 6)) {
      const rest = text.split('\n').filter((_, row) => row + 1 < start || row + 1 > end)
      if (rest.every((line) => line.trim() === '')) continue
      cuts++
      if (!tryParse(path, rest.join('\n')).clean) t.fail(`${path} without ${start}-${end}`)
    }
  }
  t.ok(cuts > 100, `${cuts} cuts`)
})

function topLevel(spans: readonly Span[]): Span[] {
  let last = 0
  return spans.filter((span) => {
    const isTop = span.start > last
    if (isTop) last = span.end
    return isTop
  })
}

t.test('line endings and a missing final line break change no answer', async (t) => {
  for (const { path, text } of texts) {
    const told = answersOf(path, text)
    t.same(answersOf(path, text.replaceAll(/\r?\n/g, '\r\n')), told, path)
    if (text.endsWith('\n') && !text.endsWith('\n\n')) t.same(answersOf(path, text.slice(0, -1)), told, path)
  }
})

t.test('lines put before a file move its spans and nothing else', async (t) => {
  // Front matter and shebangs are what they are in the first line only.
  const movable = samples.filter(({ path, text }) => !/^(?:---|#!|<\?|\/\/!)/.test(text) && !path.endsWith('.php'))
  fc.assert(
    fc.property(fc.constantFrom(...movable), fc.integer({ min: 1, max: 40 }), ({ path, text, expected }, blanks) => {
      const moved = answersOf(path, '\n'.repeat(blanks) + text).slice(blanks)
      t.same(
        moved,
        expected.map((answer) => (typeof answer === 'number' ? answer + blanks : answer)),
      )
    }),
    { numRuns: 60, verbose: true },
  )
})

t.test('a refusal names what encloses the line, and else what comes next', async (t) => {
  const { blocks } = parse('a.ts', '// c\n\nfunction f() {\n  a()\n\n  if (b) {\n    c()\n  }\n}\n')
  t.same(blocks.at(1), { found: false, reason: { kind: 'comment-only' }, next: { start: 3, end: 9 } })
  t.same(blocks.at(5), { found: false, reason: { kind: 'blank-line' }, enclosing: { start: 3, end: 9 } })
  t.same(blocks.at(8), { found: false, reason: { kind: 'closer' }, enclosing: { start: 6, end: 8 } })
  t.same(blocks.at(7), {
    found: false,
    reason: { kind: 'single-line' },
    singleLine: { start: 7, end: 7 },
    enclosing: { start: 6, end: 8 },
  })
  t.same(parse('a.rs', '/// a\n///\n/// b\nfn f() {\n}\n').blocks.at(2), { found: true, span: { start: 2, end: 5 } })
  t.same(parse('a.kt', 'class A {\n  val b: Int\n    get() = 1\n}\n').blocks.at(3), {
    found: false,
    reason: { kind: 'single-line' },
    singleLine: { start: 3, end: 3 },
    enclosing: { start: 2, end: 3 },
  })
  t.same(parse('a.js', '/**\n * a\n */\nfunction f() {\n}\n').blocks.at(2), {
    found: false,
    reason: { kind: 'comment-only' },
    enclosing: { start: 1, end: 5 },
  })
  t.same(parse('a.js', 'a([{\n  b\n}, {\n  c\n}])\nd([\n{\n}, 1])\n').blocks.at(7), {
    found: false,
    reason: { kind: 'shares-line', line: 8 },
    enclosing: { start: 6, end: 8 },
  })
})

t.test('broken files are refused with the line of the first error', async (t) => {
  const broken: readonly [string, string, number][] = [
    ['h.py', 'def f(\n    a,\n\nx = 1\ny = 2\n', 1],
    ['a.rs', 'fn a() {\n}\n\nfn b( {\n}\n', 4],
    ['a.json', '{\n  "a": 1,\n  "b": 2,\n}\n', 3],
    ['a.ts', 'const a = 1\nfunction f() {\n  return (\n}\n', 3],
    ['a.html', '<ul>\n  <li>a\n</ul>\n<div>\n  <span>b\n</div>\n', 5],
    ['a.html', '<ul>\n  <li>a\n  <p>b\n  <li>c\n</ul>\n', 3],
    // What HTML ends inside of something else.
    ['a.html', '<div>\n<p>a <span>b\n<ul>\n</ul>\n</span>\n</div>\n', 2],
    // HTML ignores an end tag around an open paragraph.
    ['a.html', '<div>\n<ins><p>a\n</ins> b\n</div>\n', 2],
    ['a.html', '<table>\n<thead><tr><th>a\n<tbody><tr><td>b\n</table>\n', 2],
    ['a.css', 'a {\n  b: c;\n}\nd {\n  e: f;\n', 4],
    ['a.toml', 'a = 1\nb =\n', 2],
    ['a.yaml', 'a:\n  b: 1\n c: 2\n', 3],
    ['a.sh', 'if a; then\n  b\n', 1],
    // What the grammars read as something else: the text of a here-document, a cast, a modifier, a body without indent.
    ['a.sh', 'a\ncat <<E |\nb\nE\n  sort\n', 2],
    ['a.sh', 'cat <<E && b ||\na\nE\n  c\n', 1],
    ['a.kt', 'fun f() {\n  val x = a(\n  )\n    as B\n  g()\n}\n', 4],
    ['a.kt', 'val a = 1\n\ndata\nclass B(\n  val c: Int\n)\n', 3],
    ['a.scala', 'def f: Int =\n{\n  1\n}\n\nval a = 1\n', 2],
    ['a.scala', 'inline\ndef f =\n  1\n', 2],
  ]
  for (const [path, text, line] of broken) {
    const parsed = tryParse(path, text)
    t.equal(parsed.clean, false, path)
    if (!parsed.clean && 'errorRow' in parsed)
      t.ok(Math.abs(parsed.errorRow + 1 - line) <= 1, `${path}: ${parsed.errorRow + 1}`)
  }
})

t.test('the language is chosen by name, by extension and by the interpreter', async (t) => {
  const chosen: readonly [string, string, string | undefined][] = [
    ['src/a.TS', '', 'typescript'],
    ['a.d.mts', '', 'typescript'],
    ['a.cjs', '', 'javascript'],
    ['README.markdown', '', 'markdown'],
    ['stub.pyi', '', 'python'],
    ['Cargo.lock', '', 'toml'],
    ['.bashrc', '', 'bash'],
    ['Gemfile', '', 'ruby'],
    ['bin/run', '#!/usr/bin/env -S python3.12 -u', 'python'],
    ['bin/run', '#!/bin/sh\r', 'bash'],
    ['bin/run', '#! /usr/bin/node', 'javascript'],
    ['bin/run', '#!/usr/bin/perl', undefined],
    ['run.txt', '#!/bin/sh', undefined],
    ['a.zzz', '', undefined],
    ['.json', '', undefined],
    ['tree-sitter.c', '', 'c'],
  ]
  for (const [path, first, name] of chosen) t.equal(index.of(path, first)?.name, name, `${path} ${first}`)
})
