/**
 * The traffic of the load test: agents, each with a session and files of its own, send one call after the other through autocannon.
 *
 * An agent knows the newest tag of every file from the answers, as a real one does, so no refusal is expected; each that comes is counted by its code. Where every process
 * takes any call, agents change the process after every few calls. Bounded in time and in count; talks to loopback alone.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import autocannon from 'autocannon'
import type { Request } from 'autocannon'
import { editableLine, fileSizes, randomFrom, sourceLines, statement } from './load-files.js'
import type { Group } from './load-servers.js'

export const callNames = ['read', 'grep', 'edit', 'write'] as const
export type CallName = (typeof callNames)[number]
/** Parts of a hundred. */
export type Mix = Readonly<Partial<Record<CallName, number>>>

export interface Cell {
  readonly mix: Mix
  /** `.ts` files are parsed after an edit, `.txt` files are not; `both` halves them. */
  readonly kind: 'text' | 'code' | 'both'
  readonly connections: number
  readonly seconds: number
}

export interface Outcome {
  /** Milliseconds, sorted. */
  readonly latencies: Readonly<Record<CallName, readonly number[]>>
  /** Over which calls were counted: milliseconds of `performance.now`. */
  readonly from: number
  readonly until: number
  /** Answers by error code, and connections that broke. */
  readonly errors: Readonly<Record<string, number>>
  /** Milliseconds of processor time of all processes per call. */
  readonly cpuMs?: number
}

/** A service of many modules takes longer than a few lines until its code is optimized. */
export const warmUpSeconds = 3
const maxCalls = 400_000
/** Calls after which an agent goes on through another process. */
const callsPerStay = 10
const windowLines = 200

interface AgentFile {
  readonly path: string
  readonly bytes: number
  tag: string
  totalLines: number
}

interface Agent {
  readonly sessionId: string
  readonly folder: string
  readonly files: readonly AgentFile[]
  readonly random: () => number
  revision: number
}

/** Runs one cell against one group. Makes the agents' files below `workspace` and removes them. */
export async function runCell(group: Group, workspace: string, cell: Cell): Promise<Outcome> {
  const agents = new Agents(group, workspace, cell)
  await agents.open()
  const tally = new Tally()
  const { errors } = await autocannon({
    url: group.urls,
    connections: cell.connections,
    duration: cell.seconds + warmUpSeconds,
    maxOverallRequests: maxCalls,
    timeout: 60,
    setupClient: (client) =>
      client.setRequests([conversation(agents, client.opts.origin, tally, cell.mix, group.cpuMs)]),
  })
  const outcome = tally.outcome(errors, group.cpuMs())
  await agents.close()
  return outcome
}

/** What one connection says: endless, each call made from what the earlier ones answered. */
function conversation(agents: Agents, origin: string, tally: Tally, mix: Mix, cpuMs: Group['cpuMs']): Request {
  let agent: Agent | undefined
  let left = 0
  let sent: { readonly name: CallName; readonly file: AgentFile; readonly at: number } | undefined
  return {
    method: 'POST',
    setupRequest: (request) => {
      if (agent === undefined || left-- === 0) {
        agent = agents.next(origin, agent)
        left = callsPerStay
      }
      const name = chosen(mix, agent.random)
      const file = agent.files[Math.floor(agent.random() * agent.files.length)]
      if (file === undefined) throw new Error('an agent has no files')
      sent = { name, file, at: performance.now() }
      return {
        ...request,
        path: `/v1/sessions/${agent.sessionId}/${name}`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(bodyOf(name, agent, file)),
      }
    },
    onResponse: (status, text) => {
      if (sent === undefined) return
      tally.add(sent.name, performance.now() - sent.at, status < 400 ? undefined : codeOf(text), cpuMs)
      if (sent.name === 'edit' || sent.name === 'write') learn(sent.file, text)
    },
  }
}

function chosen(mix: Mix, random: () => number): CallName {
  let at = random() * 100
  for (const name of callNames) {
    at -= mix[name] ?? 0
    if (at < 0) return name
  }
  return 'read'
}

function bodyOf(name: CallName, agent: Agent, file: AgentFile): object {
  const { path, totalLines, tag } = file
  if (name === 'read') {
    const last = Math.max(1, totalLines - windowLines + 1)
    return { path, offset: 1 + Math.floor(agent.random() * last), limit: windowLines }
  }
  if (name === 'grep') return { pattern: 'the needle', path: agent.folder }
  agent.revision++
  if (name === 'write') return { path, content: textOf(file.bytes, agent.revision) }
  const line = editableLine(totalLines, agent.random)
  return { path, tag, ops: `PUT ${line}.=${line}:\n+${statement(line, agent.revision)}` }
}

const textOf = (bytes: number, revision: number): string => `${sourceLines(bytes, revision).join('\n')}\n`

