/**
 * The snapshots of one session in memory: histories by path, texts by digest, the index of tags (contract §4, reading §2).
 *
 * Enforces every bound of contract §4.4. Knows no epochs, permits or clocks. Called by the memory store.
 */
import { basename } from 'node:path'
import type { Seen } from '../../text/line-set.js'
import { LineSet } from '../../text/line-set.js'
import type { StoreBounds } from '../bounds.js'
import { uniteSeen } from '../seen.js'
import type { Recorder, Recording, SnapshotEntry, Version, VersionFacts } from '../store.js'
import type { Hold, Retained } from './retained.js'

interface KeptVersion {
  readonly facts: VersionFacts
  readonly seen: Seen
  readonly recordedAt: number
}

interface History {
  /** `search` while nothing but searches recorded the path (reading §2.10). */
  by: Recorder
  /** Newest first. */
  versions: KeptVersion[]
}

interface KeptText {
  readonly bytes: Uint8Array
  hold?: Hold
}

export class Snapshots {
  /** Coldest first. */
  private readonly paths = new Map<string, History>()
  private readonly texts = new Map<string, KeptText>()
  private readonly index = new Map<string, Set<string>>()
  private textBytes = 0

  constructor(
    private readonly bounds: StoreBounds,
    private readonly retained: Retained,
  ) {}

  get usage(): { readonly paths: number; readonly versions: number; readonly retainedBytes: number } {
    let versions = 0
    for (const history of this.paths.values()) versions += history.versions.length
    return { paths: this.paths.size, versions, retainedBytes: this.textBytes }
  }

  history(path: string): readonly Version[] {
    return this.paths.get(path)?.versions.map((v) => this.shown(v)) ?? []
  }

  /** Hottest path first, newest version first. */
  entries(): readonly SnapshotEntry[] {
    return [...this.paths]
      .reverse()
      .flatMap(([path, history]) => history.versions.map((v) => ({ path, ...this.shown(v) })))
  }

  pathsWith(name: string, tag: string): readonly string[] {
    return [...(this.index.get(indexKey(name, tag)) ?? [])].sort()
  }

  /** Reading is use: the text becomes the hottest, unless `peek`. */
  text(textDigest: string, peek: boolean): Uint8Array | undefined {
    const text = this.texts.get(textDigest)
    if (!peek) text?.hold?.touch()
    return text?.bytes
  }

  record(recording: Recording, by: Recorder, now: number): 'recorded' | 'noRoom' {
    const { path, facts } = recording
    let history = this.paths.get(path)
    if (history === undefined) {
      if (!this.makePlace(by)) return 'noRoom'
      history = { by, versions: [] }
    }
    if (by === 'display') history.by = 'display'
    this.paths.delete(path)
    this.paths.set(path, history)
    const at = history.versions.findIndex((v) => v.facts.textDigest === facts.textDigest && v.facts.tag === facts.tag)
    const known = at < 0 ? undefined : history.versions.splice(at, 1)[0]
    const seen = uniteSeen(known?.seen ?? LineSet.empty, recording.seen, this.bounds.seenRangesPerVersion)
    history.versions.unshift({ facts: known?.facts ?? facts, seen, recordedAt: now })
    this.enter(path, facts.tag)
    for (const old of history.versions.splice(this.bounds.versionsPerPath)) this.released(path, history, old)
    this.keepText(recording, by)
    return 'recorded'
  }

  /** `keepTexts` leaves the texts to a recording that follows in the same step; `sweepTexts` ends that step. */
  forget(path: string, keepTexts = false): void {
    const history = this.paths.get(path)
    if (history === undefined) return
    this.paths.delete(path)
    for (const version of history.versions) this.leave(path, version.facts.tag)
    if (!keepTexts) for (const version of history.versions) this.dropTextUnlessUsed(version.facts.textDigest)
  }

  move(from: string, to: string): void {
    if (from === to) return
    this.forget(to, true)
    const history = this.paths.get(from)
    if (history === undefined) return
    this.forget(from, true)
    this.paths.set(to, history)
    for (const version of history.versions) this.enter(to, version.facts.tag)
  }

