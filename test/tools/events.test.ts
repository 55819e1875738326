/**
 * The event stream through the whole service, on both stores (contract §13.4, http-api "Events"): real sockets, every kind, whichever replica.
 */
import { mkdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { eventTypes } from '../../src/sessions/store.js'
import { sha256 } from '../../src/text/digest.js'
import type { Client, Reply, Service } from '../service.js'
import { closeServices, service } from '../service.js'
import type { MakeStore } from './stores.js'
import { onBothStores } from './stores.js'

t.teardown(closeServices)

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join('')

interface Heard {
  readonly id: string
  readonly event: string
  readonly data: Record<string, unknown>
}

/** A listener on a real socket. */
class Listener {
  readonly heard: Heard[] = []
  readonly ended: Promise<void>
  private readonly controller = new AbortController()
  private text = ''

  private constructor(
    readonly response: Response,
    controller: AbortController,
  ) {
    this.controller = controller
    this.ended = this.pump().catch(() => undefined)
  }

  static async on(
    t: Test,
    s: Service,
    a: Pick<Client, 'url'>,
    headers: Record<string, string> = {},
  ): Promise<Listener> {
    if (!s.app.server.listening) await s.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = s.app.server.address() as AddressInfo
    const controller = new AbortController()
    const response = await fetch(`http://127.0.0.1:${port}${a.url}/events`, { headers, signal: controller.signal })
    const listener = new Listener(response, controller)
    t.teardown(() => listener.stop())
    return listener
  }

  stop(): void {
    this.controller.abort()
  }

  /** Waits for an event; generous, and only for what must come. */
  async next(wanted: (heard: Heard) => boolean, ms = 20_000): Promise<Heard> {
    const end = performance.now() + ms
    for (;;) {
      const found = this.heard.find(wanted)
      if (found) return found
      if (performance.now() > end)
        throw new Error(`not heard; heard were ${this.heard.map(({ event }) => event).join()}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  async count(events: number): Promise<readonly Heard[]> {
    await this.next(() => this.heard.length >= events)
    return this.heard
  }

  private async pump(): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of this.response.body ?? []) {
      this.text += decoder.decode(chunk as Uint8Array, { stream: true })
      const frames = this.text.split('\n\n')
      this.text = frames.pop() ?? ''
      for (const frame of frames) {
        const fields = new Map(
          frame.split('\n').map((row) => [row.slice(0, row.indexOf(':')), row.slice(row.indexOf(':') + 2)]),
        )
        const event = fields.get('event')
        if (event === undefined) continue
        const data = JSON.parse(fields.get('data') ?? '') as Record<string, unknown>
        this.heard.push({ id: fields.get('id') ?? '', event, data })
      }
    }
  }
}

const of = (event: string) => (heard: Heard) => heard.event === event

await onBothStores(t, async (t, make) => {
  await kinds(t, make)
  await resuming(t, make)
  await whoHears(t, make)
})

async function kinds(t: Test, make: MakeStore): Promise<void> {
  await t.test('every kind is heard, in order, with what it takes to draw it', async (t) => {
    const s = await service(t, { store: make(t).store })
    await s.put('a.ts', 'function f() {\n  return 1\n}\nlast()\nmore()\n')
    const a = await s.session({ label: 'ours' })
    const listener = await Listener.on(t, s, a)
    t.match(listener.response.headers.get('content-type'), 'text/event-stream')
    await a.read('a.ts')
    await a.grep('last')
    const edited = await a.edit('a.ts', 'CUT 1* @fn\nPUT 5.=5:\n+last()\n+done()', { promptId: 'p' })
    const written = await a.write('new.txt', 'n\n', { promptId: 'p' })
    for (let i = 0; i < 3; i++) await a.edit('a.ts', 'PUT 1.=1:\n+last()', { promptId: 'p' })
    const rolled = (written.body['review'] as { reviewId: string }).reviewId
    await a.post(`/reviews/${rolled}/rollback`)
    await s.call('DELETE', a.url)
    await listener.ended
    const { heard } = listener
    t.same(
      heard.map(({ event }) => event),
      [
        'opened',
        'read',
        'searched',
        'edited',
        'written',
        'refused',
        'refused',
        'refused',
        'terminated',
        'rolledBack',
        'closed',
      ],
    )
    t.same([...new Set(heard.map(({ event }) => event))].sort(), [...eventTypes].sort())
    t.same(
      heard.map(({ id }) => Number(id)),
      heard.map((_, i) => Number(heard[0]?.id) + i),
      'ids are consecutive, so that a gap can be told',
    )
    for (const { data } of heard) t.match(data, { workspace: 'w', at: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ })
    const data = (event: string) => heard.find(of(event))?.data
    t.match(data('opened'), { access: 'read-write', label: 'ours' })
    t.match(data('read'), { path: 'a.ts', offset: 1, lineCount: 5, totalLines: 5, tag: /^[0-9A-F]{4}$/ })
    t.match(data('searched'), { pattern: 'last' })
    const { warnings, hunks, resolutions, ops, tag, previousTag, branch, additions, deletions } = edited.body
    t.match(warnings, [{ code: 'BOUNDARY_ECHO_REMOVED' }])
    t.match(resolutions, [{ anchorLine: 1, start: 1, end: 3, op: 'cut' }])
    t.match(data('edited'), {
      ...{
        path: 'a.ts',
        root: 'workspace',
        promptId: 'p',
        reviewId: (edited.body['review'] as { reviewId: string }).reviewId,
      },
      ...{ warnings, hunks, resolutions, ops, tag, previousTag, branch, additions, deletions },
    })
    t.same(ops, ['CUT 1* @fn', 'PUT 5.=5:'], 'the op headers, verbatim')
    t.match(data('written'), {
      ...{
        path: 'new.txt',
        promptId: 'p',
        created: true,
        tag: written.body['tag'],
        reviewId: rolled,
        ops: [],
        warnings: [],
      },
      ...{ additions: 1, deletions: 0, hunks: [{ rows: [{ kind: '+', line: 1, text: 'n' }] }] },
    })
    t.match(data('refused'), {
      ...{ operation: 'edit', path: 'a.ts', promptId: 'p', code: 'EDIT_NO_CHANGE', ops: ['PUT 1.=1:'] },
      ...{ detail: /^nothing was written/, guard: { attempt: 1, grace: false } },
    })
    t.match(data('terminated'), {
      ...{ promptId: 'p', path: 'a.ts' },
      guard: { code: 'MUTATION_RETRY_BUDGET_EXHAUSTED', lastErrorCode: 'EDIT_NO_CHANGE', attempt: 3, recovery: /./ },
    })
    t.match(data('rolledBack'), { reviewId: rolled, operation: 'write', promptId: 'p', paths: ['new.txt'] })
  })

  await t.test('moves, removals, recovered edits and hooks show what they did', async (t) => {
    const upper = { glob: '**/*.up', command: ['tr', 'a-z', 'A-Z'], timeoutMs: 5_000 } as const
    const s = await service(t, { store: make(t).store, hooks: [upper] })
    for (const file of ['mv.txt', 'rem.txt', 'drift.txt', 'lost.txt']) await s.put(file, lines(4))
    const a = await s.session()
    for (const file of ['mv.txt', 'rem.txt', 'drift.txt', 'lost.txt']) await a.read(file)
    const listener = await Listener.on(t, s, a)
    await s.put('drift.txt', `x\n${lines(4)}`)
    await a.edit('mv.txt', 'PUT 1.=1:\n+one\nMV to/mv.txt')
    await a.edit('rem.txt', 'REM')
    await a.edit('drift.txt', 'PUT 2.=2:\n+two')
    await a.write('a.up', 'x\n')
    const scratch = `${String(a.opened['scratchRoot'])}/s.txt`
    await a.write(scratch, 's\n')
    await listener.next(({ data }) => data['path'] === scratch)
    const at = (path: string) =>
      listener.heard.find(({ event, data }) => event !== 'read' && data['path'] === path)?.data
    t.match(at('mv.txt'), {
      ...{ movedTo: 'to/mv.txt', ops: ['PUT 1.=1:', 'MV to/mv.txt'] },
      hunks: [{ rows: [{ kind: '-', text: 'line 1' }, { kind: '+', text: 'one' }, {}, {}] }],
    })
    t.match(at('rem.txt'), { deleted: true, deletions: 4, hunks: [{ oldLines: 4, newLines: 0 }] })
    t.notOk('tag' in (at('rem.txt') ?? {}))
    t.match(at('drift.txt'), {
      branch: 'recovered',
      warnings: [{ code: 'RECOVERED_EXTERNAL' }, { code: 'RECOVERED_LINE_REMAP' }],
    })
    t.match(at('a.up'), { warnings: [{ code: 'POST_WRITE_DRIFT' }], hunks: [{ rows: [{ text: 'x' }] }] })
    t.match(at(scratch), { root: 'scratch', hunks: [{ rows: [{ text: 's' }] }] })
    t.notOk('reviewId' in (at(scratch) ?? {}))
  })

  await t.test('refusals of every tool are heard; dry runs, replays and looks are not', async (t) => {
    const s = await service(t, { store: make(t).store })
    await s.put('a.txt', 'a\n')
    const a = await s.session()
    const listener = await Listener.on(t, s, a)
    const key = { 'idempotency-key': 'k' }
    await a.read('none.txt')
    await a.grep('(', {})
    await a.write('../x', 'x')
    await a.edit('a.txt', 'CUT 1.=1', { tag: '0000', dryRun: true })
    await a.write('a.txt', 'x\n', { dryRun: true })
    await a.write('b.txt', 'b\n', {}, key)
    await a.write('b.txt', 'b\n', {}, key)
    await a.write('c.txt', 'b\n', {}, key)
    await a.post('/reviews/rv_none/rollback')
    await a.get('/reviews')
    await a.get('')
    await a.edit('a.txt', 'CUT 1', {}, { 'idempotency-key': 'r' })
    await a.edit('a.txt', 'CUT 1', {}, { 'idempotency-key': 'r' })
    await a.read('a.txt')
    await listener.next(of('read'))
    t.same(
      listener.heard.slice(1).map(({ event, data }) => [event, data['operation'], data['code']].join(' ').trim()),
      [
        'refused read NOT_FOUND',
        'refused grep INVALID_ARGUMENT',
        'refused write PATH_OUTSIDE_WORKSPACE',
        'written',
        'refused write IDEMPOTENCY_KEY_REUSED',
        'refused rollback NOT_FOUND',
        'refused edit EDIT_PARSE_FAILED',
        'read',
      ].map((row) => row.replace(/^(written|read)$/, '$1')),
    )
  })

  await t.test('a reported shell patch ends a prompt for listeners too', async (t) => {
    const s = await service(t, { store: make(t).store })
    const a = await s.session()
    const listener = await Listener.on(t, s, a)
    for (let i = 0; i < 3; i++) await a.post('/failures', { promptId: 'p', path: 'a.txt', kind: 'patch-command' })
    t.match((await listener.next(of('terminated'))).data, {
      ...{ promptId: 'p', path: 'a.txt' },
      guard: { kind: 'patch-command', attempt: 3 },
    })
  })

  await t.test('rows in events are bounded; the review has the rest', async (t) => {
    const s = await service(t, { store: make(t).store })
    const a = await s.session()
    const listener = await Listener.on(t, s, a)
    const reply = await a.write('wide.txt', `${'w'.repeat(1_000)}\n`.repeat(1_000))
    const { data } = await listener.next(of('written'))
    t.match(data, { hunksTruncated: true, additions: 1_000 })
    t.ok(JSON.stringify(data).length < 100_000)
    const review = await a.get(`/reviews/${(reply.body['review'] as { reviewId: string }).reviewId}`)
    t.ok(review.text.length > 400_000)
  })
}

async function resuming(t: Test, make: MakeStore): Promise<void> {
  await t.test('a listener goes on behind the last id it has, at another replica too', async (t) => {
    const { store, replica } = make(t)
    const s = await service(t, { store })
    const other = await service(t, { store: replica(), root: s.root })
    const a = await s.session()
    const here = await Listener.on(t, s, a)
    const there = await Listener.on(t, other, a)
    for (let i = 1; i <= 3; i++) await a.write(`${i}.txt`, 'x\n')
    await other.call('POST', `${a.url}/write`, { path: '4.txt', content: 'x\n' })
    await here.count(5)
    t.same(await there.count(5), here.heard, 'both hear the same under the same ids')
    const last = here.heard[2]?.id ?? ''
    for (const at of [s, other]) {
      const again = await Listener.on(t, at, a, { 'last-event-id': last })
      t.same(await again.count(2), here.heard.slice(3))
    }
    const late = await Listener.on(t, other, a)
    t.same(await late.count(5), here.heard, 'without an id everything that is kept')
    const foreign = await Listener.on(t, s, a, { 'last-event-id': 'nonsense' })
    t.same(await foreign.count(5), here.heard)
    await s.call('DELETE', a.url)
    for (const listener of [here, there, late]) {
      await listener.ended
      t.equal(listener.heard.at(-1)?.event, 'closed')
    }
    t.equal((await s.call('GET', `${a.url}/events`)).code, 'SESSION_NOT_FOUND')
  })

  await t.test('many changes at once from many replicas: each is heard once', async (t) => {
    const { store, replica } = make(t)
    const s = await service(t, { store })
    const other = await service(t, { store: replica(), root: s.root })
    const a = await s.session()
    const listener = await Listener.on(t, other, a)
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? s : other).call('POST', `${a.url}/write`, { path: `${i}.txt`, content: 'x\n' }),
      ),
    )
    t.ok(replies.every((reply: Reply) => reply.status === 200))
    const heard = await listener.count(21)
    const paths = heard.flatMap(({ event, data }) => (event === 'written' ? [String(data['path'])] : []))
    t.same(paths.sort(), Array.from({ length: 20 }, (_, i) => `${i}.txt`).sort())
  })
}

async function whoHears(t: Test, make: MakeStore): Promise<void> {
  await t.test('nobody hears of a workspace or sees rows that are not for them', async (t) => {
    const { store, replica } = make(t)
    const token = (name: string, workspaces: readonly string[]) => ({
      ...{ sha256: sha256(Buffer.from(name)), tenant: name.slice(0, 3) },
      grants: new Map(workspaces.map((workspace) => [workspace, 'read-write'] as const)),
    })
    const tokens = [token('one-both', ['w', 'v']), token('one-v', ['v']), token('two', ['w', 'v'])]
    const s = await service(t, { store, app: { tokens } })
    await mkdir(join(s.root, 'workspaces/v'))
    const strict = await service(t, { store: replica(), root: s.root, app: { tokens }, denyRead: ['**/secret.txt'] })
    const as = (name: string): Record<string, string> => ({ authorization: `Bearer ${name}` })
    const { body } = await s.call('POST', '/v1/sessions', { workspace: 'w' }, as('one-both'))
    const a = { url: `/v1/sessions/${String(body['sessionId'])}` }
    const write = (path: string) => s.call('POST', `${a.url}/write`, { path, content: 'rows\n' }, as('one-both'))
    await write('in-w.txt')
    t.equal((await s.call('GET', `${a.url}/events`, undefined, as('two'))).code, 'SESSION_NOT_FOUND')
    t.equal((await s.call('GET', `${a.url}/events`, undefined, as('one-v'))).code, 'TOOL_DENIED')
    t.equal((await s.call('GET', `${a.url}/events`)).code, 'UNAUTHORIZED')
    t.equal((await s.call('PUT', `${a.url}/workspace`, { workspace: 'v' }, as('one-both'))).status, 200)
    await write('secret.txt')
    await write('open.txt')
    const paths = async (at: Service, name: string): Promise<unknown[]> => {
      const listener = await Listener.on(t, at, a, as(name))
      await listener.next(({ data }) => data['path'] === 'open.txt')
      return listener.heard.map(({ event, data }) => [event, data['path'], 'hunks' in data].join(' '))
    }
    t.same(await paths(s, 'one-both'), [
      ...['opened  false', 'written in-w.txt true', 'opened  false'],
      ...['written secret.txt true', 'written open.txt true'],
    ])
    t.same(await paths(s, 'one-v'), ['opened  false', 'written secret.txt true', 'written open.txt true'])
    t.same(await paths(strict, 'one-v'), ['opened  false', 'written secret.txt false', 'written open.txt true'])
  })
}
