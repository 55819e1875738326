/**
 * Turns for work that must not pile up: so many at once, so many waiting, each for so long.
 *
 * First come, first served. Knows nothing of the work. Called by the search.
 */
import { ToolError } from '../errors/tool-error.js'

export interface TurnBounds {
  readonly atOnce: number
  readonly waiting: number
  readonly waitMs: number
}

export class Turns {
  private running = 0
  private readonly waiters = new Set<() => void>()

  /** `what` names the work in OVERLOADED. */
  constructor(
    private readonly what: string,
    private readonly bounds: TurnBounds,
  ) {}

  /** Answers what gives the turn back; call it once. Throws OVERLOADED, or the reason of the signal. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.running >= this.bounds.atOnce) await this.wait(signal)
    else this.running++
    return () => this.next()
  }

  /** A turn that ends goes to the one who waits longest; only without one does the count fall. */
  private next(): void {
    const [first] = this.waiters
    if (first) first()
    else this.running--
  }

  private wait(signal: AbortSignal): Promise<void> {
    const overloaded = new ToolError('OVERLOADED', { what: this.what })
    if (this.waiters.size >= this.bounds.waiting) return Promise.reject(overloaded)
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', aborted)
        this.waiters.delete(admitted)
      }
      const admitted = (): void => {
        leave()
        resolve()
      }
      const aborted = (): void => {
        leave()
        reject(signal.reason as Error)
      }
      const timer = setTimeout(() => {
        leave()
        reject(overloaded)
      }, this.bounds.waitMs)
      signal.addEventListener('abort', aborted)
      this.waiters.add(admitted)
    })
  }
}
