/**
 * Swagger UI in a real Chromium against the real service: a visitor opens the page, makes a session, reads, searches, writes and edits with the examples as they stand.
 *
 * Takes the Chromium or Chrome that is there, or installs Debian's package where it may. Elsewhere the normal run leaves this out and says so;
 * `npm run test:browser` insists.
 */
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Browser, Locator, Page } from 'playwright-core'
import t from 'tap'
import { packageRoot } from '../src/package-root.js'
import { programPath } from './programs.js'
import { closeServices, service } from './service.js'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const help = 'the browser test needs Chromium: apt-get install chromium, or Chrome, on the PATH'

t.teardown(closeServices)

/** One operation on the page, opened. */
async function opened(page: Page, tag: string, operationId: string): Promise<Locator> {
  const block = page.locator(`#operations-${tag}-${operationId}`)
  await block.locator('.opblock-summary-control').click()
  await block.locator('button.execute').waitFor()
  return block
}

/** Presses Execute and gives what the page shows of the answer. */
async function executed(block: Locator): Promise<{ status: string; body: string }> {
  await block.locator('button.execute').click()
  const row = block.locator('.live-responses-table .response').first()
  const status = (await row.locator('.response-col_status').innerText()).trim().split(/\s/)[0] ?? ''
  // The page shows the headers like a body; an answer without a body has only those.
  const shown = row.locator('.response-col_description .highlight-code code').first()
  return { status, body: status === '204' ? '' : await shown.innerText() }
}

async function visit(browser: Browser, url: string): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (line) => line.type() === 'error' && faults.push(line.text()))
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url()))
      faults.push(`asked for ${request.url()}`)
  })
  await page.goto(`${url}/docs`)
  await page.locator('.opblock').first().waitFor()
  return { page, faults }
}

const path = programPath({ names, debianPackage: 'chromium' })
const isRequired = process.env['BROWSER_TEST'] === 'required'
if (path === undefined && isRequired) throw new Error(help)

/** The groups of the page and their operations, in the order in which the examples follow from each other. */
const visited = [
  ['Sessions', 'createSession'],
  ['Tools', 'read'],
  ['Tools', 'grep'],
  ['Tools', 'write'],
  ['Tools', 'edit'],
] as const
const others = [
  ['Sessions', 'listWorkspaces'],
  ['Sessions', 'getSession'],
  ['Records', 'registerSnapshot'],
  ['Records', 'listSnapshots'],
  ['Records', 'listRegisters'],
  ['Records', 'getRegister'],
  ['Records', 'reportFailure'],
  ['Reviews', 'listReviews'],
  ['Reviews', 'getReview'],
  ['Reviews', 'rollback'],
  ['Definitions', 'listTools'],
  ['Health', 'livez'],
  ['Health', 'readyz'],
  ['Health', 'metrics'],
  ['Sessions', 'switchWorkspace'],
  ['Sessions', 'deleteSession'],
] as const

t.test(
  'a visitor runs the operations from the page',
  { skip: path === undefined && help, timeout: 300_000 },
  async (t) => {
    const { app, root } = await service(t, { app: { docs: true } })
    const demo = join(root, 'workspaces', 'demo')
    await cp(join(packageRoot(import.meta.url), 'workspaces/demo'), demo, { recursive: true })
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu']
    const browser = await chromium.launch({ executablePath: path ?? '', args })
    t.teardown(() => browser.close())
    const { page, faults } = await visit(browser, url)
    t.match(await page.title(), /Anchorline/)
    const tags = await page.locator('.opblock-tag').all()
    const groups = await Promise.all(tags.map((tag) => tag.getAttribute('data-tag')))
    t.strictSame(groups, ['Sessions', 'Tools', 'Reviews', 'Records', 'Events', 'Definitions', 'Health'])

    // What earlier answers said, for the path parameters of later calls.
    const known = new Map<string, string>()
    const run = async (tag: string, operationId: string): Promise<string> => {
      const block = await opened(page, tag, operationId)
      for (const [name, value] of known) {
        const input = block.locator(`tr[data-param-name="${name}"][data-param-in="path"] input`)
        if ((await input.count()) > 0) await input.fill(value)
      }
      const { status, body } = await executed(block)
      t.match(status, /^20[0-4]$/, `${operationId}: ${body.slice(0, 300)}`)
      await block.locator('.opblock-summary-control').click()
      return body
    }
    for (const [tag, operationId] of visited) {
      const body = await run(tag, operationId)
      const { sessionId, review } = JSON.parse(body) as { sessionId?: string; review?: { reviewId: string } }
      if (sessionId !== undefined) known.set('sessionId', sessionId)
      if (review !== undefined) known.set('reviewId', review.reviewId)
      if (operationId === 'read') t.match(body, '[src/inventory.ts#4280]')
      if (operationId === 'edit') t.match(body, '"branch": "direct"')
    }
    t.match(await readFile(join(demo, 'src/inventory.ts'), 'utf8'), /only \$\{item\.quantity\} of/)

    if (isRequired) {
      await fillRegister(url, known.get('sessionId') ?? '')
      known.set('name', 'take')
      for (const [tag, operationId] of others) await run(tag, operationId)
      // A stream of events never ends, so the page would wait for ever.
      t.equal(await page.locator('.opblock').count(), visited.length + others.length + 1, 'no operation was left out')
    }
    t.strictSame(faults, [], 'the page has no errors and asks nobody else')
  },
)

/** A register as the examples name it. */
async function fillRegister(url: string, sessionId: string): Promise<void> {
  const call = async (tool: string, body: object): Promise<unknown> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return (await fetch(`${url}/v1/sessions/${sessionId}/${tool}`, init)).json()
  }
  const file = 'docs/handbook.md'
  const { tag } = (await call('read', { path: file })) as { tag: string }
  await call('edit', { path: file, tag, ops: 'CUT 1.=2 @take' })
}
