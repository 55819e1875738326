/**
 * Tables of the load test. Pure: figures in, Markdown out.
 */
import type { CallName, Outcome } from './load-traffic.js'
import { callNames } from './load-traffic.js'

export interface Row {
  /** What was sent: one call alone, or the mix. */
  readonly what: string
  readonly server: string
  readonly processes: number
  readonly outcome: Outcome
}

/** A share of sorted figures, by nearest rank; NaN of none. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? NaN
}

export function callsPerSecond({ latencies, from, until }: Outcome): number {
  return (1_000 * callNames.reduce((sum, name) => sum + latencies[name].length, 0)) / (until - from)
}

/** Calls per second and, for the mix, the latency of each call in it. */
export function tableOf(rows: readonly Row[]): string {
  const head = [
    '| calls | server | processes | calls/s | of the floor | p50 ms | p95 ms | p99 ms | cpu ms/call | errors |',
    '|---|---|---|---|---|---|---|---|---|---|',
  ]
  return [...head, ...rows.flatMap((row) => linesOf(row, floorOf(row, rows)))].join('\n')
}

const floorOf = (row: Row, rows: readonly Row[]): Row | undefined =>
  rows.find(({ server, processes, what }) => server === 'floor' && processes === row.processes && what === row.what)

function linesOf(row: Row, floor: Row | undefined): string[] {
  const { what, server, processes, outcome } = row
  const ratio =
    floor === undefined || floor === row ? '' : (callsPerSecond(outcome) / callsPerSecond(floor.outcome)).toFixed(2)
  const all = callNames.flatMap((name) => outcome.latencies[name]).sort((a, b) => a - b)
  const errors =
    Object.entries(outcome.errors)
      .map(([code, count]) => `${code} ${count}`)
      .join(', ') || '0'
  const cells = [what, server, String(processes), callsPerSecond(outcome).toFixed(0), ratio]
  const cpu = outcome.cpuMs === undefined ? '' : outcome.cpuMs.toFixed(2)
  const kinds = callNames.filter((name) => outcome.latencies[name].length > 0)
  const parts = kinds.length < 2 ? [] : kinds.map((name) => partOf(name, outcome))
  return [line([...cells, ...times(all), cpu, errors]), ...parts]
}

function partOf(name: CallName, { latencies, from, until }: Outcome): string {
  const figures = latencies[name]
  return line([
    `↳ ${name}`,
    '',
    '',
    ((1_000 * figures.length) / (until - from)).toFixed(0),
    '',
    ...times(figures),
    '',
    '',
  ])
}

const times = (sorted: readonly number[]): string[] =>
  [0.5, 0.95, 0.99].map((share) => percentile(sorted, share).toFixed(1))
const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** What is kept beside the table, to compare runs by program. */
export function figuresOf({ what, server, processes, outcome }: Row): object {
  const byCall = callNames
    .filter((name) => outcome.latencies[name].length > 0)
    .map((name) => {
      const sorted = outcome.latencies[name]
      const at = (share: number): number => Math.round(percentile(sorted, share) * 100) / 100
      return [name, { calls: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) }]
    })
  return {
    what,
    server,
    processes,
    callsPerSecond: Math.round(callsPerSecond(outcome) * 10) / 10,
    cpuMsPerCall: outcome.cpuMs,
    errors: outcome.errors,
    calls: Object.fromEntries(byCall) as object,
  }
}
