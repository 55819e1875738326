/**
 * The syntax port with its threads: what it answers, what it survives, and that it lets nobody wait for ever.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { limits } from '../../src/limits.js'
import { packageRoot } from '../../src/package-root.js'
import { createSyntax, familiarThread } from '../../src/syntax/pool.js'
import { textIds } from '../../src/text/line-ids.js'
import { lineMap } from '../../src/text/line-map.js'
import { withCurrentDylink } from '../../src/syntax/dylink.js'
import { nestsDeeperThan } from '../../src/syntax/nesting.js'
import { samples } from './corpus.js'
import { host, languageOf } from './parsing.js'

const syntax = createSyntax()
t.teardown(() => syntax.close())

/** Keeps the parser busy far longer than any limit here, and stops when it is told to. */
const runaway = '<a>'.repeat(30_000)

t.test('blocks are resolved in a thread, one answer per line asked, in the order asked', async (t) => {
  const answers = await syntax.blocksAt('d.py', '@cached\ndef f():\n    return 1\nk = 3\n', [2, 1, 4])
  t.same(answers.slice(0, 2), [
    { found: true, span: { start: 2, end: 3 } },
    { found: true, span: { start: 1, end: 3 } },
  ])
  t.match(answers[2], { found: false, reason: { kind: 'single-line' }, singleLine: { start: 4, end: 4 } })
})

t.test('a file nobody can parse is refused with its reason', async (t) => {
  const why = async (path: string, text: string): Promise<unknown> => (await syntax.blocksAt(path, text, [1]))[0]
  t.same(await why('a.zzz', '{\n a\n}\n'), { found: false, reason: { kind: 'unsupported-language', name: 'a.zzz' } })
  t.same(await why('a.py', 'def f(\n'), { found: false, reason: { kind: 'does-not-parse', errorLine: 1 } })
  const large = '"' + 'ü'.repeat(limits.blockParseBytes / 2) + '"'
  t.same(await why('a.json', large), {
    found: false,
    reason: { kind: 'too-large', limitBytes: limits.blockParseBytes },
  })
  t.match(await why('a.json', large.slice(0, limits.blockParseBytes / 2 - 2) + '"'), {
    reason: { kind: 'single-line' },
  })
  t.match(await why('empty.ts', ''), { found: false })
})

t.test('a text is judged by the parser of its language', async (t) => {
  const verdicts = await syntax.parses('a.json', ['{}', '{\n', '[1,\n2 3]', ''])
  t.same(
    verdicts.map(({ verdict }) => verdict),
    ['clean', 'broken', 'broken', 'clean'],
  )
  t.match(verdicts[2], { errorLine: 2 })
  t.same(await syntax.parses('a.zzz', ['{']), [{ verdict: 'unknown-language' }])
  t.same(await syntax.parses('a.json', []), [])
  t.same(await syntax.parses('a.json', ['1', ' '.repeat(limits.blockParseBytes + 1), '2']), [
    { verdict: 'clean' },
    { verdict: 'no-verdict', why: 'too-large' },
    { verdict: 'clean' },
  ])
})

t.test('a language is known without parsing', async (t) => {
  t.ok(syntax.knows('bin/run', '#!/usr/bin/env python3'))
  t.ok(syntax.knows('a.rs', ''))
  t.notOk(syntax.knows('bin/run', 'echo'))
})

t.test('every grammar loads and parses its sample', async (t) => {
  await syntax.ready()
  t.pass()
})

