/**
 * The real app on stub tools, with options for one test.
 */
import type { Checks } from '../../src/http/health.js'
import type { AppDeps, AppOptions } from '../../src/app.js'
import { buildApp } from '../../src/app.js'
import { Lifecycle } from '../../src/http/lifecycle.js'
import { createMetrics } from '../../src/http/metrics.js'
import type { StubTools } from './stub-tools.js'
import { stubTools } from './stub-tools.js'
import type { App } from '../../src/http/provider.js'

export const defaultOptions: AppOptions = {
  tokens: [],
  maxConcurrency: 100,
  maxInFlightBytes: 64 * 1024 * 1024,
  maxEventStreams: 10,
  requestTimeoutMs: 5_000,
  ratePerTenant: 0,
  ratePerAddress: 0,
  maxBodyBytes: 32 * 1024 * 1024,
  receiveTimeoutMs: 5_000,
  heartbeatMs: 1_000,
  corsOrigins: [],
  trustProxy: [],
  exposeMetrics: true,
  docs: true,
}

export interface UnderTest {
  readonly app: App
  readonly stub: StubTools
  readonly lifecycle: Lifecycle
}

const fine: Checks = { store: 'ok', workspaces: 'ok', grammars: 'ok' }

/** Closed when the test ends. */
export async function appUnderTest(
  t: { teardown(fn: () => unknown): void },
  options: Partial<AppOptions> = {},
  more: Partial<Pick<AppDeps, 'checks' | 'logger'>> = {},
): Promise<UnderTest> {
  const stub = stubTools()
  const lifecycle = new Lifecycle()
  const app = await buildApp({
    tools: stub.tools,
    options: { ...defaultOptions, ...options },
    lifecycle,
    metrics: createMetrics({ process: false }),
    checks: async () => fine,
    ...more,
  })
  t.teardown(() => app.close())
  return { app, stub, lifecycle }
}
