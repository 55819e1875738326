/** A server that loses or garbles any value: the answer is a refusal or a warning, never a fault and never something else. */
import fc from 'fast-check'
import { Redis } from 'ioredis'
import type { Test } from 'tap'
import t from 'tap'
import type { Session, Store } from '../../../src/sessions/store.js'
import { startRedis } from '../../redis-server.js'
import { held, opened, publish, recording, review, textOf } from '../conformance/harness.js'
import { fill, mutateOnce, probe } from './filled.js'
import type { RedisHarness } from './harness.js'
import { redisHarness } from './harness.js'

const server = await startRedis()
const direct = new Redis(server.url)
t.teardown(async () => {
  direct.disconnect()
  await server.stop()
})
const make = redisHarness(server.url, [server.url])

async function keysOf(h: RedisHarness): Promise<string[]> {
  return (await direct.keys(`${h.namespace}:*`)).sort()
}

/** Spoils every key of a session in turn, some sessions side by side. */
async function eachKey(
  t: Test,
  what: string,
  spoil: (h: RedisHarness, key: string, i: number) => Promise<void>,
): Promise<void> {
  const sideBySide = 6
  let isMore = true
  const worker = async (first: number): Promise<void> => {
    for (let i = first; isMore; i += sideBySide) {
      const done = await spoiled(
        t,
        what,
        async (h, key) => spoil(h, key, i),
        (keys) => keys[i],
      )
      if (!done) isMore = false
    }
  }
  await Promise.all(Array.from({ length: sideBySide }, async (_, i) => worker(i)))
}

/** The key without what is random in it. */
function nameOf(h: RedisHarness, key: string, s: Session): string {
  return key
    .replace(`${h.namespace}:`, '')
    .replace(s.sessionId, 'ID')
    .replace(/[0-9a-f]{32,}/g, 'HASH')
}

/** Fills a session, spoils it, and asks for everything. */
async function spoiled(
  t: Test,
  what: string,
  spoil: (h: RedisHarness, key: string) => Promise<void>,
  choose: (keys: readonly string[]) => string | undefined,
): Promise<boolean> {
  const h = await make()
  t.teardown(h.close)
  const s = await fill(h)
  const key = choose(await keysOf(h))
  if (key === undefined) return false
  const name = nameOf(h, key, s)
  await spoil(h, key)
  await probe(t, h.store, s, `${what} ${name}`)
  await mutateOnce(t, h.store, s, `${what} ${name}`)
  t.same(h.log.errors, [], `${what} ${name}`)
  await h.close()
  return true
}

t.test('any one key may be lost', async (t) => {
  await eachKey(t, 'lost', async (_, key) => {
    await direct.unlink(key)
  })
})

t.test('any two keys may be lost', async (t) => {
  const seed = Date.now()
  t.comment(`seed ${seed}`)
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(), async (a, b) => {
      await spoiled(
        t,
        'lost two',
        async (h, key) => {
          const keys = await keysOf(h)
          await direct.unlink(key, keys[b % keys.length] ?? key)
        },
        (keys) => keys[a % keys.length],
      )
    }),
    { numRuns: 10, seed },
  )
})

const garbage: Record<string, (value: Buffer) => Buffer> = {
  empty: () => Buffer.alloc(0),
  truncated: (value) => value.subarray(0, Math.floor(value.length / 2)),
  'of format 2': (value) => Buffer.concat([Buffer.from('2'), value.subarray(1)]),
  'of nobody': () => Buffer.from([0xff, 0x00, 0x0a, 0x31, 0x20, 0x7b]),
  text: () => Buffer.from('hello world, this is not yours\n'),
}

/** Garbles every value of a key with its TTL kept, or makes it of another type. */
async function garble(key: string, how: (value: Buffer) => Buffer): Promise<void> {
  const ttl = await direct.pttl(key)
  switch (await direct.type(key)) {
    case 'string':
      await direct.set(key, how((await direct.getBuffer(key)) ?? Buffer.alloc(0)))
      break
    case 'hash':
      for (const field of await direct.hkeys(key)) {
        const value = await direct.hgetBuffer(key, field)
        await direct.call('HSET', [key, field, how(value ?? Buffer.alloc(0))])
      }
      break
    case 'list': {
      const values = await direct.lrangeBuffer(key, '0', '-1')
      for (const [i, value] of values.entries()) await direct.call('LSET', [key, String(i), how(value)])
      break
    }
    case 'zset': {
      const members = await direct.zrange(key, '0', '-1')
      for (const member of members) {
        await direct.zrem(key, member)
        await direct.call('ZADD', [key, '1', how(Buffer.from(member))])
      }
      break
    }
  }
  if (ttl > 0) await direct.pexpire(key, ttl)
}

for (const [name, how] of Object.entries(garbage))
  t.test(`any key may hold values that are ${name}`, async (t) => {
    await eachKey(t, name, async (_, key) => garble(key, how))
  })

t.test('any key may be of another type, with or without a TTL', async (t) => {
  await eachKey(t, 'another type', async (_, key, i) => {
    const type = await direct.type(key)
    await direct.unlink(key)
    if (type === 'string') await direct.hset(key, 'a', 'b')
    else await direct.set(key, 'not yours')
    if (i % 2 === 0) await direct.pexpire(key, 60_000)
  })
})

