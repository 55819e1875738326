/**
 * Replies of scripts, read with suspicion: a reply of another shape than its script documents is a fault, never a guess. Called by the parts of the Redis store.
 */
export type Item = Buffer | number | null | readonly Item[]

export class Reply {
  constructor(
    readonly word: string,
    private readonly items: readonly Item[],
  ) {}

  get length(): number {
    return this.items.length
  }

  bytes(at: number): Buffer {
    const item = this.items[at]
    if (!Buffer.isBuffer(item)) throw new TypeError(`reply ${this.word} has no string at ${at}`)
    return item
  }

  /** A string or number, as text. */
  text(at: number): string {
    const item = this.items[at]
    return typeof item === 'number' ? String(item) : this.bytes(at).toString('utf8')
  }

  number(at: number): number {
    const number = Number(this.text(at))
    if (!Number.isFinite(number)) throw new TypeError(`reply ${this.word} has no number at ${at}`)
    return number
  }

  list(at: number): Reply {
    const item = this.items[at]
    if (!isList(item)) throw new TypeError(`reply ${this.word} has no list at ${at}`)
    return new Reply(this.word, item)
  }

  texts(): string[] {
    return this.items.map((_, i) => this.text(i))
  }

  lists(from: number): Reply[] {
    return this.items.slice(from).map((_, i) => this.list(from + i))
  }
}

function isList(item: Item | undefined): item is readonly Item[] {
  return Array.isArray(item)
}

export interface Noted {
  readonly notes: readonly string[]
  readonly reply: Reply
}

/** Every script answers its notes, then a word, then what its header says. */
export function parseReply(raw: unknown): Noted {
  if (!Array.isArray(raw)) throw new TypeError('a script answered no list')
  const [notes, word, ...items] = raw as Item[]
  if (!Array.isArray(notes) || !Buffer.isBuffer(word)) throw new TypeError('a script answered without notes or word')
  return {
    notes: (notes as Item[]).map((note) => (Buffer.isBuffer(note) ? note.toString('utf8') : '')),
    reply: new Reply(word.toString('utf8'), items),
  }
}
