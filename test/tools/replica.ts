/** A replica as a process of its own: `replica.js PLAN` serves the folder and the Redis that the plan names on a port until it is killed. Not a test itself. */
import { redisStore } from '../sessions/redis/harness.js'
import { serve } from '../service.js'
import { shortLeases } from './killed.js'
import type { Place } from './stores.js'

export interface ReplicaPlan {
  readonly root: string
  readonly redis: Place
  readonly port: number
}

const { root, redis, port } = JSON.parse(process.argv[2] ?? '') as ReplicaPlan
const { url, namespace } = redis
const service = await serve({ root, store: redisStore(url, { namespace, bounds: shortLeases }) })
await service.app.listen({ host: '127.0.0.1', port })
process.send?.('up')
