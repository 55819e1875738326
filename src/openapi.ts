/**
 * Writes what is made from code: `openapi/openapi.json` from the routes, the README's configuration table from the environment's schema. Run as
 * `npm run openapi`; tests compare what is committed.
 *
 * Needs no port: the document depends on the routes and their schemas alone.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildApp } from './app.js'
import { configOf } from './config.js'
import { withEnvironmentTable } from './environment.js'
import { Lifecycle } from './http/lifecycle.js'
import { createMetrics } from './http/metrics.js'
import { packageRoot } from './package-root.js'
import type { Tools } from './tools/tools.js'

/** Asking for the document calls no tool; if it ever did, that would be a fault to hear of. */
const noTools = new Proxy({} as Tools, {
  get(_target, name): never {
    throw new Error(`the document asked for tool ${String(name)}`)
  },
})

/** The document of a service with default options, as it is committed. */
export async function documentText(): Promise<string> {
  const config = configOf({}, { cwd: '/', tmpDir: '/tmp', uid: 0, pid: 0, readFile: () => '', isDirectory: () => true })
  const app = await buildApp({
    tools: noTools,
    options: config.app,
    lifecycle: new Lifecycle(),
    metrics: createMetrics({ process: false }),
    checks: async () => ({ store: 'ok', workspaces: 'ok', grammars: 'ok' }),
  })
  await app.ready()
  const text = `${JSON.stringify(app.swagger(), null, 2)}\n`
  await app.close()
  return text
}

export const documentPath = (): string => join(packageRoot(import.meta.url), 'openapi', 'openapi.json')

export const readmePath = (): string => join(packageRoot(import.meta.url), 'README.md')

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(documentPath(), await documentText())
  writeFileSync(readmePath(), withEnvironmentTable(readFileSync(readmePath(), 'utf8')))
}
