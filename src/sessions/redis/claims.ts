/**
 * Idempotency keys in Redis (reading §8.8). A claim is a lease that this process renews while it works on the call, so that a killed process blocks its
 * duplicates no longer than the lease. Called by redis.ts and by intents.
 */
import type { Answer, Claim, SessionRef } from '../store.js'
import type { RedisContext } from './context.js'
import { inBackground } from './context.js'
import { shortHash } from './keys.js'

/** How often a duplicate looks by itself. */
const lookMs = 500

export interface OwnClaim {
  readonly hash: string
  readonly digest: string
  readonly owner: string
  readonly since: number
}

export class Claims {
  /** Claims that this process has not answered yet, by session and key. */
  private readonly own = new Map<string, OwnClaim & { readonly sessionId: string }>()
  private readonly renewer: NodeJS.Timeout

  constructor(private readonly context: RedisContext) {
    this.renewer = setInterval(() => this.renewAll(), context.bounds.permitLeaseMs / 3).unref()
  }

  /** `epoch` and `tenant` may be '' for any. */
  async claim(
    session: { readonly sessionId: string; readonly epoch: number | '' },
    tenant: string,
    key: string,
    requestDigest: string,
    waitMs: number,
  ): Promise<Claim | 'gone'> {
    const { client, keys, wakes, random, monotonic, bounds } = this.context
    const [hash, digest] = [shortHash(key), shortHash(requestDigest)]
    const owner = shortHash(random())
    const until = monotonic() + waitMs
    const lease = Math.min(bounds.permitLeaseMs, bounds.claimMaxMs)
    const turn = wakes.turn(keys.claim(session.sessionId, hash))
    try {
      for (;;) {
        const left = until - monotonic()
        const reply = await client.run(
          'claim',
          keys.session(session.sessionId),
          session.epoch,
          tenant,
          hash,
          digest,
          owner,
          lease,
          left > 0 ? 1 : 0,
        )
        switch (reply.word) {
          case 'gone':
            return 'gone'
          case 'mine':
            this.own.set(ownKey(session, key), {
              sessionId: session.sessionId,
              hash,
              digest,
              owner,
              since: monotonic(),
            })
            return { status: 'mine' }
          case 'answered':
            return { status: 'answered', answer: { status: reply.number(0), body: reply.text(1) } }
          case 'reused':
            return { status: 'reused' }
        }
        if (left <= 0) return { status: 'busy' }
        await turn.wait(Math.min(left, lookMs))
      }
    } finally {
      turn.end()
    }
  }

  async answer(ref: SessionRef, key: string, answer: Answer): Promise<Answer> {
    const own = this.take(ref, key)
    if (!own) return answer
    const { client, keys, boundsJson } = this.context
    const reply = await client.run(
      'put-answer',
      keys.session(ref.sessionId),
      ref.epoch,
      own.hash,
      own.digest,
      own.owner,
      answer.status,
      answer.body,
      keys.wakeChannel,
      boundsJson,
    )
    return reply.word === 'answered' ? { status: reply.number(0), body: reply.text(1) } : answer
  }

  async unclaim(ref: SessionRef, key: string): Promise<void> {
    const own = this.take(ref, key)
    if (!own) return
    const { client, keys } = this.context
    await client.run('unclaim', keys.session(ref.sessionId), ref.epoch, own.hash, own.owner, keys.wakeChannel)
  }

  /** The claim that this process holds on a key. */
  find(ref: Pick<SessionRef, 'sessionId'>, key: string): OwnClaim | undefined {
    return this.own.get(ownKey(ref, key))
  }

  /** Ends the renewal: the claim is answered, given back, or left to its lease. */
  take(ref: Pick<SessionRef, 'sessionId'>, key: string): OwnClaim | undefined {
    const own = this.find(ref, key)
    this.own.delete(ownKey(ref, key))
    return own
  }

  close(): void {
    clearInterval(this.renewer)
  }

  private renewAll(): void {
    const { client, keys, bounds, monotonic } = this.context
    for (const [id, claim] of this.own) {
      if (monotonic() - claim.since >= bounds.claimMaxMs) this.own.delete(id)
      else {
        const key = keys.session(claim.sessionId)
        inBackground(client.run('renew-claim', key, claim.hash, claim.owner, bounds.permitLeaseMs))
      }
    }
  }
}

function ownKey({ sessionId }: { readonly sessionId: string }, key: string): string {
  return `${sessionId} ${key}`
}
