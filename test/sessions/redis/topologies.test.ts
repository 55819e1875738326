/** The Redis store on a Cluster and behind Sentinels; the URLs of both. */
import t from 'tap'
import { ToolError } from '../../../src/errors/tool-error.js'
import { parseRedisUrl } from '../../../src/sessions/redis/url.js'
import { startCluster, startSentinels } from '../../redis-topologies.js'
import { conformance } from '../conformance.js'
import { facts, held, intent, opened, publish, recording, until } from '../conformance/harness.js'
import { conformantMake, freshNamespace, redisStore } from './harness.js'

t.test('URLs name one server, Sentinels or a Cluster', async (t) => {
  t.same(parseRedisUrl('redis://localhost'), {
    tls: false,
    kind: 'standalone',
    address: { host: 'localhost', port: 6379 },
    db: 0,
  })
  t.match(parseRedisUrl('rediss://user:p%40ss@[::1]:7000/3'), {
    tls: true,
    username: 'user',
    password: 'p@ss',
    address: { host: '::1', port: 7000 },
    db: 3,
  })
  t.match(parseRedisUrl('redis://:secret@h'), { password: 'secret', address: { host: 'h' } })
  t.match(parseRedisUrl('redis-sentinel://u:p@a:1,b/main?db=2&sentinelPassword=sp'), {
    kind: 'sentinel',
    username: 'u',
    password: 'p',
    addresses: [
      { host: 'a', port: 1 },
      { host: 'b', port: 26_379 },
    ],
    name: 'main',
    db: 2,
    sentinelPassword: 'sp',
  })
  t.match(parseRedisUrl('rediss-cluster://a:1,b:2'), {
    kind: 'cluster',
    tls: true,
    addresses: [
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
    ],
  })
  for (const wrong of [
    '',
    'localhost:6379',
    'http://localhost',
    'redis://',
    'redis://a:1,b:2',
    'redis://a:0',
    'redis://a:99999',
    'redis://a/x',
    'redis-sentinel://a:1',
    'redis-cluster://a:1/2',
    'redis-cluster://a:1,,b:2',
  ])
    t.throws(() => parseRedisUrl(wrong), RangeError, wrong)
  try {
    parseRedisUrl('redis://u:hidden@a:99999')
  } catch (error) {
    t.notMatch(String(error), /hidden/)
  }
})

t.test('a Cluster of three masters', async (t) => {
  const cluster = await startCluster()
  t.teardown(cluster.stop)
  const noise: string[] = []
  const urls = cluster.nodes.map((node) => node.url)
  conformance(
    t,
    'cluster',
    conformantMake(cluster.url, urls, (log) => noise.push(...log.errors, ...log.warnings)),
  )

  t.test('nothing of that was a fault of ours', async (t) => t.same(noise, []))

  t.test('when one master is gone its sessions are unavailable and the others work', async (t) => {
    const store = redisStore(cluster.url, { namespace: freshNamespace(), commandTimeoutMs: 1_000 })
    t.teardown(async () => store.close())
    const sessions = await Promise.all(Array.from({ length: 30 }, async () => opened(store)))
    await cluster.nodes[2]!.kill()
    const outcomes = await Promise.all(
      sessions.map(async (s): Promise<string> => {
        try {
          return await store.record(s, recording('/a', 'a\n'), 'display')
        } catch (error) {
          return error instanceof ToolError ? String(error.code) : String(error)
        }
      }),
    )
    t.ok(outcomes.includes('STORE_UNAVAILABLE'))
    t.same(new Set([...outcomes, 'recorded', 'STORE_UNAVAILABLE']), new Set(['recorded', 'STORE_UNAVAILABLE']))
  })
})

t.test('a failover behind Sentinels is an outage of seconds', async (t) => {
  const sentinels = await startSentinels()
  t.teardown(sentinels.stop)
  const bounds = { permitLeaseMs: 2_000, permitMarginMs: 200 }
  const store = redisStore(sentinels.url, { namespace: freshNamespace(), commandTimeoutMs: 1_000, bounds })
  t.teardown(async () => store.close())
  const s = await opened(store)
  await publish(store, s, { recordings: [recording('/a', 'a\n')] })
  const { permit } = await held(store, s, ['/a'])
  await store.stage(permit, intent({ recordings: [recording('/a', 'b\n')] }))
  // What the replica has not heard yet is lost with the master.
  await new Promise((resolve) => setTimeout(resolve, 300))
  await sentinels.master.kill()
  await t.rejects(store.commit(permit), { code: 'STORE_UNAVAILABLE' })
  await until(async () => store.ping(), 30_000)
  t.match(await store.open(s.sessionId, true), { sessionId: s.sessionId })
  const next = await held(store, s, ['/a'], ['/a'], 20_000)
  t.same(
    next.histories.get('/a')?.map((v) => v.tag),
    [facts('a\n').tag],
  )
  t.equal(next.leftovers.length, 1, 'what was staged is found by whoever comes next')
  await store.settle(next.permit, next.leftovers[0]!, true, () => Buffer.from('b\n'))
  t.match(await store.history(s, '/a'), [{ tag: facts('b\n').tag, retained: true }, { tag: facts('a\n').tag }])
  await store.release(next.permit)
})

// A client that is still looking for a server which is gone must not keep the process after its last test.
t.test('the process ends', async () => {
  setTimeout(() => process.exit(), 15_000).unref()
})
