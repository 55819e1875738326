/**
 * REDIS_URL: one server, a master behind Sentinels, or a Cluster.
 *
 *     redis://[user:password@]host[:port][/db]                          rediss:// with TLS
 *     redis-sentinel://[user:password@]host:port,host:port/name[?db=1&sentinelUsername=…&sentinelPassword=…]    rediss-sentinel://
 *     redis-cluster://[user:password@]host:port,host:port               rediss-cluster://
 *
 * Refuses what it does not understand and never repeats a password. Called by the client and by main.
 */
export interface Address {
  readonly host: string
  readonly port: number
}

interface Credentials {
  readonly username?: string
  readonly password?: string
  readonly tls: boolean
}

export type RedisTarget = Credentials &
  (
    | { readonly kind: 'standalone'; readonly address: Address; readonly db: number }
    | {
        readonly kind: 'sentinel'
        readonly addresses: readonly Address[]
        readonly name: string
        readonly db: number
        readonly sentinelUsername?: string
        readonly sentinelPassword?: string
      }
    | { readonly kind: 'cluster'; readonly addresses: readonly Address[] }
  )

const form = /^(rediss?)(-sentinel|-cluster)?:\/\/(?:([^@/]*)@)?([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/

/** Throws RangeError with a message for the operator. */
export function parseRedisUrl(url: string): RedisTarget {
  const match = form.exec(url.trim())
  if (!match) throw new RangeError('REDIS_URL is no redis://, redis-sentinel:// or redis-cluster:// URL')
  const [, scheme = '', kind = '', user, hosts = '', rest = '', query = ''] = match
  const credentials: Credentials = { tls: scheme === 'rediss', ...userOf(user) }
  const parameters = new URLSearchParams(query)
  switch (kind) {
    case '-sentinel': {
      if (rest === '') throw new RangeError('REDIS_URL names no master: redis-sentinel://host:port,host:port/name')
      const sentinelUsername = parameters.get('sentinelUsername')
      const sentinelPassword = parameters.get('sentinelPassword')
      return {
        ...credentials,
        kind: 'sentinel',
        addresses: addressesOf(hosts, 26_379),
        name: decodeURIComponent(rest),
        db: dbOf(parameters.get('db') ?? ''),
        ...(sentinelUsername === null ? {} : { sentinelUsername }),
        ...(sentinelPassword === null ? {} : { sentinelPassword }),
      }
    }
    case '-cluster':
      if (rest !== '' && rest !== '0') throw new RangeError('REDIS_URL names a database, which a Cluster does not have')
      return { ...credentials, kind: 'cluster', addresses: addressesOf(hosts, 6_379) }
    default: {
      const [address, ...more] = addressesOf(hosts, 6_379)
      if (!address || more.length > 0)
        throw new RangeError('REDIS_URL names several hosts; use redis-sentinel:// or redis-cluster://')
      return { ...credentials, kind: 'standalone', address, db: dbOf(rest) }
    }
  }
}

function userOf(user: string | undefined): { username?: string; password?: string } {
  if (user === undefined) return {}
  const colon = user.indexOf(':')
  const username = decodeURIComponent(colon < 0 ? user : user.slice(0, colon))
  const password = colon < 0 ? '' : decodeURIComponent(user.slice(colon + 1))
  return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) }
}

function addressesOf(hosts: string, defaultPort: number): Address[] {
  return hosts.split(',').map((text) => {
    const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(text)
    const port = Number(match?.[3] ?? defaultPort)
    const host = match?.[1] ?? match?.[2]
    if (host === undefined || port < 1 || port > 65_535)
      throw new RangeError(`REDIS_URL holds an address that is not host:port: ${text.slice(0, 80)}`)
    return { host, port }
  })
}

function dbOf(text: string): number {
  if (text === '') return 0
  if (!/^\d{1,5}$/.test(text)) throw new RangeError('REDIS_URL names a database that is no number')
  return Number(text)
}
