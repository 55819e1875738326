/** The named registers of one session in memory, least recently used first out (contract §7.5, §12). Called by the memory store. */
import type { StoreBounds } from '../bounds.js'
import { registerBytes } from '../registers.js'
import type { RegisterContent, RegisterSummary } from '../store.js'
import type { Hold, Retained } from './retained.js'

interface KeptRegister {
  readonly content: RegisterContent
  hold?: Hold
}

export class Registers {
  /** Coldest first. */
  private readonly kept = new Map<string, KeptRegister>()

  constructor(
    private readonly bounds: StoreBounds,
    private readonly retained: Retained,
  ) {}

  get size(): number {
    return this.kept.size
  }

  /** Reading is use: the register becomes the hottest, unless `peek`. */
  get(name: string, peek: boolean): RegisterContent | undefined {
    const register = this.kept.get(name)
    if (register === undefined || peek) return register?.content
    this.kept.delete(name)
    this.kept.set(name, register)
    register.hold?.touch()
    return register.content
  }

  /** By name; refreshes nothing. */
  list(): readonly RegisterSummary[] {
    return [...this.kept.values()]
      .map(({ content: { name, bytes, updatedAt, lines } }) => ({ name, bytes, updatedAt, lineCount: lines.length }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  put(name: string, lines: readonly string[], now: number): void {
    this.drop(name)
    const bytes = registerBytes(lines)
    const register: KeptRegister = { content: { name, lines: [...lines], bytes, updatedAt: now } }
    this.kept.set(name, register)
    for (const [coldest] of this.kept) {
      if (this.kept.size <= this.bounds.registersPerSession) break
      this.drop(coldest)
    }
    register.hold = this.retained.hold('register', bytes, () => this.kept.delete(name))
  }

  clear(): void {
    for (const name of this.kept.keys()) this.drop(name)
  }

  private drop(name: string): void {
    this.kept.get(name)?.hold?.free()
    this.kept.delete(name)
  }
}
