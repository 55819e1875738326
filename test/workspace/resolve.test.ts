import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { inside, writtenPath } from '../../src/workspace/paths.js'
import { createWorkspace } from '../../src/workspace/disk.js'
import { codeOf, playground, refusalOf, resolved, sessionId, type Playground } from './playground.js'

const place = await playground()
t.teardown(() => place.remove())
const canonical = async (path: string, access: 'read' | 'write' = 'read'): Promise<string> =>
  (await resolved(place, path, access)).canonical

t.test('a path is one place however it is spelled', async (t) => {
  const file = place.put('src/lib/a.txt', 'a\n')
  const spellings = ['src/lib/a.txt', './src/lib/a.txt', 'src//lib///a.txt', 'src/./lib/a.txt', 'src/lib/../lib/a.txt']
  for (const path of [
    ...spellings,
    file,
    `${place.ws}//src/lib/a.txt`,
    '../ws/src/lib/a.txt',
    'nope/../src/lib/a.txt',
  ]) {
    t.match(await resolved(place, path), {
      ...{ authored: path, path: 'src/lib/a.txt', canonical: file, canonicalPath: 'src/lib/a.txt' },
      ...{ root: 'workspace', exists: true, lastIsLink: false, field: 'path' },
    })
  }
  t.match(await resolved(place, '.'), { path: '.', canonical: place.ws, exists: true }, 'the root itself resolves')
})

t.test('what does not exist resolves to where it would be', async (t) => {
  t.match(await resolved(place, 'new/deep/x.txt', 'write'), {
    ...{ path: 'new/deep/x.txt', canonical: join(place.ws, 'new/deep/x.txt'), exists: false, lastIsLink: false },
  })
})

t.test('backslashes and percent sequences are plain characters of a name', async (t) => {
  const file = place.put('odd/..\\..%2f..%2fetc', 'odd\n')
  t.equal(await canonical('odd/..\\..%2f..%2fetc'), file)
  t.match(await resolved(place, '..%2f..%2fetc/passwd'), { exists: false })
  t.match(await resolved(place, 'C:\\Windows\\system32'), { exists: false })
})

t.test('what can be no path is refused with its reason, under the name of its argument', async (t) => {
  const says = async (path: string, access: 'read' | 'write' = 'read'): Promise<string> => {
    const refusal = await refusalOf(place.port.resolve(place.roots, path, access, 'ops'))
    t.equal(refusal.code, 'INVALID_ARGUMENT', JSON.stringify(path).slice(0, 60))
    t.match(refusal.detail, /^ops: /)
    return refusal.detail
  }
  place.put('plain.txt', 'x\n')
  t.match(await says(''), 'is empty')
  t.match(await says('a.txt\0.png'), 'NUL')
  t.match(await says('a\ud800b'), 'surrogate')
  t.match(await says('x/'.repeat(2_049)), 'longer than 4096 bytes')
  t.match(await says('é'.repeat(128)), 'longer than 255 bytes')
  t.match(await says('plain.txt/'), 'not a directory')
  t.match(await says('plain.txt/.'), 'not a directory')
  t.match(await says('plain.txt/below'), 'not a directory')
  t.match(await says('not-there/', 'write'), 'ends like a directory')
  t.match(await says('.anchorline-abc.1.2-0123456789abcdef.tmp', 'write'), 'temporary file')
  t.match(await resolved(place, 'é'.repeat(127)), { exists: false }, '254 bytes are a name')
  t.match(await resolved(place, '😀.txt'), { exists: false }, 'a whole pair is a character')
  t.match(await resolved(place, 'src/'), { exists: true }, 'a directory may end like one')
})

t.test('what leads outside is refused in the same words whether it exists or not', async (t) => {
  for (const path of [
    '../outside-nothing',
    '../ws-outside/secret.txt',
    '../../outside/secret.txt',
    '/etc/passwd',
    '/',
    '..',
    '/nope',
    'sub/../../x',
  ]) {
    t.equal(await codeOf(resolved(place, path)), 'PATH_OUTSIDE_WORKSPACE', path)
  }
  const [there, absent] = [join(place.outside, 'secret.txt'), join(place.outside, 'absent.txt')]
  const words = async (path: string): Promise<unknown> => {
    const refusal = await refusalOf(resolved(place, path))
    return [refusal.code, refusal.detail.replaceAll(path, 'PATH'), refusal.fields]
  }
  t.same(await words(there), await words(absent))
  symlinkSync(there, join(place.ws, 'to-file'))
  symlinkSync(absent, join(place.ws, 'to-absent'))
  symlinkSync(place.outside, join(place.ws, 'to-dir'))
  symlinkSync(join(place.outside, 'no-dir'), join(place.ws, 'to-no-dir'))
  symlinkSync('../ws-outside', join(place.ws, 'to-sibling'))
  const all = [
    'to-file',
    'to-absent',
    'to-dir/secret.txt',
    'to-dir/absent.txt',
    'to-no-dir/x',
    'to-file/x',
    'to-absent/x',
    'to-sibling/secret.txt',
  ]
  for (const path of all) {
    t.same(await words(path), await words(there), path)
    t.equal(await codeOf(resolved(place, path, 'write')), 'PATH_OUTSIDE_WORKSPACE', `${path} for writing`)
  }
})