t.test('values that are not ours are told to the operator', async (t) => {
  const h = await make()
  t.teardown(h.close)
  const s = await fill(h)
  await garble(`${h.namespace}:{${s.sessionId}}:1:h`, () => Buffer.from('garbage'))
  t.same(await h.store.history(s, '/w/a.ts'), [])
  t.ok(h.log.warnings.some((warning) => warning.includes('not of format 1')))
})

t.test('a text that is not what its key says is no text', async (t) => {
  const h = await make()
  t.teardown(h.close)
  const s = await opened(h.store)
  const one = recording('/a', 'one\n')
  const two = recording('/b', 'two\n')
  for (const r of [one, two]) await h.store.record(s, r, 'display')
  const key = (digest: string): string => `${h.namespace}:{${s.sessionId}}:1:t:${digest}`
  await direct.copy(key(two.facts.textDigest), key(one.facts.textDigest), 'REPLACE')
  t.equal(await h.store.text(s, one.facts.textDigest), undefined)
  t.ok(await h.store.text(s, two.facts.textDigest))
})

t.test('a text that the server evicted is wanted again and counted once', async (t) => {
  const h = await make({ retainedBytesPerSession: 100 })
  t.teardown(h.close)
  const s = await opened(h.store)
  const lost = recording('/a', textOf(60, 'a'))
  for (let i = 0; i < 5; i++) {
    await h.store.record(s, lost, 'display')
    t.match(await h.store.usage(s), { retainedBytes: 60 })
    await direct.unlink(`${h.namespace}:{${s.sessionId}}:1:t:${lost.facts.textDigest}`)
    t.match(await h.store.history(s, '/a'), [{ retained: false }])
    t.equal(await h.store.text(s, lost.facts.textDigest), undefined)
  }
})

t.test('everything carries a TTL and nothing comes back after a drop', async (t) => {
  const h = await make()
  t.teardown(h.close)
  const s = await fill(h, { ttlSeconds: 600 })
  await probe(t, h.store, s, 'fresh')
  for (const key of await keysOf(h)) t.ok((await direct.pttl(key)) > 0, key)
  const begun = await held(h.store, s, [], [], 2_000)
  await h.store.drop(s.sessionId)
  await probe(t, h.store, s, 'dropped')
  await h.store.release(begun.permit)
  const left = (await keysOf(h)).map((key) => nameOf(h, key, s))
  const known = new Set(['{ID}:e', '{ID}:em', '{ID}:k:HASH', '{f:HASH}', '{f:HASH}:m', '{t:HASH}'])
  t.same(
    left.filter((name) => !known.has(name)),
    [],
  )
  await h.advance(40_000)
  t.same(
    (await keysOf(h)).map((key) => nameOf(h, key, s)).filter((name) => name.startsWith('{ID}')),
    [],
  )
})

t.test('a server that is flushed has no sessions', async (t) => {
  const h = await make()
  t.teardown(h.close)
  const s = await fill(h)
  const { permit } = await held(h.store, await opened(h.store), ['/f'])
  await direct.flushall()
  t.equal(await h.store.open(s.sessionId, true), undefined)
  t.equal(await h.store.record(s, recording('/a', 'a\n'), 'display'), 'gone')
  t.equal(await h.store.commit(permit).catch((error: unknown) => String(error)), 'Error: commit comes after stage')
  const again = await opened(h.store)
  await publish(h.store, again, { recordings: [recording('/f', 'f\n')], review: review('r') })
  t.match(await h.store.usage(again), { paths: 1 })
})

t.test('under constant eviction every answer is right or missing', async (t) => {
  const small = await startRedis(['--maxmemory', '6mb', '--maxmemory-policy', 'allkeys-random'])
  t.teardown(small.stop)
  const h = await redisHarness(small.url, [])()
  t.teardown(h.close)
  let sessions: Session[] = []
  const tally = { recorded: 0, gone: 0, texts: 0, missing: 0 }
  const reopen = async (): Promise<Session> => opened(h.store)
  for (let i = 0; i < 600; i++) {
    if (sessions.length < 8) sessions.push(await reopen())
    const s = sessions[i % sessions.length]!
    const text = Array.from({ length: 4_000 }, (_, n) => ((i + 1) * (n + 7) * 2_654_435_761) % 36)
      .map((n) => n.toString(36))
      .join('')
    const r = recording(`/f${i % 5}`, `${i}\n${text}`)
    const answer = await h.store.record(s, r, 'display')
    if (answer === 'gone') {
      tally.gone++
      sessions = sessions.filter((other) => other !== s)
      continue
    }
    tally.recorded++
    const kept = await h.store.text(s, r.facts.textDigest)
    if (kept) {
      tally.texts++
      if (Buffer.from(kept).toString() !== `${i}\n${text}`) t.fail('another text')
    } else tally.missing++
    await landOne(h.store, s, i)
  }
  t.comment(JSON.stringify(tally))
  t.same(h.log.errors, [])
  t.ok(tally.recorded > 100)
})

async function landOne(store: Store, s: Session, i: number): Promise<void> {
  const begun = await store.begin(s, { files: [`/f${i % 5}`], histories: [] }, 0)
  if (begun.status !== 'held') return
  await store.release(begun.permit)
}