/** The newest tag, from a success or from a refusal. */
function learn(file: AgentFile, text: string): void {
  const { tag, liveTag, totalLines } = JSON.parse(text) as { tag?: string; liveTag?: string; totalLines?: number }
  file.tag = tag ?? liveTag ?? file.tag
  file.totalLines = totalLines ?? file.totalLines
}

function codeOf(text: string): string {
  try {
    return (JSON.parse(text) as { code?: string }).code ?? 'no code'
  } catch {
    return 'no JSON'
  }
}

/** Agents that wait for a connection, by process unless any process will do. */
class Agents {
  private readonly waiting = new Map<string, Agent[]>()
  private readonly all: { readonly agent: Agent; readonly url: string }[] = []

  constructor(
    private readonly group: Group,
    private readonly workspace: string,
    private readonly cell: Cell,
  ) {}

  async open(): Promise<void> {
    const { urls, shared } = this.group
    // A few more than connections, so that whoever gives an agent back gets another one.
    const count = this.cell.connections + (shared ? urls.length : 0)
    for (let at = 0; at < count; at++) {
      const url = urls[at % urls.length]
      if (url === undefined) throw new Error('a group has no processes')
      const agent = await openAgent(url, this.workspace, at, this.cell.kind)
      this.all.push({ agent, url })
      this.queueOf(url).push(agent)
    }
  }

  /** The agent that waited longest. */
  next(origin: string, before: Agent | undefined): Agent {
    const queue = this.queueOf(origin)
    if (before) queue.push(before)
    const agent = queue.shift()
    if (agent === undefined) throw new Error('more connections than agents')
    return agent
  }

  async close(): Promise<void> {
    for (const { agent, url } of this.all) await fetch(`${url}/v1/sessions/${agent.sessionId}`, { method: 'DELETE' })
    for (const { agent } of this.all) await rm(join(this.workspace, agent.folder), { recursive: true, force: true })
  }

  private queueOf(origin: string): Agent[] {
    const key = this.group.shared ? 'any' : origin
    const queue = this.waiting.get(key) ?? []
    this.waiting.set(key, queue)
    return queue
  }
}

/** Makes the files and has the session see every line of them. */
async function openAgent(url: string, workspace: string, at: number, kind: Cell['kind']): Promise<Agent> {
  const { sessionId } = (await post(`${url}/v1/sessions`, { workspace: 'load' })) as { sessionId: string }
  const folder = `agent-${at}`
  await mkdir(join(workspace, folder), { recursive: true })
  const files: AgentFile[] = []
  for (const [number, bytes] of fileSizes.entries()) {
    const isCode = kind === 'code' || (kind === 'both' && number % 2 === 0)
    const path = `${folder}/file-${number}.${isCode ? 'ts' : 'txt'}`
    await writeFile(join(workspace, path), textOf(bytes, at))
    const lines = sourceLines(bytes, at).length
    let tag = ''
    for (let offset = 1; offset <= lines; offset += 4_000)
      ({ tag } = (await post(`${url}/v1/sessions/${sessionId}/read`, { path, offset, limit: 4_000 })) as {
        tag: string
      })
    files.push({ path, bytes, tag, totalLines: lines })
  }
  return { sessionId, folder, files, random: randomFrom(at + 1), revision: 1_000 * (at + 1) }
}

async function post(url: string, body: object): Promise<unknown> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const answer = await fetch(url, init)
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** Counts what is answered once the warm-up is over. */
class Tally {
  private readonly latencies: Record<CallName, number[]> = { read: [], grep: [], edit: [], write: [] }
  private readonly errors: Record<string, number> = {}
  private readonly opened = performance.now()
  private from: { readonly at: number; readonly cpuMs: number | undefined } | undefined
  private until = 0

  add(name: CallName, ms: number, code: string | undefined, cpuMs: Group['cpuMs']): void {
    const now = performance.now()
    if (code !== undefined) this.errors[code] = (this.errors[code] ?? 0) + 1
    if (now - this.opened < warmUpSeconds * 1_000) return
    this.from ??= { at: now, cpuMs: cpuMs() }
    this.until = now
    if (code === undefined) this.latencies[name].push(ms)
  }

  outcome(broken: number, cpuMs: number | undefined): Outcome {
    const errors = broken === 0 ? this.errors : { ...this.errors, 'connection broke': broken }
    for (const name of callNames) this.latencies[name].sort((a, b) => a - b)
    const calls = callNames.reduce((sum, name) => sum + this.latencies[name].length, 0)
    const took = cpuMs === undefined || this.from?.cpuMs === undefined ? undefined : cpuMs - this.from.cpuMs
    return {
      latencies: this.latencies,
      from: this.from?.at ?? this.opened,
      until: this.until,
      errors,
      ...(took === undefined || calls === 0 ? {} : { cpuMs: took / calls }),
    }
  }
}
