/**
 * A proxy between the store and a Redis server that can fail as networks and servers do: at any command, before it is done or after. It understands just enough
 * of the protocol to tell commands apart.
 */
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/**
 * What becomes of a command: it is passed on; the connection is cut before the server sees it, or after the server did it and before the answer; it is answered
 * with an error that the server never gave; it is never answered; it is late.
 */
export type Fate =
  | { readonly kind: 'pass' }
  | { readonly kind: 'cutBefore' }
  | { readonly kind: 'cutAfter' }
  | { readonly kind: 'error'; readonly line: string }
  | { readonly kind: 'silence' }
  | { readonly kind: 'late'; readonly ms: number }

export interface Command {
  readonly name: string
  readonly args: readonly Buffer[]
  readonly bytes: number
}

export interface FaultProxy {
  readonly port: number
  /** Asked for every command. */
  decide: (command: Command) => Fate
  /** False: new connections are refused and the present ones are cut. */
  accept: (yes: boolean) => void
  readonly close: () => Promise<void>
}

const pass: Fate = { kind: 'pass' }

export async function startProxy(targetPort: number): Promise<FaultProxy> {
  const pairs = new Set<() => void>()
  let accepting = true
  const server = createServer((client) => {
    if (!accepting) return void client.destroy()
    const upstream = connect(targetPort, '127.0.0.1')
    const cut = (): void => {
      pairs.delete(cut)
      client.destroy()
      upstream.destroy()
    }
    pairs.add(cut)
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true)
      socket.on('error', cut)
      socket.on('close', cut)
    }
    serve(client, upstream, (command) => proxy.decide(command), cut)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const proxy: FaultProxy = {
    port: typeof address === 'object' && address ? address.port : 0,
    decide: () => pass,
    accept: (yes) => {
      accepting = yes
      if (!yes) for (const cut of pairs) cut()
    },
    close: async () => {
      for (const cut of pairs) cut()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
    },
  }
  return proxy
}

function serve(client: Socket, upstream: Socket, decide: (command: Command) => Fate, cut: () => void): void {
  let pending = Buffer.alloc(0)
  let isCutting = false
  let isSilent = false
  // What is late holds up what comes after it, as in a real network.
  let before = Promise.resolve()
  const forward = (raw: Buffer): void => {
    before = before.then(() => void upstream.write(raw))
  }
  upstream.on('data', (data) => {
    if (isCutting) cut()
    else if (!isSilent) client.write(data)
  })
  client.on('data', (data) => {
    pending = Buffer.concat([pending, data])
    for (;;) {
      const command = parseCommand(pending)
      if (!command) return
      const raw = pending.subarray(0, command.bytes)
      pending = pending.subarray(command.bytes)
      const fate = decide(command)
      switch (fate.kind) {
        case 'pass':
          forward(raw)
          break
        case 'cutBefore':
          cut()
          return
        case 'cutAfter':
          isCutting = true
          forward(raw)
          break
        case 'error':
          forward(errorCommand(fate.line))
          break
        case 'silence':
          isSilent = true
          forward(raw)
          break
        case 'late':
          before = before.then(async () => new Promise((resolve) => setTimeout(resolve, fate.ms)))
          forward(raw)
          break
      }
    }
  })
}

/** A command that the server answers with the error, in its turn. */
function errorCommand(line: string): Buffer {
  const args = ['EVAL', `return redis.error_reply(${JSON.stringify(line)})`, '0']
  return Buffer.from(`*${args.length}\r\n${args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`).join('')}`)
}

/** One RESP array of bulk strings at the start of `buffer`, or nothing while it is not complete. */
function parseCommand(buffer: Buffer): Command | undefined {
  let at = 0
  const line = (): string | undefined => {
    const end = buffer.indexOf('\r\n', at)
    if (end < 0) return undefined
    const text = buffer.toString('latin1', at, end)
    at = end + 2
    return text
  }
  const header = line()
  if (header === undefined) return undefined
  if (!header.startsWith('*')) throw new Error(`no command: ${header}`)
  const args: Buffer[] = []
  for (let i = 0; i < Number(header.slice(1)); i++) {
    const length = line()
    if (length === undefined) return undefined
    const size = Number(length.slice(1))
    if (buffer.length < at + size + 2) return undefined
    args.push(buffer.subarray(at, at + size))
    at += size + 2
  }
  return { name: args[0]?.toString('latin1').toLowerCase() ?? '', args: args.slice(1), bytes: at }
}
