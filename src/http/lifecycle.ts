/**
 * Whether this process takes new calls, and how many it is working on. Made by main, read by the hooks and the probes.
 *
 * A call counts until its handler is done and its answer is sent or its connection gone, whichever is later, so that a drain never cuts off work whose
 * client has left.
 */
export class Lifecycle {
  private readonly stop = new AbortController()
  private readonly waiting = new Set<() => void>()
  private calls = 0
  private bytes = 0

  /** True from the first signal on: readiness is off and new calls are refused. */
  get draining(): boolean {
    return this.stop.signal.aborted
  }

  /** Aborts when draining begins; ends streams that would stay open for ever. */
  get signal(): AbortSignal {
    return this.stop.signal
  }

  get inFlight(): number {
    return this.calls
  }

  /** Bytes of the bodies that calls in flight announced. */
  get inFlightBytes(): number {
    return this.bytes
  }

  /** Begins a call; the answer ends it and may be called more than once. */
  enter(bodyBytes: number): () => void {
    this.calls++
    this.bytes += bodyBytes
    let open = true
    return () => {
      if (!open) return
      open = false
      this.calls--
      this.bytes -= bodyBytes
      if (this.calls === 0) for (const resolve of this.waiting) resolve()
    }
  }

  drain(): void {
    this.stop.abort()
  }

  /** Resolves when no call is in flight. */
  async idle(): Promise<void> {
    if (this.calls === 0) return
    await new Promise<void>((resolve) => this.waiting.add(resolve))
  }
}
