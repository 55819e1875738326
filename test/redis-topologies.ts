/** A Cluster of three masters, and a master with a replica behind Sentinels, on loopback. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import type { RedisServer } from './redis-server.js'
import { freePort, startRedis } from './redis-server.js'

const slots = 16_384

export interface RedisCluster {
  readonly url: string
  readonly nodes: readonly RedisServer[]
  readonly stop: () => Promise<void>
}

export async function startCluster(): Promise<RedisCluster> {
  const nodes = await Promise.all(
    [0, 1, 2].map(async () => {
      const bus = await freePort()
      const node = await startRedis([
        '--cluster-enabled',
        'yes',
        '--cluster-node-timeout',
        '2000',
        '--cluster-port',
        String(bus),
      ])
      return { node, bus }
    }),
  )
  const clients = nodes.map(({ node }) => new Redis(node.url))
  const share = Math.ceil(slots / nodes.length)
  for (const [i, client] of clients.entries()) {
    await client.call('CLUSTER', 'ADDSLOTSRANGE', i * share, Math.min(slots, (i + 1) * share) - 1)
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1)
  }
  for (const { node, bus } of nodes.slice(1)) await clients[0]!.call('CLUSTER', 'MEET', '127.0.0.1', node.port, bus)
  for (const client of clients)
    await until(async () => {
      const info = (await client.call('CLUSTER', 'INFO')) as string
      return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`)
    })
  for (const client of clients) client.disconnect()
  return {
    url: `redis-cluster://${nodes.map(({ node }) => `127.0.0.1:${node.port}`).join(',')}`,
    nodes: nodes.map(({ node }) => node),
    stop: async () => {
      await Promise.all(nodes.map(async ({ node }) => node.stop()))
    },
  }
}

export interface RedisSentinels {
  readonly url: string
  readonly master: RedisServer
  readonly replica: RedisServer
  readonly stop: () => Promise<void>
}

export async function startSentinels(): Promise<RedisSentinels> {
  const master = await startRedis()
  const replica = await startRedis(['--replicaof', '127.0.0.1', String(master.port)])
  const direct = new Redis(replica.url)
  await until(async () => (await direct.info('replication')).includes('master_link_status:up'))
  direct.disconnect()
  const sentinels = await Promise.all(
    [0, 1, 2].map(async () => {
      const file = join(mkdtempSync(join(tmpdir(), 'anchorline-sentinel-')), 'sentinel.conf')
      const lines = [
        `sentinel monitor main 127.0.0.1 ${master.port} 2`,
        'sentinel down-after-milliseconds main 500',
        'sentinel failover-timeout main 3000',
      ]
      writeFileSync(file, `${lines.join('\n')}\n`)
      return startRedis([], undefined, file)
    }),
  )
  for (const sentinel of sentinels) {
    const client = new Redis(sentinel.url)
    await until(async () => {
      const info = (await client.call('SENTINEL', 'MASTER', 'main')) as string[]
      const value = (name: string): string => info[info.indexOf(name) + 1] ?? ''
      return value('num-other-sentinels') === '2' && value('num-slaves') === '1'
    })
    client.disconnect()
  }
  return {
    url: `redis-sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/main`,
    master,
    replica,
    stop: async () => {
      await Promise.all([...sentinels, master, replica].map(async (server) => server.stop()))
    },
  }
}

async function until(what: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000
  while (!(await what().catch(() => false))) {
    if (performance.now() > end) throw new Error('the servers do not agree')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
