/**
 * What is measured: every series by its name and labels, the timed store, and readiness.
 */
import t from 'tap'
import { createMetrics } from '../../src/http/metrics.js'
import { readiness } from '../../src/readiness.js'
import { createMemoryStore } from '../../src/sessions/memory.js'
import { measuredStore } from '../../src/tools/measured-store.js'
import { noMetrics } from '../../src/tools/metrics.js'
import { appUnderTest } from './app-under-test.js'

const random = (): string => Math.random().toString(36).slice(2)

t.test('every recorder has its series', async (t) => {
  const metrics = createMetrics({ process: false })
  metrics.request('edit', 'EDIT_TAG_MISMATCH', 0.01)
  metrics.editBranch('recovered')
  metrics.recovery('line changed')
  metrics.repair('ambiguous')
  metrics.block('single-line')
  metrics.permitWait(0.2, 'busy')
  metrics.storeCall('begin', 0.001, true)
  metrics.storeRoundTrip('begin', 0.001)
  metrics.bytesWritten(120)
  metrics.guardTerminated()
  metrics.gauge('calls_in_flight', 'Calls at work.', () => 3)
  const text = await metrics.text()
  for (const series of [
    'anchorline_requests_total{operation="edit",code="EDIT_TAG_MISMATCH"} 1',
    'anchorline_request_seconds_bucket{le="0.01",operation="edit"} 1',
    'anchorline_edit_branches_total{branch="recovered"} 1',
    'anchorline_recoveries_total{outcome="line_changed"} 1',
    'anchorline_repairs_total{outcome="ambiguous"} 1',
    'anchorline_blocks_total{outcome="single-line"} 1',
    'anchorline_permit_wait_seconds_count{outcome="busy"} 1',
    'anchorline_store_call_seconds_count{call="begin",ok="true"} 1',
    'anchorline_store_round_trip_seconds_count{command="begin"} 1',
    'anchorline_written_bytes_total 120',
    'anchorline_guard_terminations_total 1',
    'anchorline_calls_in_flight 3',
  ])
    t.ok(text.includes(series), `${series}\n${text}`)
})

t.test('two apps of one process have registries of their own', async (t) => {
  const [a, b] = [createMetrics({ process: true }), createMetrics({ process: true })]
  a.bytesWritten(1)
  t.match(await a.text(), /written_bytes_total 1/)
  t.match(await b.text(), /written_bytes_total 0/)
  t.match(await a.text(), /anchorline_nodejs_eventloop_lag_seconds/)
})

t.test('no label is made of what a caller sends', async (t) => {
  const { app } = await appUnderTest(t)
  for (const url of ['/v1/some-secret', '/some-secret', '/v1/sessions/some-secret', '/docs/some-secret', '/%zz'])
    await app.inject({ url })
  await app.inject({ method: 'DELETE', url: '/v1/some-secret' })
  const text = (await app.inject({ url: '/metrics' })).body
  t.notMatch(text, /some-secret/)
  t.match(text, /operation="unknownRoute",code="NOT_FOUND"/)
})

t.test('/metrics can be turned off', async (t) => {
  const { app } = await appUnderTest(t, { exposeMetrics: false })
  t.equal((await app.inject({ url: '/metrics' })).statusCode, 404)
})

t.test('a measured store answers as the store does, and its calls are timed', async (t) => {
  const calls: [string, boolean][] = []
  const bare = createMemoryStore({ now: Date.now, monotonic: () => performance.now(), random })
  const storeCall = (call: string, seconds: number, ok: boolean): void => {
    t.ok(seconds >= 0)
    calls.push([call, ok])
  }
  const store = measuredStore(bare, { ...noMetrics, storeCall }, () => performance.now())
  t.equal(await store.ping(), true)
  t.equal(await store.open('none', false), undefined)
  t.same(calls, [
    ['ping', true],
    ['open', true],
  ])
  await store.close()
})

t.test('readiness asks every port, keeps its answer for a moment, and never throws', async (t) => {
  let now = 0
  let asked = 0
  let loaded = (): void => undefined
  const grammars = new Promise<void>((resolve) => (loaded = resolve))
  const checks = readiness({
    store: async () => {
      asked++
      if (asked > 1) throw new Error('gone')
      return true
    },
    workspaces: async () => false,
    grammars,
    monotonic: () => now,
  })
  t.same(await checks(), { store: 'ok', workspaces: 'failed', grammars: 'starting' })
  await checks()
  t.equal(asked, 1)
  loaded()
  await grammars
  now = 1_000
  t.same(await checks(), { store: 'failed', workspaces: 'failed', grammars: 'ok' })
})

t.test('a question without an answer fails in the end', async (t) => {
  const never = (): Promise<boolean> => new Promise(() => undefined)
  const checks = readiness({
    store: never,
    workspaces: async () => true,
    grammars: Promise.reject(new Error('bad grammar')),
    monotonic: () => 0,
  })
  t.same(await checks(), { store: 'failed', workspaces: 'ok', grammars: 'failed' })
})
