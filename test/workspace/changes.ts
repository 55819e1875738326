/**
 * Changes of a playground through its port, as one call each, and the test after which nothing half done may lie around. Not a test itself.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { CommitAnswer, LoadedFile, Target, WorkspacePort } from '../../src/workspace/port.js'
import { maxBytes, playground, temps, type Playground } from './playground.js'

export const yes = async (): Promise<void> => {}

export interface Changes {
  readonly place: Playground
  readonly mode: (path: string) => string
  readonly loaded: (path: string, by?: WorkspacePort) => Promise<{ readonly target: Target; readonly base: LoadedFile }>
  readonly create: (path: string, text: string, confirm?: typeof yes, by?: WorkspacePort) => Promise<CommitAnswer>
  readonly remove: (path: string, confirm?: typeof yes) => Promise<CommitAnswer>
  /** Without `text` the file is carried as it is. */
  readonly move: (
    from: string,
    to: string,
    text?: string,
    confirm?: typeof yes,
    by?: WorkspacePort,
  ) => Promise<CommitAnswer>
  /** A test after which no temporary file may remain. A reason to leave it out may be given. */
  readonly test: (name: string, body: (t: Test) => Promise<void>, skip?: string | false) => void
}

/** A playground of its own, removed when the file is through. */
export async function changes(): Promise<Changes> {
  const place = await playground()
  t.teardown(() => place.remove())
  const { ws, port, roots } = place
  const loaded: Changes['loaded'] = async (path, by = port) => {
    const target = await by.resolve(roots, path, 'write')
    return { target, base: await by.load(roots, target, maxBytes) }
  }
  return {
    place,
    mode: (path) => (statSync(join(ws, path)).mode & 0o7777).toString(8),
    loaded,
    create: async (path, text, confirm = yes, by = port) =>
      by.create(roots, await by.resolve(roots, path, 'write'), Buffer.from(text), confirm),
    remove: async (path, confirm = yes) => {
      const { target, base } = await loaded(path)
      return port.remove(roots, target, base, confirm)
    },
    move: async (from, to, text, confirm = yes, by = port) => {
      const { target, base } = await loaded(from, by)
      const dest = await by.resolve(roots, to, 'write', 'ops')
      return by.move(roots, target, dest, base, text === undefined ? undefined : Buffer.from(text), confirm)
    },
    test: (name, body, skip = false) =>
      void t.test(name, { skip }, async (t) => {
        await body(t)
        t.same(temps(place.top), [], 'no temporary file remains')
      }),
  }
}
