/**
 * The Prometheus registry of one app and the functions that fill it. Labels are closed words, so the number of series is bounded.
 *
 * Counts only; nothing reads a metric to decide anything. Called by the hooks, by main for the pools, and by the tools through their own interface.
 */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { Metrics } from '../tools/metrics.js'

export interface HttpMetrics extends Metrics {
  request(operation: string, code: string, seconds: number): void
  /** One command sent to the server of the store. */
  storeRoundTrip(command: string, seconds: number): void
  /** A figure that is asked for when the metrics are read. */
  gauge(name: string, help: string, read: () => number): void
  text(): Promise<string>
  readonly contentType: string
}

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const storeSeconds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 2]
const waitSeconds = [0.0005, 0.005, 0.05, 0.25, 1, 2.5, 5, 10]

/** `process`: also memory, garbage collection and event-loop delay of this process. */
export function createMetrics(options: { readonly process: boolean }): HttpMetrics {
  const registry = new Registry()
  const registers = [registry]
  if (options.process) collectDefaultMetrics({ register: registry, prefix: 'anchorline_' })
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
    new Counter({ name: `anchorline_${name}`, help, labelNames, registers })
  const histogram = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: number[],
  ): Histogram<L> => new Histogram({ name: `anchorline_${name}`, help, labelNames, buckets, registers })

  const requests = counter('requests_total', 'Requests by operation and code; OK for a success.', ['operation', 'code'])
  const durations = histogram('request_seconds', 'Seconds until the answer was sent.', ['operation'], requestSeconds)
  const branches = counter('edit_branches_total', 'Edits that landed, by how they were proven.', ['branch'])
  const recoveries = counter('recoveries_total', 'Stale tags that recovery saw: accepted, or why not.', ['outcome'])
  const repairs = counter('repairs_total', 'Boundary repairs by outcome.', ['outcome'])
  const blocks = counter('blocks_total', 'Block locators: resolved, or why not.', ['outcome'])
  const waits = histogram('permit_wait_seconds', 'Seconds a mutation waited for its permits.', ['outcome'], waitSeconds)
  const store = histogram(
    'store_call_seconds',
    'Seconds of one call of the session store.',
    ['call', 'ok'],
    storeSeconds,
  )
  const trips = histogram(
    'store_round_trip_seconds',
    'Seconds of one command to the server of the session store.',
    ['command'],
    storeSeconds,
  )
  const written = counter('written_bytes_total', 'Bytes that mutations put on the disk.', [])
  const terminated = counter('guard_terminations_total', 'Prompts that the repeat guard ended.', [])

  return {
    request(operation, code, seconds) {
      requests.inc({ operation, code })
      durations.observe({ operation }, seconds)
    },
    editBranch: (branch) => branches.inc({ branch }),
    recovery: (outcome) => recoveries.inc({ outcome: outcome.replaceAll(' ', '_') }),
    repair: (outcome) => repairs.inc({ outcome }),
    block: (outcome) => blocks.inc({ outcome }),
    permitWait: (seconds, outcome) => waits.observe({ outcome }, seconds),
    storeCall: (call, seconds, ok) => store.observe({ call, ok: String(ok) }, seconds),
    storeRoundTrip: (command, seconds) => trips.observe({ command }, seconds),
    bytesWritten: (bytes) => written.inc(bytes),
    guardTerminated: () => terminated.inc(),
    gauge(name, help, read) {
      new Gauge({
        name: `anchorline_${name}`,
        help,
        registers,
        collect() {
          this.set(read())
        },
      })
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