t.test('links inside are followed to what they mean', async (t) => {
  const real = place.put('docs/real.md', 'one\n')
  const link = (name: string, to: string): void => symlinkSync(to, join(place.ws, name))
  link('guide.md', 'docs/real.md')
  link('absolute.md', real)
  link('chain.md', 'guide.md')
  link('handbook', 'docs')
  link('docs/up.md', '../docs/./../docs/real.md')
  link('around.md', '../../workspaces/ws/docs/real.md')
  for (const path of ['guide.md', 'absolute.md', 'chain.md', 'docs/up.md', 'around.md']) {
    t.match(await resolved(place, path), {
      path,
      canonical: real,
      canonicalPath: 'docs/real.md',
      lastIsLink: true,
      exists: true,
    })
  }
  t.match(await resolved(place, 'handbook/real.md'), { path: 'handbook/real.md', canonical: real, lastIsLink: false })
  t.match(await resolved(place, 'handbook/new.md', 'write'), {
    canonical: join(place.ws, 'docs/new.md'),
    exists: false,
  })
  link('dangling.md', 'docs/coming.md')
  t.match(await resolved(place, 'dangling.md', 'write'), {
    canonical: join(place.ws, 'docs/coming.md'),
    exists: false,
    lastIsLink: true,
  })
})

t.test('a step back behind a link could mean two files and is refused, elsewhere it means one', async (t) => {
  place.put('deep/er/x.txt', 'x\n')
  place.put('x.txt', 'x\n')
  symlinkSync('deep/er', join(place.ws, 'short'))
  t.match((await refusalOf(resolved(place, 'short/../x.txt'))).detail, 'behind a symbolic link')
  t.equal(await canonical('short/../deep/er/x.txt').catch(() => 'refused'), 'refused')
  t.equal(await canonical('deep/er/../er/x.txt'), join(place.ws, 'deep/er/x.txt'))
  t.equal(await codeOf(resolved(place, 'to-dir/../x.txt')), 'PATH_OUTSIDE_WORKSPACE')
})

t.test('loops and links into nothing are refused, never faults', async (t) => {
  for (const [name, to] of [
    ['loop-a', 'loop-b'],
    ['loop-b', 'loop-a'],
    ['self', 'self'],
    ['in-self', 'in-self/x'],
    ['void', 'no-such/../y.txt'],
  ] as const) {
    symlinkSync(to, join(place.ws, name))
  }
  for (const path of ['loop-a', 'self', 'in-self', 'loop-a/x', 'void']) {
    for (const access of ['read', 'write'] as const)
      t.equal(await codeOf(resolved(place, path, access)), 'INVALID_ARGUMENT', path)
  }
  for (let i = 0; i < 60; i++) symlinkSync(i === 0 ? 'x.txt' : `hop-${i - 1}`, join(place.ws, `hop-${i}`))
  t.equal(await canonical('hop-39'), join(place.ws, 'x.txt'))
  t.match((await refusalOf(resolved(place, 'hop-40'))).detail, 'loop')
})

t.test('links to devices, to /proc and to sockets are outside', async (t) => {
  for (const [i, to] of [
    '/dev/zero',
    '/proc/self/environ',
    '/proc/self/fd',
    '/proc/self/root',
    '/proc/self/cwd',
  ].entries()) {
    symlinkSync(to, join(place.ws, `system-${i}`))
    t.equal(await codeOf(resolved(place, `system-${i}`)), 'PATH_OUTSIDE_WORKSPACE')
    t.equal(await codeOf(resolved(place, `system-${i}/1`)), 'PATH_OUTSIDE_WORKSPACE')
  }
})

