/**
 * Every language, for whoever needs them while it loads: the main thread, the build, tests. Never imported by a thread of the pool, which must not await at the
 * top level of a module (worker-entry.cts).
 */
import type { Language } from './language.js'
import { loadLanguages } from './language-index.js'

export const languages: readonly Language[] = await loadLanguages()
