/**
 * The Lua scripts: one file each, with the parts of `scripts/lib` that its `-- uses` line names in front (contract of every script: its header).
 * Called by the client.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../package-root.js'

export const scriptNames = [
  'acquire-file',
  'append',
  'begin',
  'claim',
  'commit',
  'count-failure',
  'create',
  'drop',
  'drop-mark',
  'events',
  'histories',
  'leftover',
  'mark-file',
  'open',
  'paths-with',
  'put-answer',
  'put-mark',
  'put-texts',
  'record',
  'register',
  'registers',
  'release-file',
  'release-session',
  'renew',
  'renew-claim',
  'reserve',
  'review',
  'reviews',
  'settle',
  'snapshots',
  'stage',
  'switch',
  'text',
  'unclaim',
  'unreserve',
  'usage',
] as const

export type ScriptName = (typeof scriptNames)[number]

export interface Script {
  readonly lua: string
  readonly sha: string
}

/** Reads them all; a missing file or part is an error at the start of the process. */
export function loadScripts(): Readonly<Record<ScriptName, Script>> {
  const folder = join(packageRoot(import.meta.url), 'src/sessions/scripts')
  const read = (name: string): string => readFileSync(join(folder, `${name}.lua`), 'utf8')
  const parts = new Map<string, string>()
  const load = (name: ScriptName): Script => {
    const own = read(name)
    const uses = /^-- uses (.+)$/m.exec(own)?.[1]
    if (uses === undefined) throw new Error(`${name}.lua names no parts`)
    const used = uses.split(', ').map((part) => {
      const text = parts.get(part) ?? read(`lib/${part}`)
      parts.set(part, text)
      return text
    })
    const lua = [...used, own].join('\n')
    return { lua, sha: createHash('sha1').update(lua).digest('hex') }
  }
  return Object.fromEntries(scriptNames.map((name) => [name, load(name)])) as Record<ScriptName, Script>
}