  sweepTexts(): void {
    const used = new Set<string>()
    for (const history of this.paths.values()) for (const v of history.versions) used.add(v.facts.textDigest)
    for (const digest of this.texts.keys()) if (!used.has(digest)) this.dropText(digest)
  }

  clear(): void {
    this.paths.clear()
    this.index.clear()
    for (const digest of this.texts.keys()) this.dropText(digest)
  }

  private shown(version: KeptVersion): Version {
    return {
      ...version.facts,
      seen: version.seen,
      recordedAt: version.recordedAt,
      retained: this.texts.has(version.facts.textDigest),
    }
  }

  /** One more path fits, if need be by evicting one. A search never evicts what was displayed. */
  private makePlace(by: Recorder): boolean {
    if (this.paths.size < this.bounds.pathsPerSession) return true
    const coldest = this.coldest(by)
    if (coldest === undefined) return false
    this.forget(coldest)
    return true
  }

  /** The path to evict for a recording: the coldest that only searches recorded, else for a display the coldest of all. */
  private coldest(by: Recorder, except?: string): string | undefined {
    let displayed: string | undefined
    for (const [path, history] of this.paths) {
      if (path === except) continue
      if (history.by === 'search') return path
      displayed ??= path
    }
    return by === 'display' ? displayed : undefined
  }

  private keepText(recording: Recording, by: Recorder): void {
    const { path, facts } = recording
    const kept = this.texts.get(facts.textDigest)
    if (kept) return kept.hold?.touch()
    if (facts.bytes > this.bounds.retainedBytesPerFile) return
    if (!this.makeTextRoom(facts.bytes, path, by)) return
    const bytes = exact(recording)
    const text: KeptText = { bytes }
    this.texts.set(facts.textDigest, text)
    this.textBytes += bytes.byteLength
    text.hold = this.retained.hold('text', bytes.byteLength, () => this.dropText(facts.textDigest))
  }

  /** Evicts whole paths until `bytes` fit, then older texts of the path itself. A search evicts nothing: it is recorded without its text. */
  private makeTextRoom(bytes: number, path: string, by: Recorder): boolean {
    const fits = (): boolean => this.textBytes + bytes <= this.bounds.retainedBytesPerSession
    if (by === 'search') return fits()
    while (!fits()) {
      const coldest = this.coldest(by, path)
      if (coldest === undefined) break
      this.forget(coldest)
    }
    const own = this.paths.get(path)?.versions.slice(1) ?? []
    while (!fits()) {
      const oldest = own.pop()
      if (oldest === undefined) return false
      this.dropText(oldest.facts.textDigest)
    }
    return true
  }

  private released(path: string, history: History, version: KeptVersion): void {
    if (!history.versions.some((v) => v.facts.tag === version.facts.tag)) this.leave(path, version.facts.tag)
    this.dropTextUnlessUsed(version.facts.textDigest)
  }

  private dropTextUnlessUsed(digest: string): void {
    for (const history of this.paths.values()) if (history.versions.some((v) => v.facts.textDigest === digest)) return
    this.dropText(digest)
  }

  private dropText(digest: string): void {
    const text = this.texts.get(digest)
    if (text === undefined) return
    this.texts.delete(digest)
    this.textBytes -= text.bytes.byteLength
    text.hold?.free()
  }

  private enter(path: string, tag: string): void {
    const key = indexKey(basename(path), tag)
    const paths = this.index.get(key)
    if (paths) paths.add(path)
    else this.index.set(key, new Set([path]))
  }

  private leave(path: string, tag: string): void {
    const key = indexKey(basename(path), tag)
    const paths = this.index.get(key)
    if (paths?.delete(path) && paths.size === 0) this.index.delete(key)
  }
}

function indexKey(name: string, tag: string): string {
  return `${tag}\0${name}`
}

/** The text in memory of its own size: a slice of a larger buffer would keep all of that. */
function exact(recording: Recording): Uint8Array {
  const bytes = recording.text()
  if (bytes.byteLength !== recording.facts.bytes)
    throw new RangeError(`a text of ${recording.facts.bytes} bytes was announced and ${bytes.byteLength} were given`)
  return bytes.buffer.byteLength > bytes.byteLength + 1024 ? Uint8Array.from(bytes) : bytes
}
