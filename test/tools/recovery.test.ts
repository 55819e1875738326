/**
 * Recovery through the whole service: path recovery, and other requests while a large diff runs.
 */
import t from 'tap'
import { closeServices, service, warned } from '../service.js'

t.teardown(closeServices)

t.test('other requests are answered while a large diff runs', async (t) => {
  const s = await service(t)
  const rows = Array.from({ length: 60_000 }, (_, i) => `line ${(i * 7_919) % 60_000}`)
  await s.put('large.txt', `${rows.join('\n')}\n`)
  await s.put('small.txt', 'small\n')
  const [a, b] = [await s.session(), await s.session()]
  await a.read('large.txt', { limit: 10 })
  // The same lines in another order: nothing can be left out, so the diff searches until its bound.
  await s.put('large.txt', `${[...rows].sort().join('\n')}\n`)
  const large = { pending: true }
  const edit = a.edit('large.txt', 'PUT 5.=5:\n+x').finally(() => {
    large.pending = false
  })
  const pending = (): boolean => large.pending
  let answered = 0
  while (pending()) {
    t.equal((await b.read('small.txt')).status, 200)
    if (pending()) answered++
  }
  const reply = await edit
  t.equal(reply.code, 'EDIT_TAG_MISMATCH')
  t.ok(answered >= 3, `${answered} reads were answered meanwhile`)
})

t.test('a mistyped folder is rebound to the one file with that name and tag', async (t) => {
  const s = await service(t, { denyWrite: ['locked/**'] })
  await s.put('pkg/core/mod.py', 'a = 1\nb = 2\n')
  await s.put('other/mod.py', 'c = 3\n')
  const a = await s.session()
  await a.read('pkg/core/mod.py')
  await a.read('other/mod.py')
  const tag = a.tags.get('pkg/core/mod.py')
  const dry = await a.edit('locked/mod.py', 'PUT 2.=2:\n+b = 3', { tag, dryRun: true })
  t.same(warned(dry), ['PATH_RECOVERED'], 'before the write rules: they would cover a path that nobody meant')
  t.equal((await a.edit('locked/mod.py', 'PUT 2.=2:\n+b = 3', { tag: '0000' })).code, 'TOOL_DENIED')
  const found = await a.edit('pkg/mod.py', 'PUT 2.=2:\n+b = 3', { tag })
  t.same(warned(found), ['PATH_RECOVERED'])
  t.match(found.body, { path: 'pkg/core/mod.py', header: `[pkg/core/mod.py#${String(found.body['tag'])}]` })
  t.equal(await s.get('pkg/core/mod.py'), 'a = 1\nb = 3\n')
  t.equal((await a.edit('pkg/mod.py', 'REM', { tag: found.body['tag'] })).code, 'NOT_FOUND', 'REM is never rebound')
  t.equal((await a.edit('pkg/mod.py', 'CUT 1.=1', { tag: '0000' })).code, 'NOT_FOUND', 'the tag has to match too')
  t.equal((await a.edit('../mod.py', 'CUT 1.=1', { tag: found.body['tag'] })).code, 'PATH_OUTSIDE_WORKSPACE')
})

t.test('a tie between candidates declines, and so does the history of the authored path itself', async (t) => {
  const s = await service(t)
  await s.put('p/a.txt', 'same\n')
  await s.put('q/a.txt', 'same\n')
  const a = await s.session()
  await a.read('p/a.txt')
  await a.read('q/a.txt')
  const tag = a.tags.get('p/a.txt')
  t.equal(
    (await a.edit('z/a.txt', 'PUT 1.=1:\n+x', { tag })).code,
    'NOT_FOUND',
    'identical contents are still two candidates',
  )
  await s.rm('q/a.txt')
  t.same(warned(await a.edit('z/a.txt', 'PUT 1.=1:\n+x', { tag })), ['PATH_RECOVERED'], 'a candidate has to exist')
  await s.put('gone.txt', 'gone\n')
  await a.read('gone.txt')
  await s.rm('gone.txt')
  t.equal((await a.edit('gone.txt', 'PUT 1.=1:\n+x')).code, 'NOT_FOUND')
})

t.test('a block is edited after drift only where the file as it is now has the same one', async (t) => {
  const s = await service(t)
  const py = 'def f():\n    a()\n\n\ndef g():\n    c()\n'
  const cases: [string, string, string, string, string | undefined][] = [
    [
      'shifted.py',
      py,
      `import os\n\n${py}`,
      'PUT 1*:\n+def f(): pass',
      `import os\n\ndef f(): pass\n\n\ndef g():\n    c()\n`,
    ],
    [
      'shifted-after.py',
      py,
      `x = 1\n${py}`,
      'PUT >1*:\n+# after',
      `x = 1\ndef f():\n    a()\n# after\n\n\ndef g():\n    c()\n`,
    ],
    ['grown.py', py, py.replace('    a()\n', '    a()\n    more()\n'), 'PUT 1*:\n+def f(): pass', undefined],
    ['grown-after.py', py, py.replace('    a()\n', '    a()\n    more()\n'), 'PUT >1*:\n+# after', undefined],
    ['grown-cut.py', py, py.replace('    a()\n', '    a()\n    more()\n'), 'CUT 1*', undefined],
    ['grown.md', '# A\n\ntext\n', '# A\n\ntext\n\nmore\n', 'PUT >1*:\n+# New', undefined],
    [
      'grown-above.py',
      py,
      py.replace('def f', '@cached\ndef f'),
      'PUT 1*:\n+def f(): pass',
      py.replace('def f():\n    a()', '@cached\ndef f(): pass'),
    ],
    ['broken.py', py, `${py})\n`, 'CUT 1*', undefined],
  ]
  for (const [path, before, after, ops, expected] of cases) {
    await s.put(path, before)
    const a = await s.session()
    await a.read(path)
    await s.put(path, after)
    const reply = await a.edit(path, ops)
    t.equal(await s.get(path), expected ?? after, path)
    t.equal(reply.code, expected === undefined ? 'EDIT_TAG_MISMATCH' : undefined, path)
    if (expected === undefined)
      t.match(reply.body['detail'], /the block at line 1, which ended at line \d, does not end there/)
  }
})
