/**
 * A text and where its lines start, as the parser counts them: a line ends at LF only, and the LF at the very end starts no line.
 *
 * Columns are UTF-16 units, as in strings and in tree-sitter's JavaScript binding. Called by the block rules.
 */
import type { Place } from './language.js'

const notBlank = /\S/

export class TextLines {
  readonly #starts: number[] = [0]

  constructor(readonly text: string) {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1)
    if (this.#starts.at(-1) === text.length) this.#starts.pop()
  }

  get count(): number {
    return this.#starts.length
  }

  /** The index of a place in the text. */
  indexOf({ row, column }: Place): number {
    return (this.#starts[row] ?? this.text.length) + column
  }

  /** The line at a row counted from 0, without its LF; empty past the end. */
  at(row: number): string {
    const start = this.#starts[row]
    if (start === undefined) return ''
    const next = this.#starts[row + 1]
    return next === undefined ? this.text.slice(start).replace(/\n$/, '') : this.text.slice(start, next - 1)
  }

  /** The column of the first thing on the line that is not blank, from `column` on; undefined when there is none. */
  firstColumn(row: number, column = 0): number | undefined {
    const found = this.at(row).slice(column).search(notBlank)
    return found === -1 ? undefined : column + found
  }
}
