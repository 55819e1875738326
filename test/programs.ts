/**
 * Programs that tests need beside Node: found on the PATH, or installed from Debian's packages where this user may. Called by the tests of Redis, of the documentation
 * page and of the README.
 */
import { execFileSync } from 'node:child_process'

export interface Program {
  /** Any of them will do. */
  readonly names: readonly string[]
  readonly debianPackage: string
}

/** The path of a program; undefined where there is none and none could be installed. */
export function programPath({ names, debianPackage }: Program): string | undefined {
  const found = find(names)
  if (found !== undefined || process.getuid?.() !== 0) return found
  const apt = 'apt-get -o DPkg::Lock::Timeout=120 -qq'
  const install = `${apt} install -y --no-install-recommends ${debianPackage}`
  try {
    // Test files run side by side; one of them installs.
    execFileSync(
      'flock',
      ['/tmp/anchorline-install', 'sh', '-c', `${look(names)} || ${install} || (${apt} update && ${install})`],
      { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } },
    )
  } catch {
    return undefined
  }
  return find(names)
}

function find(names: readonly string[]): string | undefined {
  try {
    return execFileSync('sh', ['-c', look(names)], { encoding: 'utf8' }).trim() || undefined
  } catch {
    return undefined
  }
}

const look = (names: readonly string[]): string => names.map((name) => `command -v ${name}`).join(' || ')
