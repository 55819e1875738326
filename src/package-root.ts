/**
 * Finds the folder of the installed package, so that compiled code finds its assets wherever it was compiled to.
 * Called by whatever loads files that are not code: grammars, scripts, the interface document.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The nearest folder at or above `moduleUrl` that holds a package.json. Throws when there is none. */
export function packageRoot(moduleUrl: string): string {
  for (let dir = dirname(fileURLToPath(moduleUrl)); ; dir = dirname(dir)) {
    if (existsSync(join(dir, 'package.json'))) return dir
    if (dirname(dir) === dir) throw new Error(`no package.json above ${fileURLToPath(moduleUrl)}`)
  }
}
