/**
 * Stage, commit, release and settle in Redis (reading §8.3–8.5). The intent lies in the slot of its session, a mark that names it in the slot of each file; what is
 * published is decided by the one script that finds the intent. Called by redis.ts.
 */
import { limits } from '../../limits.js'
import { sha256 } from '../../text/digest.js'
import { assertRegister } from '../registers.js'
import type { Intent, Leftover, Permit, Recording } from '../store.js'
import type { Claims } from './claims.js'
import type { RedisContext } from './context.js'
import { allOf } from './context.js'
import type { EncodedIntent } from './intent-codec.js'
import { encodeIntent, printMark } from './intent-codec.js'
import { pack } from '../packing.js'
import type { HeldPermit, Permits } from './permits.js'
import type { Reply } from './reply.js'
import { packText } from './snapshots.js'

/** Marks outlive the intents they name. */
const markMs = 2 * limits.sessionMaxTtlSeconds * 1000

interface Staged {
  readonly intentId: string
  readonly mark: string
  readonly answerKey: string | undefined
  /** Pairs of digest and packed text that the store does not have. */
  readonly texts: Promise<readonly (string | Buffer)[]>
}

export class Intents {
  private readonly staged = new Map<string, Staged>()

  constructor(
    private readonly context: RedisContext,
    private readonly permits: Permits,
    private readonly claims: Claims,
  ) {}

  async stage(permit: Permit, intent: Intent): Promise<'staged' | 'lost' | 'gone'> {
    const { bounds } = this.context
    for (const register of intent.registers) assertRegister(register.lines, bounds)
    const held = this.permits.find(permit)
    if (held === undefined) return 'lost'
    const claim = intent.answer && this.claims.find(held.ref, intent.answer.key)
    const encoded = await encodeIntent(intent, claim, bounds, held.knownTexts)
    const mark = printMark({ ref: held.ref, intentId: intent.intentId })
    const marking = allOf(held.files.map(async (file) => this.markFile(held, file, mark)))
    const [session, files] = await bothOf(this.stageSession(held, intent, encoded, claim), marking)
    if (typeof session === 'string') return session
    if (files.includes('lost')) return 'lost'
    const texts = textsOf(intent.recordings, session.text(0), bounds.retainedBytesPerFile)
    // Commit awaits it; a fault before that must not end the process.
    texts.catch(() => undefined)
    this.staged.set(permit.token, { intentId: intent.intentId, mark, answerKey: intent.answer?.key, texts })
    return 'staged'
  }

  async commit(permit: Permit): Promise<'recorded' | 'gone'> {
    const held = this.permits.find(permit)
    const staged = this.staged.get(permit.token)
    if (held === undefined) return 'gone'
    if (staged === undefined) {
      await this.release(permit)
      throw new Error('commit comes after stage')
    }
    this.permits.end(permit)
    this.staged.delete(permit.token)
    if (staged.answerKey !== undefined) this.claims.take(held.ref, staged.answerKey)
    const { client, keys, boundsJson } = this.context
    const permits = held.files.map((file) => keys.filePermit(file))
    const session = keys.session(held.ref.sessionId)
    const args = [held.ref.epoch, held.token, staged.intentId, keys.wakeChannel, boundsJson, staged.mark]
    const texts = await staged.texts
    const all = client.hasOneSlot ? [session, ...permits] : [session]
    const commit = client.runOn('commit', all, ...args, ...texts).then((reply) => reply.word)
    return (await (client.hasOneSlot ? commit : this.withFiles(commit, held, staged.mark))) === 'recorded'
      ? 'recorded'
      : 'gone'
  }

  /** In a Cluster files are released in the same wave. When the intent could not be published, whoever takes a file next must still find it. */
  private async withFiles(commit: Promise<string>, held: HeldPermit, mark: string): Promise<string> {
    const { client, keys } = this.context
    const files = held.files.map(async (file) => this.releaseFile(file, held.token, mark))
    const [committed] = await Promise.allSettled([commit, ...files])
    if (committed.status === 'fulfilled') return committed.value
    await Promise.allSettled(
      held.files.map(async (file) => client.run('put-mark', keys.filePermit(file), mark, markMs)),
    )
    throw committed.reason
  }

  /** Never throws. */
  async release(permit: Permit): Promise<void> {
    const held = this.permits.end(permit)
    const staged = this.staged.get(permit.token)
    this.staged.delete(permit.token)
    if (held === undefined) return
    const { client, keys } = this.context
    await Promise.allSettled([
      client.run('release-session', keys.session(held.ref.sessionId), held.token, keys.wakeChannel),
      ...held.files.map(async (file) => this.releaseFile(file, held.token, staged?.mark ?? '')),
    ])
  }

