/**
 * Values as the Redis store keeps them, each with its format number: what does not parse is undefined and counts as absent. The scripts read and write the same
 * forms (see the headers in scripts/lib). Called by the parts of the Redis store.
 */
import type { Seen } from '../../text/line-set.js'
import { LineSet } from '../../text/line-set.js'
import type { StoreBounds } from '../bounds.js'
import type { Recording, RegisterSummary, Session, StoredEvent, Version } from '../store.js'
import { eventTypes } from '../store.js'
import type { Reply } from './reply.js'

/** The bounds under the names that the scripts use. */
export function boundsJson(bounds: StoreBounds): string {
  return JSON.stringify({
    paths: bounds.pathsPerSession,
    versions: bounds.versionsPerPath,
    ranges: bounds.seenRangesPerVersion,
    session: bounds.retainedBytesPerSession,
    file: bounds.retainedBytesPerFile,
    registers: bounds.registersPerSession,
    reviews: bounds.reviewsPerSession,
    reviewBytes: bounds.reviewBytesPerSession,
    reviewEvidence: bounds.reviewEvidencePerSession,
    reviewEvidenceBytes: bounds.reviewEvidenceBytesPerSession,
    answers: bounds.answersPerSession,
    answerBytes: bounds.answerBytesPerSession,
    guard: bounds.guardEntriesPerSession,
    events: bounds.eventsPerSession,
    eventBytes: bounds.eventBytesPerSession,
  })
}

// — sessions —

export function sessionFields(session: Omit<Session, 'createdAt' | 'expiresAt' | 'epoch' | 'sessionId'>): string[] {
  return [
    ...['tenant', session.tenant, 'workspace', session.workspace, 'access', session.access],
    ...['externalRoots', JSON.stringify(session.externalRoots)],
    ...(session.label === undefined ? [] : ['label', session.label]),
  ]
}

/** Reads `open`: ms left, the clock, then fields. */
export function parseSession(sessionId: string, reply: Reply): Session | undefined {
  const list = reply.list(2)
  const fields = new Map<string, string>()
  for (let i = 0; i + 1 < list.length; i += 2) fields.set(list.text(i), list.text(i + 1))
  const [tenant, workspace, access, label] = ['tenant', 'workspace', 'access', 'label'].map((name) => fields.get(name))
  const [epoch, ttl, createdAt] = ['epoch', 'ttl', 'createdAt'].map((name) => natural(fields.get(name)))
  const externalRoots = stringList(fields.get('externalRoots'))
  if (tenant === undefined || workspace === undefined || !externalRoots) return undefined
  if (epoch === undefined || ttl === undefined || createdAt === undefined) return undefined
  if (access !== 'read-write' && access !== 'read-only') return undefined
  return {
    sessionId,
    tenant,
    workspace,
    access,
    externalRoots,
    ttlSeconds: ttl / 1000,
    createdAt,
    expiresAt: reply.number(1) + reply.number(0),
    epoch,
    ...(label === undefined ? {} : { label }),
  }
}

// — snapshots —

export function printSeen(seen: Seen, maxRanges: number): string {
  if (seen === 'unknown') return '*'
  const bounded = seen.ranges.length > maxRanges ? LineSet.of(seen.ranges.slice(0, maxRanges)) : seen
  return bounded.isEmpty ? '.' : bounded.toString()
}

function parseSeen(text: string): Seen | undefined {
  if (text === '*') return 'unknown'
  try {
    return text === '.' ? LineSet.empty : LineSet.parse(text)
  } catch {
    return undefined
  }
}

/** Path, tag, digests, sizes and seen lines, as `record` takes them. */
export function recordingFields({ path, facts, seen }: Recording, maxRanges: number): string[] {
  return [
    path,
    facts.tag,
    facts.versionDigest,
    facts.textDigest,
    String(facts.bytes),
    String(facts.totalLines),
    printSeen(seen, maxRanges),
  ]
}

const versionLine = /^([0-9A-F]{4}) ([0-9a-f]{64}) ([0-9a-f]{64}) (\d{1,15}) (\d{1,15}) (\d{1,15}) (\S+)$/

/** Reads one `{history, kept}`; undefined for what is not of format 1. */
export function parseHistory(history: string, kept: string): Version[] | undefined {
  if (history === '') return []
  const body = /^1\n(.*)\n\.$/s.exec(history)?.[1]
  if (body === undefined) return undefined
  const versions: Version[] = []
  for (const [i, line] of body.split('\n').entries()) {
    const [, tag, versionDigest, textDigest, bytes, totalLines, recordedAt, text] = versionLine.exec(line) ?? []
    const seen = text === undefined ? undefined : parseSeen(text)
    if (tag === undefined || versionDigest === undefined || textDigest === undefined || seen === undefined)
      return undefined
    versions.push({
      tag,
      versionDigest,
      textDigest,
      bytes: Number(bytes),
      totalLines: Number(totalLines),
      recordedAt: Number(recordedAt),
      seen,
      retained: kept[i] === '1',
    })
  }
  return versions
}

// — registers —

export function parseRegister(name: string, facts: string): RegisterSummary | undefined {
  const match = /^1 (\d{1,15}) (\d{1,15}) (\d{1,15})$/.exec(facts)
  return match ? { name, bytes: Number(match[1]), lineCount: Number(match[2]), updatedAt: Number(match[3]) } : undefined
}

export function parseLines(json: string): string[] | undefined {
  return stringList(json)
}

// — events —

export function parseEvent(value: string): StoredEvent | undefined {
  const match = /^1 ([1-9]\d{0,14}) (\d{1,15}) (\w+) (.*)$/s.exec(value)
  const [, id, at, name, json] = match ?? []
  const type = eventTypes.find((known) => known === name)
  if (id === undefined || json === undefined || type === undefined) return undefined
  const data = object(json)
  return data && { id, at: Number(at), type, data }
}

// — shared —

export function object(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

function stringList(json: string | undefined): string[] | undefined {
  try {
    const value: unknown = JSON.parse(json ?? '')
    return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
  } catch {
    return undefined
  }
}

function natural(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
