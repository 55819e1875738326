import { createServer } from 'node:net'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ToolError } from '../../src/errors/tool-error.js'
import { inside } from '../../src/workspace/paths.js'
import type { CommitAnswer } from '../../src/workspace/port.js'
import { attacks, plantAttackGround, secret, type Attack } from './attacks.js'
import { memoryDisk, picture, playground, temps } from './playground.js'

const place = await playground({}, memoryDisk)
t.teardown(() => place.remove())
const { port, roots, ws } = place
plantAttackGround(place)
const server = createServer().listen(join(ws, 'socket'))
await new Promise((listening) => server.once('listening', listening))
t.teardown(() => server.close())

const corpus = attacks(place)
const yes = async (): Promise<void> => {}
const codes = new Set(['INVALID_ARGUMENT', 'PATH_OUTSIDE_WORKSPACE', 'NOT_FOUND', 'TOOL_DENIED', 'CONFLICT'])

/** Everything outside of the workspace in one text. */
const surroundings = (): string =>
  JSON.stringify([place.outside, place.sibling, `${ws}-sibling`, place.external].map((dir) => picture(dir)))
const atFirst = { outside: surroundings(), inside: picture(ws) }

/** The refusal's code, with everything it tells checked for what it may not; `landed` for what was done. */
async function answerOf(t: Test, label: string, work: () => Promise<unknown>): Promise<string> {
  try {
    const answer = await work()
    return (answer as CommitAnswer).landed ? 'landed' : 'changed'
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    const refusal = error as ToolError
    const told = JSON.stringify([refusal.detail, refusal.fields])
    t.notOk(told.includes(secret), `${label} tells nothing of outside`)
    if (!codes.has(refusal.code) || refusal.status >= 500) t.fail(`${label}: ${refusal.code} ${told}`)
    return refusal.code
  }
}

/** Plain names are many and alike: each takes part in some of the operations. */
const sampled = (attack: Attack): boolean => attack.creatable && attack.kind !== 'plain, absolute'

const label = (what: string, attack: Attack): string =>
  `${what} ${attack.kind} ${JSON.stringify(attack.path).slice(0, 60)}`

t.test('the corpus is large and every input is there once', async (t) => {
  t.ok(corpus.length >= 400, `${corpus.length} inputs`)
  t.equal(new Set(corpus.map((attack) => attack.path)).size, corpus.length)
})

t.test('no operation on an existing file reaches anything, and each says why in its own code', async (t) => {
  for (const attack of corpus) {
    const at = (access: 'read' | 'write') => port.resolve(roots, attack.path, access)
    const works = {
      load: async () => port.load(roots, await at('read'), 1_000),
      stream: async () => port.stream(roots, await at('read'), 1_000),
      loadForWriting: async () => port.loadForWriting(roots, await at('write'), 1_000),
    }
    for (const [what, work] of Object.entries(works)) {
      if (what === 'stream' && sampled(attack)) continue
      const code = await answerOf(t, label(what, attack), work)
      if (!attack.wanted.includes(code)) t.fail(`${label(what, attack)}: ${code}, wanted ${attack.wanted.join(' or ')}`)
    }
  }
  t.equal(surroundings(), atFirst.outside)
  t.same(picture(ws), atFirst.inside)
})

t.test('nothing is created, moved or removed outside, and what is created is a plain file inside', async (t) => {
  for (const attack of corpus) {
    const creating = {
      create: async () => port.create(roots, await port.resolve(roots, attack.path, 'write'), Buffer.from('x'), yes),
      'move to': async () => {
        place.put('mover.txt', 'm\n')
        const source = await port.resolve(roots, 'mover.txt', 'write')
        const dest = await port.resolve(roots, attack.path, 'write', 'ops')
        return port.move(roots, source, dest, await port.load(roots, source, 1_000), Buffer.from('x'), yes)
      },
    }
    for (const [what, work] of Object.entries(creating)) {
      if (sampled(attack) && (what === 'create') === (attack.path.length % 2 === 0)) continue
      const code = await answerOf(t, label(what, attack), work)
      if (attack.creatable) t.equal(code, 'landed', label(what, attack))
      else if (code === 'landed') t.fail(`${label(what, attack)} landed`)
      if (code !== 'landed') continue
      const target = await port.resolve(roots, attack.path, 'write')
      t.ok(inside(ws, target.canonical) && readFileSync(target.canonical, 'utf8') === 'x', label(what, attack))
      const removed = await port.remove(roots, target, await port.load(roots, target, 1_000), yes)
      t.ok(removed.landed, label('remove', attack))
      const [top] = target.path.split('/')
      if (!Object.hasOwn(atFirst.inside, top!) && !Object.hasOwn(atFirst.inside, `${top}/`))
        rmSync(join(ws, top!), { recursive: true, force: true })
    }
  }
  rmSync(join(ws, 'mover.txt'), { force: true })
  t.equal(surroundings(), atFirst.outside)
  t.same(temps(place.top), [])
  t.same(picture(ws), atFirst.inside)
})

t.test('a socket is no file either', async (t) => {
  for (const access of ['read', 'write'] as const) {
    const code = await answerOf(t, 'socket', async () =>
      port.load(roots, await port.resolve(roots, 'socket', access), 9),
    )
    t.equal(code, 'INVALID_ARGUMENT')
  }
})

t.test('the whole corpus leaves no file open', async (t) => {
  const open = (): number => readdirSync('/proc/self/fd').length
  const before = open()
  for (const attack of corpus.filter((_, i) => i % 5 === 0)) {
    await answerOf(t, label('load', attack), async () =>
      port.load(roots, await port.resolve(roots, attack.path, 'read'), 9),
    )
  }
  await new Promise((later) => setTimeout(later, 50))
  t.ok(open() <= before)
})
