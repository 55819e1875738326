/**
 * The process-wide bound on what sessions keep (reading §8.2): everything large is held here, and when the sum goes over the bound the coldest goes,
 * tier by tier. Every loss degrades to a refusal or a warning, never to a wrong write. Called by the parts of a memory session.
 */

/** In the order in which they go: a lost text costs recovery, a lost `before` a rollback, a lost log entry a look back, a lost register a paste. */
export const tiers = ['text', 'before', 'log', 'register'] as const
export type Tier = (typeof tiers)[number]

export interface Hold {
  readonly bytes: number
  /** It was used: it goes last in its tier. */
  touch(): void
  /** Its owner gave it up by itself. Later calls do nothing. */
  free(): void
}

interface Held extends Hold {
  readonly drop: () => void
}

export class Retained {
  private readonly held: Readonly<Record<Tier, Set<Held>>> = {
    text: new Set(),
    before: new Set(),
    log: new Set(),
    register: new Set(),
  }
  private sum = 0

  constructor(private readonly maxBytes: number) {}

  get bytes(): number {
    return this.sum
  }

  /** `drop` runs when the bound takes it away; it must not call `free` of others. May run before this returns. */
  hold(tier: Tier, bytes: number, drop: () => void): Hold {
    const set = this.held[tier]
    const hold: Held = {
      bytes,
      drop,
      touch: () => {
        if (set.delete(hold)) set.add(hold)
      },
      free: () => {
        if (set.delete(hold)) this.sum -= bytes
      },
    }
    set.add(hold)
    this.sum += bytes
    this.shrink()
    return hold
  }

  private shrink(): void {
    for (const tier of tiers) {
      for (const hold of this.held[tier]) {
        if (this.sum <= this.maxBytes) return
        hold.free()
        hold.drop()
      }
    }
  }
}