  async settle(
    permit: Permit,
    leftover: Leftover,
    landed: boolean,
    texts: (path: string) => Uint8Array | undefined,
  ): Promise<'settled' | 'absent'> {
    const held = this.permits.find(permit)
    if (held === undefined) return 'absent'
    const { client, keys, boundsJson } = this.context
    const { ref, intent } = leftover
    const key = keys.session(ref.sessionId)
    const reply = await client.run(
      'settle',
      key,
      ref.epoch,
      intent.intentId,
      landed ? 1 : 0,
      keys.wakeChannel,
      boundsJson,
    )
    const mark = printMark({ ref, intentId: intent.intentId })
    const files = new Set([
      ...intent.files.map((file) => file.path),
      ...(held.marks.get(intent.intentId) ?? []).map((m) => m.file),
    ])
    const unmark = [...files].map(async (file) => client.run('drop-mark', keys.filePermit(file), mark))
    const wanted = reply.word === 'settled' ? reply.list(0).lists(0) : []
    await Promise.all([...unmark, this.putWanted(leftover, wanted, texts)])
    return reply.word === 'settled' ? 'settled' : 'absent'
  }

  /** Texts of what was published without them, when the disk still holds exactly them. */
  private async putWanted(
    { ref }: Leftover,
    wanted: readonly Reply[],
    texts: (path: string) => Uint8Array | undefined,
  ): Promise<void> {
    const { client, keys, boundsJson } = this.context
    const args: (string | Buffer)[] = []
    for (const item of wanted) {
      const text = texts(item.text(0))
      if (text && sha256(text) === item.text(1)) args.push(item.text(0), item.text(1), item.text(2), await pack(text))
    }
    if (args.length > 0)
      await client.run('put-texts', keys.session(ref.sessionId), ref.epoch, 'display', boundsJson, ...args)
  }

  private async stageSession(
    held: HeldPermit,
    intent: Intent,
    encoded: EncodedIntent,
    claim: { readonly hash: string; readonly owner: string } | undefined,
  ): Promise<Reply | 'lost' | 'gone'> {
    const digests = intent.recordings.map((recording) => recording.facts.textDigest)
    const send = async (copies: EncodedIntent['copies'], fields: EncodedIntent['fields']): Promise<Reply> => {
      const { client, keys, bounds, monotonic } = this.context
      const since = monotonic()
      const reply = await client.run(
        'stage',
        keys.session(held.ref.sessionId),
        held.ref.epoch,
        held.token,
        bounds.permitLeaseMs,
        claim?.hash ?? '',
        claim?.owner ?? '',
        JSON.stringify({ texts: digests, befores: copies }),
        ...fields,
      )
      if (reply.word === 'staged') held.leases.took(keys.sessionPermit(held.ref.sessionId), since)
      return reply
    }
    let reply = await send(encoded.copies, encoded.fields)
    // The server evicted what it had when the permit was taken.
    if (reply.word === 'staged' && reply.list(1).length > 0)
      reply = await send([], [...encoded.fields, ...(await encoded.inline())])
    return reply.word === 'staged' ? reply : reply.word === 'gone' ? 'gone' : 'lost'
  }

  private async markFile(held: HeldPermit, file: string, mark: string): Promise<'held' | 'lost'> {
    const { client, keys, bounds, monotonic } = this.context
    const key = keys.filePermit(file)
    const since = monotonic()
    const reply = await client.run('mark-file', key, held.token, bounds.permitLeaseMs, mark, markMs)
    if (reply.word !== 'held') return 'lost'
    held.leases.took(key, since)
    return 'held'
  }

  private async releaseFile(file: string, token: string, mark: string): Promise<Reply> {
    const { client, keys } = this.context
    return client.run('release-file', keys.filePermit(file), token, keys.wakeChannel, mark)
  }
}

/** `kept` has '1' for each recording whose text the store has. Packing runs while the file lands. */
async function textsOf(
  recordings: readonly Recording[],
  kept: string,
  maxBytes: number,
): Promise<readonly (string | Buffer)[]> {
  const missing = recordings.filter((r, i) => kept[i] !== '1' && r.facts.bytes <= maxBytes)
  const packed = await Promise.all(missing.map(async (r) => [r.facts.textDigest, await packText(r)]))
  return packed.flat()
}

async function bothOf<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b])
  return Promise.all([a, b])
}