t.test('deny globs are decided on the resolved path, and for writing on the link as well', async (t) => {
  place.put('private/key.txt', 'k\n')
  place.put('.git/config', 'c\n')
  place.put('pack/.git/hooks/x', 'h\n')
  place.put('a\nb/.git/y', 'h\n')
  symlinkSync('private/key.txt', join(place.ws, 'innocent.txt'))
  symlinkSync('../plain.txt', join(place.ws, '.git/link'))
  for (const path of ['private/key.txt', 'innocent.txt', 'docs/../private/key.txt', 'private/none.txt']) {
    for (const access of ['read', 'write'] as const)
      t.equal(await codeOf(resolved(place, path, access)), 'TOOL_DENIED', path)
  }
  for (const path of [
    '.git',
    '.git/config',
    'pack/.git/hooks/x',
    'a\nb/.git/y',
    '.git/new/er',
    '.git/link',
    join(place.ws, '.git/config'),
  ]) {
    t.equal(await codeOf(resolved(place, path, 'write')), 'TOOL_DENIED', path)
    t.match(await resolved(place, path, 'read'), { root: 'workspace' }, `${path} may be read`)
  }
  for (const path of ['.gitignore', 'x.git', '.github/y', 'privately'])
    t.match(await resolved(place, path, 'write'), { root: 'workspace' })
})

t.test('the root is that of the real path', async (t) => {
  const roots = await place.port.roots('ws', sessionId, [place.external])
  writeFileSync(join(place.external, 'e.txt'), 'e\n')
  symlinkSync(join(place.external, 'e.txt'), join(place.ws, 'to-external'))
  const at = (path: string) => place.port.resolve(roots, path, 'write')
  t.match(await at(join(place.external, 'e.txt')), {
    root: 'external',
    path: join(place.external, 'e.txt'),
    exists: true,
  })
  t.match(await at('to-external'), {
    root: 'external',
    path: 'to-external',
    canonicalPath: join(place.external, 'e.txt'),
  })
  t.match(await at(join(roots.scratch, 'n.txt')), {
    root: 'scratch',
    path: join(roots.scratch, 'n.txt'),
    exists: false,
  })
  t.match(await at(join(place.ws, 'plain.txt')), { root: 'workspace', path: 'plain.txt' })
  t.equal(await codeOf(at(join(place.external, '.git/config'))), 'TOOL_DENIED', 'globs hold in every root')
  t.equal(await codeOf(at(join(place.scratchDir, 'another-session/n.txt'))), 'PATH_OUTSIDE_WORKSPACE')
  t.equal(await codeOf(resolved(place, 'to-external')), 'PATH_OUTSIDE_WORKSPACE', 'a session without that root')
})

t.test('a directory that the operator names by a link is known by both names', async (t) => {
  const alias = join(place.top, 'alias')
  symlinkSync(place.workspacesDir, alias)
  const port = await place.portWith({ workspacesDir: alias })
  const roots = await port.roots('ws', sessionId, [])
  const file = place.put('docs/real.md', 'one\n')
  t.equal(roots.workspace.dir, place.ws)
  symlinkSync(join(alias, 'ws/docs/real.md'), join(place.ws, 'by-alias'))
  for (const path of ['docs/real.md', join(alias, 'ws/docs/real.md'), file, 'by-alias']) {
    t.equal((await port.resolve(roots, path, 'read')).canonical, file, path)
  }
  t.equal(await codeOf(port.resolve(roots, join(alias, 'ws-outside/secret.txt'), 'read')), 'PATH_OUTSIDE_WORKSPACE')
})

t.test('a prefix is no folder', (t) => {
  t.ok(inside('/w/ws', '/w/ws') && inside('/w/ws', '/w/ws/a') && inside('/', '/a'))
  t.notOk(inside('/w/ws', '/w/ws-outside/a') || inside('/w/ws', '/w/w') || inside('/w/ws', '/w'))
  t.end()
})

t.test('any text is a place inside or a refusal of the table', async () => {
  const name = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '',
      'src',
      'docs',
      'short',
      'to-dir',
      'loop-a',
      'handbook',
      'a.txt',
      'dangling.md',
      'plain.txt',
      'ws',
      '~',
      '*',
    ),
    fc.string({ unit: 'binary', maxLength: 12 }),
  )
  const path = fc
    .tuple(fc.constantFrom('', '/', `${place.ws}/`, '../ws/', './'), fc.array(name, { maxLength: 8 }))
    .map(([start, names]) => start + names.join('/'))
  const codes = ['INVALID_ARGUMENT', 'PATH_OUTSIDE_WORKSPACE', 'TOOL_DENIED']
  await fc.assert(
    fc.asyncProperty(path, fc.constantFrom('read', 'write'), async (text, access) => {
      try {
        const target = await resolved(place, text, access)
        return inside(place.ws, target.canonical)
      } catch (error) {
        return codes.includes((error as { code: string }).code)
      }
    }),
    { numRuns: 600 },
  )
})

