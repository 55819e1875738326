/**
 * Every attack path through every field that takes a path, of every operation, over HTTP: refused with a code of the table, nothing outside read, written or
 * hinted at (reading §8.4, §8.15).
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { closeServices, service } from '../service.js'
import { attacks, plantAttackGround, secret } from '../workspace/attacks.js'
import { picture } from '../workspace/playground.js'

t.teardown(closeServices)

t.test('no operation reaches anything outside, whatever the path', { timeout: 300_000 }, async (t) => {
  const s = await service(t, { settings: { permitWaitMs: 500 } })
  const ground = { ws: s.dir, outside: join(s.root, 'outside') }
  mkdirSync(ground.outside, { recursive: true })
  plantAttackGround(ground)
  const outside = (): string => JSON.stringify([picture(ground.outside), picture(`${s.dir}-sibling`)])
  const atFirst = outside()
  const a = await s.session()
  await s.put('source.txt', 'source\n')
  await a.read('source.txt')
  const tag = a.tags.get('source.txt')
  const calls: Record<string, (path: string) => ReturnType<typeof s.call>> = {
    read: (path) => a.read(path),
    'read raw': (path) => a.read(path, { raw: true }),
    grep: (path) => a.grep('.', { path }),
    'write, tagged': (path) => a.write(path, 'x\n', { tag: 'ABCD' }),
    edit: (path) => a.edit(path, 'PUT >$:\n+x', { tag: 'ABCD', dryRun: true }),
    'edit header': (path) => a.edit('source.txt', `[${path}#${tag}]\nCUT 1.=1`, { tag, dryRun: true }),
    remove: (path) => a.edit(path, 'REM', { tag: 'ABCD' }),
    move: (path) => a.edit('source.txt', `MV ${path}`, { tag, dryRun: true }),
    register: (path) => a.post('/snapshots', { path }),
    failures: (path) => a.post('/failures', { path, promptId: 'p', kind: 'patch-command' }),
  }
  const corpus = attacks(ground)
  const bad: string[] = []
  for (const [i, attack] of corpus.entries()) {
    // Plain names are many and alike: each goes through some of the fields.
    const fields = Object.entries(calls).filter((_, j) => !attack.creatable || j % 5 === i % 5)
    for (const [what, call] of fields) {
      const reply = await call(attack.path)
      const label = `${what} ${attack.kind} ${JSON.stringify(attack.path).slice(0, 60)}: ${reply.status} ${reply.code ?? ''}`
      if (reply.status >= 500) bad.push(label)
      if (reply.text.includes(secret)) bad.push(`${label} tells what is outside`)
      if (what === 'read' && reply.status === 200 && !attack.wanted.includes('ok') && !attack.creatable)
        bad.push(`${label} was read`)
    }
  }
  t.same(bad, [], `${corpus.length} paths through ${Object.keys(calls).length} fields`)
  t.equal(outside(), atFirst, 'nothing outside has changed')
  t.equal(await s.get('source.txt'), 'source\n')
})

t.test('external roots are asked for within the operator’s, and nothing else', async (t) => {
  const s = await service(t)
  for (const root of [
    '/etc',
    '/',
    '..',
    'relative',
    s.root,
    `${s.dir}/../..`,
    '/proc/self/root',
    '\0',
    `/${'x'.repeat(5_000)}`,
  ]) {
    const reply = await s.call('POST', '/v1/sessions', { workspace: 'w', externalRoots: [root] })
    t.ok(
      ['TOOL_DENIED', 'INVALID_ARGUMENT'].includes(reply.code ?? ''),
      `${JSON.stringify(root).slice(0, 40)}: ${reply.code}`,
    )
  }
  for (const workspace of ['.', '..', '../w', 'w/..', '/', 'w/', '.hidden', 'W', 'w\0', '%2e', 'constructor']) {
    const reply = await s.call('POST', '/v1/sessions', { workspace })
    t.ok(reply.status >= 400 && reply.status < 500, `${JSON.stringify(workspace)}: ${reply.status}`)
  }
})
