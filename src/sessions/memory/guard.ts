/** Failures by prompt and path in memory (contract §9.3, reading §8.10). Called by the memory store. */
import type { StoreBounds } from '../bounds.js'
import type { GuardCount } from '../store.js'

interface Failures {
  readonly graces: Set<string>
  counted: number
}

export class Guard {
  /** Coldest first. */
  private readonly entries = new Map<string, Failures>()

  constructor(private readonly bounds: StoreBounds) {}

  count(promptId: string, path: string, code: string, hasGrace: boolean): GuardCount {
    const key = keyOf(promptId, path)
    const failures = this.entries.get(key) ?? { graces: new Set(), counted: 0 }
    this.entries.delete(key)
    this.entries.set(key, failures)
    for (const [coldest] of this.entries) {
      if (this.entries.size <= this.bounds.guardEntriesPerSession) break
      this.entries.delete(coldest)
    }
    if (hasGrace && !failures.graces.has(code)) {
      failures.graces.add(code)
      return { attempt: 0, grace: true }
    }
    failures.counted++
    return { attempt: failures.counted, grace: false }
  }

  forgive(promptId: string, path: string): void {
    this.entries.delete(keyOf(promptId, path))
  }

  clear(): void {
    this.entries.clear()
  }
}

function keyOf(promptId: string, path: string): string {
  return `${promptId.length}:${promptId}${path}`
}
