/**
 * Snapshots in Redis (contract §4, reading §2). A text travels once: recording asks by digest, and the text follows only when it is wanted.
 * Called by redis.ts and by intents.
 */
import { sha256 } from '../../text/digest.js'
import { pack, unpack } from '../packing.js'
import type { RecordAnswer, Recorder, Recording, SessionRef, SnapshotEntry, Usage, Version } from '../store.js'
import { parseHistory, recordingFields } from './codec.js'
import type { RedisContext } from './context.js'
import type { Reply } from './reply.js'

/** Texts of one command; more of them are several commands of one wave. */
const textsPerCommand = 8

export class Snapshots {
  constructor(private readonly context: RedisContext) {}

  async histories(ref: SessionRef, paths: readonly string[]): Promise<ReadonlyMap<string, readonly Version[]>> {
    const { client, keys } = this.context
    const reply = await client.run('histories', keys.session(ref.sessionId), ref.epoch, ...paths)
    return reply.word === 'gone' ? new Map() : this.parsedHistories(paths, reply.lists(0))
  }

  /** `{history, kept}` of each path in turn. */
  parsedHistories(paths: readonly string[], replies: readonly Reply[]): Map<string, readonly Version[]> {
    return new Map(paths.map((path, i) => [path, this.versions(path, replies[i]?.text(0), replies[i]?.text(1))]))
  }

  async record(ref: SessionRef, recordings: readonly Recording[], by: Recorder): Promise<readonly RecordAnswer[]> {
    if (recordings.length === 0) return []
    const { client, keys, bounds, boundsJson } = this.context
    const fields = recordings.flatMap((recording) => recordingFields(recording, bounds.seenRangesPerVersion))
    const reply = await client.run('record', keys.session(ref.sessionId), ref.epoch, by, boundsJson, ...fields)
    if (reply.word === 'gone') return recordings.map(() => 'gone')
    const words = reply.texts()
    const wanted = new Map(recordings.filter((_, i) => words[i] === 'wants').map((r) => [r.facts.textDigest, r]))
    await this.putTexts(ref, [...wanted.values()], by)
    return words.map((word) => (word === 'noRoom' ? 'noRoom' : 'recorded'))
  }

  /** The versions are recorded already; a text that cannot be sent costs recovery alone. */
  async putTexts(ref: SessionRef, recordings: readonly Recording[], by: Recorder): Promise<void> {
    const { client, keys, boundsJson } = this.context
    const packed = await Promise.all(
      recordings.map(async (r) => [r.path, r.facts.textDigest, r.facts.bytes, await packText(r)] as const),
    )
    const waves: Promise<Reply>[] = []
    for (let i = 0; i < packed.length; i += textsPerCommand) {
      const args = packed.slice(i, i + textsPerCommand).flat()
      waves.push(client.run('put-texts', keys.session(ref.sessionId), ref.epoch, by, boundsJson, ...args))
    }
    await Promise.all(waves)
  }

  async text(ref: SessionRef, textDigest: string): Promise<Uint8Array | undefined> {
    if (!/^[0-9a-f]{64}$/.test(textDigest)) return undefined
    const { client, keys, bounds, log } = this.context
    const reply = await client.run('text', keys.session(ref.sessionId), ref.epoch, textDigest)
    if (reply.word !== 'text') return undefined
    const text = await unpack(reply.bytes(0), bounds.retainedBytesPerFile)
    if (text && sha256(text) === textDigest) return text
    log.warn({ sessionId: ref.sessionId, textDigest }, 'a text is not what its key says and counts as absent')
    return undefined
  }

  async entries(ref: SessionRef): Promise<readonly SnapshotEntry[]> {
    const reply = await this.context.client.run('snapshots', this.context.keys.session(ref.sessionId), ref.epoch)
    if (reply.word === 'gone') return []
    return reply.lists(0).flatMap((item) => {
      const path = item.text(0)
      return this.versions(path, item.text(1), item.text(2)).map((version) => ({ path, ...version }))
    })
  }

  async pathsWith(ref: SessionRef, basename: string, tag: string): Promise<readonly string[]> {
    const { client, keys } = this.context
    const reply = await client.run('paths-with', keys.session(ref.sessionId), ref.epoch, basename, tag)
    return reply.word === 'gone' ? [] : reply.list(0).texts().sort()
  }

  async usage(ref: SessionRef): Promise<Usage> {
    const reply = await this.context.client.run('usage', this.context.keys.session(ref.sessionId), ref.epoch)
    if (reply.word === 'gone') return { paths: 0, versions: 0, retainedBytes: 0, registers: 0 }
    const [paths, versions, retainedBytes, registers] = [0, 1, 2, 3].map((at) => reply.number(at)) as [
      number,
      number,
      number,
      number,
    ]
    return { paths, versions, retainedBytes, registers }
  }

  private versions(path: string, history = '', kept = ''): readonly Version[] {
    const versions = parseHistory(history, kept)
    if (versions) return versions
    this.context.log.warn({ path }, 'a history is not of our format and counts as absent')
    return []
  }
}

export async function packText({ facts, text }: Recording): Promise<Buffer> {
  const bytes = text()
  if (bytes.byteLength !== facts.bytes)
    throw new RangeError(`a text of ${facts.bytes} bytes was announced and ${bytes.byteLength} were given`)
  return pack(bytes)
}
