/** What the conformance suite needs of a store under test, and short ways to say what it is given. */
import { randomBytes } from 'node:crypto'
import type { StoreBounds } from '../../../src/sessions/bounds.js'
import type {
  Begun,
  Intent,
  NewSession,
  Permit,
  Recording,
  Review,
  Session,
  Store,
  StoredEvent,
  StoredReview,
  Version,
} from '../../../src/sessions/store.js'
import { sha256, tagOf } from '../../../src/text/digest.js'
import type { Seen } from '../../../src/text/line-set.js'
import { LineSet } from '../../../src/text/line-set.js'

export interface Harness {
  readonly store: Store
  /** Lets time pass for every TTL and lease. */
  readonly advance: (ms: number) => Promise<void>
  /** Another replica on the same data; absent where there can be none. `kill` ends it as SIGKILL would. */
  readonly replica?: () => Promise<{ readonly store: Store; readonly kill: () => Promise<void> }>
  readonly close: () => Promise<void>
}

export type MakeStore = (bounds?: Partial<StoreBounds>) => Promise<Harness>

let count = 0
export function newSession(changed: Partial<NewSession> = {}): NewSession {
  return {
    sessionId: randomBytes(16).toString('hex'),
    tenant: `tenant-${++count}`,
    workspace: 'demo',
    access: 'read-write',
    externalRoots: [],
    ttlSeconds: 3_600,
    ...changed,
  }
}

export async function opened(store: Store, changed: Partial<NewSession> = {}): Promise<Session> {
  const session = await store.create(newSession(changed), 1_000)
  if (session === 'full') throw new Error('full')
  return session
}

export function facts(text: string, tag?: string): Recording['facts'] {
  const versionDigest = sha256(text.replace(/[ \t\r]+$/gm, ''))
  const totalLines = text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  return {
    tag: tag ?? tagOf(versionDigest),
    versionDigest,
    textDigest: sha256(text),
    bytes: Buffer.byteLength(text),
    totalLines,
  }
}

/** `lines`: `all`, `unknown`, or as LineSet prints it. */
export function recording(path: string, text: string, lines = 'all', tag?: string): Recording {
  const f = facts(text, tag)
  const seen: Seen = lines === 'unknown' ? lines : lines === 'all' ? LineSet.all(f.totalLines) : LineSet.parse(lines)
  return { path, facts: f, seen, text: () => Buffer.from(text) }
}

/** A text of exactly `bytes` bytes that no other `seed` gives. */
export function textOf(bytes: number, seed: string | number): string {
  return `${seed}\n`.padEnd(bytes, 'x').slice(0, bytes)
}

export function shown(seen: Seen): string {
  return seen === 'unknown' ? seen : seen.toString()
}

/** `TAG:seen` newest first. */
export function sketch(versions: readonly Version[]): string[] {
  return versions.map((v) => `${v.tag}:${shown(v.seen)}`)
}

export async function paths(store: Store, session: Session): Promise<string[]> {
  return [...new Set((await store.snapshots(session)).map((s) => s.path))]
}

export async function held(
  store: Store,
  session: Session,
  files: readonly string[] = [],
  histories: readonly string[] = [],
  waitMs = 2_000,
): Promise<Extract<Begun, { status: 'held' }>> {
  const begun = await store.begin(session, { files, histories }, waitMs)
  if (begun.status !== 'held') throw new Error(`not held: ${begun.status}`)
  return begun
}

export function intent(changed: Partial<Intent> = {}): Intent {
  return {
    intentId: randomBytes(8).toString('hex'),
    files: [],
    recordings: [],
    forget: [],
    registers: [],
    events: [],
    ...changed,
  }
}

/** Begin, stage and commit as one. */
export async function publish(store: Store, session: Session, changed: Partial<Intent>): Promise<void> {
  const { permit } = await held(store, session)
  const staged = await store.stage(permit, intent(changed))
  if (staged !== 'staged') throw new Error(staged)
  const committed = await store.commit(permit)
  if (committed !== 'recorded') throw new Error(committed)
}

export function review(reviewId: string, before?: Uint8Array, changed: Partial<Review> = {}): StoredReview {
  return {
    workspace: 'demo',
    review: {
      reviewId,
      operation: 'edit',
      state: 'active',
      createdAt: 1,
      entries: [
        {
          path: 'a.txt',
          status: before ? 'modified' : 'added',
          additions: 1,
          deletions: 1,
          hunks: [],
          truncated: false,
          reversible: true,
          ...(before ? { beforeDigest: sha256(before) } : {}),
          afterDigest: sha256('after'),
        },
      ],
      ops: ['PUT 1.=1:'],
      warnings: [],
      resolutions: [],
      ...changed,
    },
    restore: [
      {
        canonical: '/w/a.txt',
        root: 'workspace',
        mode: 0o644,
        createdParents: [],
        ...(before ? { before } : {}),
      },
    ],
  }
}

export interface Heard {
  readonly events: StoredEvent[]
  readonly done: Promise<void>
  readonly stop: () => void
}

/** Listens in the background. */
export function hear(store: Store, session: Session, lastId?: string): Heard {
  const controller = new AbortController()
  const events: StoredEvent[] = []
  const done = (async () => {
    for await (const event of store.events(session, lastId, controller.signal)) events.push(event)
  })()
  return { events, done, stop: () => controller.abort() }
}

/** Waits for what happens in the background; generous, and only for what must happen. */
export async function until(what: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const end = performance.now() + ms
  while (!(await what())) {
    if (performance.now() > end) throw new Error(`did not happen: ${what.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export async function settledWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)))
  const settled = promise.then(
    () => true,
    () => true,
  )
  return Promise.race([settled, late]).finally(() => clearTimeout(timer))
}

export function permitOf(begun: Begun): Permit {
  if (begun.status !== 'held') throw new Error(`not held: ${begun.status}`)
  return begun.permit
}