t.test('inputs that overrun a grammar are refused before they are parsed, and leave the threads whole', async (t) => {
  const deep: readonly [string, string][] = [
    ['a.yaml', `${'- '.repeat(500)}\n`],
    ['a.yaml', Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
    ['a.md', `${'> '.repeat(20_000)}\n`],
    ['a.md', Array.from({ length: 200 }, (_, depth) => `${' '.repeat(2 * depth)}- a`).join('\n')],
    ['a.py', `${Array.from({ length: 900 }, (_, depth) => `${' '.repeat(depth)}if a:`).join('\n')} 1`],
  ]
  for (const [path, text] of deep) {
    const [answer] = await syntax.blocksAt(path, text, [1])
    t.match(answer, { found: false, reason: { kind: 'beyond-grammar', what: 'nesting' } }, text.slice(0, 20))
    t.match(await syntax.parses(path, [text]), [{ verdict: 'no-verdict' }])
  }
  const long = await syntax.blocksAt('a.yaml', 'a: 1\n'.repeat(40_000), [1])
  t.match(long[0], { reason: { kind: 'beyond-grammar', what: 'lines', limit: 32_767 } })
  t.match(await syntax.blocksAt('a.yaml', 'a:\n  b: 1\n', [1]), [{ found: true, span: { start: 1, end: 2 } }])
  t.equal(syntax.stats().replaced, 0)
})

t.test('nesting is never measured too low, and rulers and long indents are no nesting', async (t) => {
  t.ok(nestsDeeperThan('- '.repeat(250), 240))
  t.ok(nestsDeeperThan('1. '.repeat(250), 240))
  t.ok(nestsDeeperThan('- - - - a\n        - - - - b\n                - - - - c\n', 15))
  t.notOk(nestsDeeperThan(`a\n${'-'.repeat(300)}\n${' '.repeat(300)}b\n${'*'.repeat(300)}\n`, 10))
  t.notOk(nestsDeeperThan('a:\n  - b\n  - c\n'.repeat(1000), 10))
})

t.test('a parse that does not end is stopped, and the thread goes on', async (t) => {
  const quick = createSyntax({ maxWorkers: 1, parseMs: 150, graceMs: 5_000 })
  await quick.parses('a.html', ['<p>a</p>'])
  for (const path of ['a.html', 'a.sh']) {
    t.same(await quick.blocksAt(path, runaway, [1]), [{ found: false, reason: { kind: 'timed-out', afterMs: 150 } }])
    t.match(await quick.blocksAt('a.html', '<p>\n</p>\n', [1]), [{ found: true }])
  }
  t.equal(quick.stats().replaced, 0)
  await quick.close()
})

t.test('a thread that does not come back is killed and replaced', async (t) => {
  // Nothing can stop a grammar from being compiled: with this little time its thread counts as lost.
  const impatient = createSyntax({ maxWorkers: 1, parseMs: 1, graceMs: 0 })
  const [lost] = await impatient.blocksAt('a.cpp', 'int a;\n', [1])
  t.match(lost, { found: false, reason: { kind: 'timed-out', afterMs: 1 } })
  t.ok(impatient.stats().replaced >= 1)
  await impatient.close()
})

t.test('a thread whose grammar fails is dropped, and the call answers so', async (t) => {
  const host = { keptTrees: 1, keptFiles: 1, keptFileUnits: 1_000_000, keptUnits: 1000, memoryBytes: 40 * 1024 * 1024 }
  const small = createSyntax({ maxWorkers: 1, parseMs: 60_000, host })
  const hungry = `[${'[1],'.repeat(400_000)}1]`
  t.same(await small.blocksAt('a.json', hungry, [1]), [{ found: false, reason: { kind: 'parser-lost' } }])
  t.same(await small.parses('a.json', [hungry]), [{ verdict: 'no-verdict', why: 'parser-lost' }])
  t.equal(small.stats().replaced, 2)
  t.match(await small.blocksAt('a.json', '[\n{\n}\n]\n', [2]), [{ found: true, span: { start: 2, end: 3 } }])
  await small.close()
})

t.test('a thread may be ended at any moment of its start, and the process lives on', async (t) => {
  for (let ms = 0; ms < 240; ms += 4) {
    const pool = createSyntax({ maxWorkers: 2 })
    const answers = [pool.parses('a.json', ['1'], ms + 1), pool.parses('a.json', ['2'], ms + 1)]
    await new Promise((resolve) => setTimeout(resolve, ms))
    await pool.close()
    for (const [answer] of await Promise.all(answers)) t.match(answer?.verdict, /^(clean|no-verdict)$/)
  }
})

t.test('nothing that a thread loads awaits at its top level', async (t) => {
  for (const file of ['syntax/worker.js', 'workspace/search-worker.js']) {
    const path = join(packageRoot(import.meta.url), 'dist/src', file)
    const { stderr } = spawnSync(process.execPath, ['-e', `require(${JSON.stringify(path)}); process.exit()`])
    t.notMatch(stderr.toString(), 'ERR_REQUIRE_ASYNC_MODULE', file)
  }
})

t.test('a thread that is still loading is not ended by who no longer waits', async (t) => {
  const pool = createSyntax({ maxWorkers: 1 })
  t.same(await pool.parses('a.json', ['1'], 1), [{ verdict: 'no-verdict', why: 'timed-out' }])
  t.same(await pool.parses('a.json', ['2']), [{ verdict: 'clean' }])
  t.equal(pool.stats().replaced, 0)
  await pool.close()
})

t.test('a file goes to the thread that got it last, else to any that is free', async (t) => {
  const choose = familiarThread(2)
  const threads = (...busy: number[]): { id: number; currentUsage: number }[] =>
    [1, 2, 3].map((id) => ({ id, currentUsage: busy.includes(id) ? 1 : 0 }))
  const chosen = (path: string | undefined, ...busy: number[]) => choose(path, threads(...busy))?.id
  t.equal(chosen('a'), 1)
  t.equal(chosen('b', 1), 2)
  t.equal(chosen('b'), 2, 'though another one comes first')
  t.equal(chosen('b', 2), 1, 'never one that is busy')
  t.equal(chosen('b'), 1, 'which has the newest tree now')
  t.equal(chosen(undefined, 1), 2, 'no file, any thread')
  t.equal(chosen('a', 1, 2, 3), undefined, 'none is free')
  t.equal(chosen('c', 1, 2), 3)
  t.equal(chosen('b', 1), 2, 'the third file took the place of the one asked for least')
  t.equal(chosen('c'), 3)
})

t.test('texts that follow each other are judged on as many threads as there are', async (t) => {
  const pool = createSyntax({ maxWorkers: 2 })
  const text = (i: number): string => `${'x = 1\n'.repeat(200)}y = ${i}\n`
  for (let i = 0; i < 4; i++) {
    const verdicts = await Promise.all([0, 1, 2].map(async (file) => pool.follows(`${file}.py`, text(i), 60_000)))
    t.same(verdicts, [{ verdict: 'clean' }, { verdict: 'clean' }, { verdict: 'clean' }])
  }
  t.match(await pool.follows('0.py', `${text(4)})`, 60_000), { verdict: 'broken', errorLine: 202 })
  await pool.close()
})

t.test('nobody waits longer for verdicts than the budget allows', async (t) => {
  const started = performance.now()
  const verdicts = await syntax.parses('a.html', [runaway, '<p>a</p>'], 60)
  t.same(verdicts[0], { verdict: 'no-verdict', why: 'timed-out' })
  t.equal(verdicts.length, 2)
  t.ok(performance.now() - started < 5_000)
  t.same(await syntax.parses('a.html', ['<p>a</p>']), [{ verdict: 'clean' }])
})

t.test('a caller that leaves is let go, and its job does not keep the thread', async (t) => {
  const one = createSyntax({ maxWorkers: 1, parseMs: 60_000 })
  await one.parses('a.html', ['<p>a</p>'])
  const abort = new AbortController()
  const left = one.blocksAt('a.html', runaway, [1], abort.signal)
  const waiting = one.blocksAt('a.html', runaway, [1], abort.signal)
  setTimeout(() => abort.abort(new Error('gone')), 30)
  await t.rejects(left, { message: 'gone' })
  await t.rejects(waiting, { message: 'gone' })
  await t.rejects(one.blocksAt('a.html', '<p>', [1], abort.signal), { message: 'gone' })
  t.match(await one.blocksAt('a.html', '<p>\n</p>\n', [1]), [{ found: true }])
  await one.close()
})

t.test('jobs beyond the queue, and jobs that wait too long in it, are refused', async (t) => {
  const tiny = createSyntax({ maxWorkers: 1, maxQueue: 1, queueMs: 2_000, parseMs: 6_000 })
  // The first job of its kind also loads the code that does it.
  await tiny.blocksAt('a.html', '<p>a</p>\n', [1])
  const answers = await Promise.all(Array.from({ length: 4 }, () => tiny.blocksAt('a.html', runaway, [1])))
  const kinds = answers.map(([answer]) => (answer?.found === false ? answer.reason.kind : 'found')).sort()
  t.same(kinds, ['busy', 'busy', 'busy', 'timed-out'])
  await tiny.close()
})

t.test('lines are mapped alike at once and in a thread', async (t) => {
  const bounds = { maxEdits: limits.diffMaxEdits, timeMs: limits.diffTimeMs }
  const lines = Array.from({ length: 3_000 }, (_, at) => `line ${at % 700}`)
  const edited = lines.flatMap((line, at) => (at % 5 === 0 ? [] : at % 7 === 0 ? [`${line}, edited`] : [line]))
  for (const [from, to] of [
    [lines.slice(0, 50), edited.slice(0, 60)],
    [lines, edited],
    [edited, lines],
    [[], lines],
  ] as const) {
    t.same(await syntax.lineMap(textIds(from, to)), lineMap(from, to, bounds), `${from.length} to ${to.length} lines`)
  }
})

t.test('memory stays flat over two thousand parses', async (t) => {
  const texts = samples.filter(({ language }) => ['typescript', 'python', 'rust', 'css'].includes(language))
  const parse = (round: number): void => {
    for (const { path, text } of texts) {
      const comment = path.endsWith('.css') ? `/* ${round} */` : path.endsWith('.py') ? `# ${round}` : `// ${round}`
      host.parse(languageOf(path, text), `${text}${comment}\n`, () => false)
    }
  }
  const rounds = Math.ceil(2_000 / texts.length)
  for (let round = 0; round < rounds / 4; round++) parse(round)
  const early = host.memoryBytes
  for (let round = 0; round < rounds; round++) parse(1_000 + round)
  t.equal(host.memoryBytes, early)
})

t.test('the trees of the last texts are kept, by their content', async (t) => {
  const json = languageOf('a.json', '')
  const parsed = host.parse(json, '{"a": 1}', () => false)
  t.equal(
    host.parse(json, '{"a": 1}', () => false),
    parsed,
  )
  t.not(
    host.parse(json, '{"a": 2}', () => false),
    parsed,
  )
})

t.test('a linking section of the old form is rewritten, and any other file left alone', async (t) => {
  const header = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
  const rest = [1, 4, 1, 0x60, 0, 0]
  const layout = [0xd0, 0x86, 3, 4, 5, 0]
  const old = (libraries: number): Uint8Array => {
    const payload = [6, ...Buffer.from('dylink'), ...layout, libraries]
    return Uint8Array.from([...header, 0, payload.length, ...payload, ...rest])
  }
  const current = [8, ...Buffer.from('dylink.0'), 1, layout.length, ...layout]
  t.same([...withCurrentDylink(old(0))], [...header, 0, current.length, ...current, ...rest])
  t.throws(() => withCurrentDylink(old(1)), { message: /other libraries/ })
  const other = Uint8Array.from([...header, ...rest])
  t.equal(withCurrentDylink(other), other)
})