t.test('a path is checked in time that grows with its length alone', (t) => {
  const started = process.hrtime.bigint()
  for (let i = 0; i < 50; i++) writtenPath('a/../'.repeat(800), 'path', { pathBytes: 4_096, nameBytes: 255 })
  t.ok(process.hrtime.bigint() - started < 2_000_000_000n)
  t.end()
})

t.test('the roots of a session', async (t) => {
  const other: Playground = await playground()
  t.teardown(() => other.remove())
  for (const name of ['beta', 'alpha', '.hidden']) mkdirSync(join(other.workspacesDir, name))
  writeFileSync(join(other.workspacesDir, 'a-file'), '')
  symlinkSync(other.outside, join(other.workspacesDir, 'linked'))
  t.same(await other.port.workspaces(), ['alpha', 'beta', 'ws', 'ws-outside'])
  for (const name of [
    '',
    '.',
    '..',
    '.hidden',
    'a-file',
    'linked',
    'alpha/..',
    '../outside',
    'nope',
    'a\0b',
    '/etc',
    'ws/',
  ]) {
    t.equal(await codeOf(other.port.roots(name, sessionId, [])), 'NOT_FOUND', JSON.stringify(name))
  }
  t.same((await refusalOf(other.port.roots('Alpah', sessionId, []))).fields, { suggestions: ['alpha'] })
  t.same((await refusalOf(other.port.roots('alpah', sessionId, [], (name) => name !== 'alpha'))).fields, {
    suggestions: [],
  })
  await t.rejects(other.port.roots('alpha', '../x', []), TypeError)

  mkdirSync(join(other.external, 'in'))
  symlinkSync(other.outside, join(other.external, 'out'))
  symlinkSync(join(other.top, 'absent'), join(other.external, 'out-absent'))
  symlinkSync(join(other.external, 'in'), join(other.external, 'within'))
  const roots = (path: string) => other.port.roots('alpha', sessionId, [path])
  t.same((await roots(join(other.external, 'in'))).external, [join(other.external, 'in')])
  t.same((await roots(join(other.external, 'within/'))).external, [join(other.external, 'in')])
  for (const path of [
    other.outside,
    join(other.top, 'absent'),
    '/',
    other.workspacesDir,
    join(other.external, 'out'),
    join(other.external, 'out-absent'),
    join(other.external, '..'),
    `${other.external}-sibling`,
  ]) {
    t.equal(await codeOf(roots(path)), 'TOOL_DENIED', path)
  }
  for (const path of ['in', '', join(other.external, 'absent')])
    t.equal(await codeOf(roots(path)), 'INVALID_ARGUMENT', path)
  const none = await other.portWith({ externalRoots: [] })
  t.equal(await codeOf(none.roots('alpha', sessionId, [other.external])), 'TOOL_DENIED')
})

t.test('scratch and workspaces are kept apart', async (t) => {
  const scratch = (scratchDir: string) => () => createWorkspace({ ...base, scratchDir })
  const base = {
    ...{ workspacesDir: place.workspacesDir, externalRoots: [], denyRead: [], denyWrite: [] },
    ...{ instance: 'abc.1.2', random: () => '0123456789abcdef', now: Date.now },
  }
  for (const dir of [place.workspacesDir, place.top, '/', place.ws, join(place.ws, 'x')])
    t.throws(scratch(dir), Error, dir)
  t.doesNotThrow(scratch(join(place.workspacesDir, '.scratch')))
  t.throws(() => createWorkspace({ ...base, scratchDir: place.scratchDir, instance: '../x' }))
})

t.test('a workspace that is missing is a refusal and comes back', async (t) => {
  const other = await playground()
  t.teardown(() => other.remove())
  other.put('a.txt', 'a\n')
  renameSync(other.ws, `${other.ws}-away`)
  t.equal(await codeOf(other.port.roots('ws', sessionId, [])), 'NOT_FOUND')
  t.equal(await codeOf(resolved(other, 'a.txt')), 'NOT_FOUND', 'also for who had its roots before')
  renameSync(`${other.ws}-away`, other.ws)
  t.match(await resolved(other, 'a.txt'), { exists: true })
  linkSync(join(other.ws, 'a.txt'), join(other.ws, 'b.txt'))
  rmSync(join(other.ws, 'a.txt'))
  t.match(await resolved(other, 'b.txt'), { exists: true })
  t.ok(await other.port.writable())
  rmSync(other.workspacesDir, { recursive: true })
  t.notOk(await other.port.writable())
})
