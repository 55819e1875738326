/**
 * What an author wrote, one value per op (contract §7). Numbers are 1-based lines of the tagged text; nothing is resolved here:
 * a block has no span yet and a register no rows. The parser makes these, the engine turns them into resolved ops.
 */

/** Where rows go in between lines. `end` is `>$`; `before` 1 is the file head. */
export type Gap =
  | { readonly kind: 'before'; readonly line: number }
  | { readonly kind: 'after'; readonly line: number }
  | { readonly kind: 'end' }
  | { readonly kind: 'afterBlock'; readonly line: number }

/** Which lines go away: an inclusive range, or the block that opens at a line. */
export type Span =
  | { readonly kind: 'range'; readonly first: number; readonly last: number }
  | { readonly kind: 'block'; readonly line: number }

interface Written {
  /** 1-based row of `ops` on which the header stands. */
  readonly opsLine: number
  /** The header as it was written, without trailing blanks. */
  readonly header: string
}

/** Rows are final text without terminators. */
export type Put = Written & { readonly kind: 'put'; readonly at: Gap | Span; readonly rows: readonly string[] }
/** Without `register` the anonymous one is meant, which only a gap allows (reading §4.3). */
export type Paste = Written & { readonly kind: 'paste'; readonly at: Gap | Span; readonly register?: string }
export type Cut = Written & { readonly kind: 'cut'; readonly at: Span; readonly register?: string }
export type Remove = Written & { readonly kind: 'remove' }
/** `dest` is unquoted, otherwise as written. */
export type Move = Written & { readonly kind: 'move'; readonly dest: string }

export type Op = Put | Paste | Cut | Remove | Move

export interface Patch {
  /** The optional `[path#TAG]` line; the tag in upper case. */
  readonly named?: { readonly path: string; readonly tag: string; readonly opsLine: number }
  readonly ops: readonly Op[]
}
