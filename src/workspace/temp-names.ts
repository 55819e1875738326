/**
 * Names of temporary files, and whether the process that made one is gone (reading §8.15).
 *
 * A name carries its instance: host, process and the moment the process started. A process of this host is asked for; one of another host cannot be, so its
 * files count as orphans only when they are older than any write can last. Replicas on one volume need distinct host names, as containers have them; where two
 * share one, the worst is that a write is refused and can be sent again. Called by commits, the sweep and the resolver.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'

/** Of this form is `instance` wherever the workspace takes one: `<host>.<process>.<start>`. */
const instanceForm = /^([0-9a-z]{1,32})\.(\d{1,10})\.(\d{1,20})$/
const tempForm = /^\.anchorline-([0-9a-z]{1,32}\.\d{1,10}\.\d{1,20})-[0-9A-Za-z_-]{8,64}\.tmp$/

/** The name of this process among all that share a volume. `host` defaults to the name of the machine. */
export async function thisInstance(host: string = hostname()): Promise<string> {
  return `${createHash('sha256').update(host).digest('hex').slice(0, 12)}.${process.pid}.${(await startOf('self')) ?? 0}`
}

export function isInstance(text: string): boolean {
  return instanceForm.test(text)
}

/** `random` is 8 to 64 characters of [0-9A-Za-z_-]. Throws TypeError otherwise: the sweep would never find the file. */
export function tempName(instance: string, random: string): string {
  const name = `.anchorline-${instance}-${random}.tmp`
  if (!isTempName(name)) throw new TypeError('no name of a temporary file')
  return name
}

export function isTempName(name: string): boolean {
  return tempForm.test(name)
}

/**
 * True when the owner of the temporary file cannot come back to it. `ageMs` is the time since the file was last written; `foreignMs` the age from
 * which a file of another host is an orphan.
 */
export async function ownerGone(name: string, instance: string, ageMs: number, foreignMs: number): Promise<boolean> {
  const owner = tempForm.exec(name)?.[1]
  const [, host, pid, start] = instanceForm.exec(owner ?? '') ?? []
  if (owner === undefined || owner === instance || host === undefined || pid === undefined) return false
  if (!instance.startsWith(`${host}.`)) return ageMs > foreignMs
  if (!isRunning(Number(pid))) return true
  const found = await startOf(pid)
  return found !== undefined && found !== start
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** When a process started, in ticks since the machine did; `ended` for one that only waits to be reaped; undefined where /proc does not tell. */
async function startOf(pid: string): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined)
  // The second field is the command in parentheses and may hold blanks and parentheses itself.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  if (fields === undefined) return undefined
  return fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : fields[19]
}
