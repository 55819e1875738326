/**
 * The structure of a style sheet, in words that the grammar knows.
 *
 * The CSS syntax module lets a prelude or a value be nearly any run of tokens, and new at-rules, selectors and units come every year; the grammar knows those of its time. So
 * a sheet that it refuses is read once more with every selector, value and prelude written as plain words of the same shape: same length, same lines, same ends. Braces,
 * semicolons, property names and comments stay, so that what is wrong with the structure still fails. Called for the second source of `css.ts`.
 */

/** The same text with placeholder words; the text itself where its strings or brackets do not close. */
export function skeleton(css: string): string {
  return new Skeleton(css).rewritten() ?? css
}

/** Longer addresses are read as other functions are, brackets and all. */
const maxUrlUnits = 65_536
const blank = /\s/
const declaration = /^([*_]?)(-{0,2}(?:[^\s:;{}()[\]'"@#.&>~+*/\\]|\\.)+)(\s*:)/

/** Another declaration on a later line of a value: the semicolon between them is missing, and the grammar shall say so. */
const forgotten = /\n\s*[\w-]+\s*:/

class Skeleton {
  #at = 0
  #copied = 0
  #out = ''
  /** One entry per open block: whether it is the body of `@keyframes`, whose selectors the grammar knows by their words. */
  readonly #open: boolean[] = []

  constructor(private readonly css: string) {}

  rewritten(): string | undefined {
    for (;;) {
      this.#skipBlanks()
      const char = this.css[this.#at]
      if (char === undefined) return this.#out + this.css.slice(this.#copied)
      if (char === '}') this.#open.pop()
      if (char === '}' || char === '{') this.#at++
      else if (char === ';') this.#emptyStatement()
      else if (this.#opening('<!--')) this.#skipAs(' ', 4)
      else if (this.#opening('-->')) this.#skipAs(' ', 3)
      else if (!this.#item()) return undefined
    }
  }

  /** A rule, an at-rule or a declaration; false when it does not close. */
  #item(): boolean {
    const start = this.#at
    const end = this.#end(start, ';{}')
    if (end === undefined) return false
    const text = this.css.slice(start, end)
    if (text.startsWith('@')) return this.#atRule(start, end)
    const [, hack = '', name = '', colon = ''] = declaration.exec(text) ?? []
    const isCustom = name.startsWith('--') && colon !== ''
    if (this.css[end] === '{' && !isCustom) {
      if (this.#open.at(-1) !== true) this.#words(start, end)
      this.#open.push(false)
      this.#at = end + 1
      return true
    }
    // Without a name and a colon it is no declaration: the grammar shall say so.
    const last = isCustom ? this.#end(start, ';}', '{') : end
    if (last === undefined) return false
    if (colon !== '') {
      this.#replace(start, start + hack.length, 'x')
      this.#words(start + hack.length, start + hack.length + name.length)
      this.#value(start + hack.length + name.length + colon.length, last)
    }
    this.#at = this.css[last] === ';' ? last + 1 : last
    return true
  }

  /** A block's prelude becomes one word a line; a statement keeps what the grammar knows of it. */
  #atRule(start: number, end: number): boolean {
    const keyword = /^@[\w-]+/.exec(this.css.slice(start, end))?.[0] ?? '@'
    const isKeyframes = /keyframes$/i.test(keyword)
    if (this.css[end] === '{') {
      if (!isKeyframes) {
        this.#words(start + 1, start + keyword.length)
        this.#prelude(start + keyword.length, end)
      }
      this.#open.push(isKeyframes)
      this.#at = end + 1
    } else {
      if (/^@import$/i.test(keyword)) this.#replace(this.#firstComponent(start + keyword.length, end), end, ' ')
      this.#at = this.css[end] === ';' ? end + 1 : end
    }
    return true
  }

  /** The end of the string or function that an import names. */
  #firstComponent(start: number, end: number): number {
    const from = start + (/^\s*/.exec(this.css.slice(start, end))?.[0].length ?? 0)
    const quote = this.css[from] ?? ''
    if (quote === '"' || quote === "'") return this.#skipString(from) ?? end
    const bracket = this.css.indexOf('(', from)
    if (bracket === -1 || bracket > end) return end
    return this.#afterUrl(bracket) ?? (this.#end(bracket + 1, ')') ?? end - 1) + 1
  }

  /** Where one of `stops` stands outside of brackets, or the file ends; undefined when a string or bracket does not close. */
  #end(start: number, stops: string, nested = ''): number | undefined {
    let depth = 0
    for (let at = start; at < this.css.length;) {
      const char = this.css[at] ?? ''
      if (depth === 0 && stops.includes(char)) return at
      const after = this.#afterToken(at, char)
      if (after === undefined) return undefined
      if (after === at + 1 && ('(['.includes(char) || nested.includes(char))) depth++
      if (')]'.includes(char) || (nested !== '' && char === '}')) depth--
      if (depth < 0) return undefined
      at = after
    }
    return depth === 0 ? this.css.length : undefined
  }

  /** Behind a comment, a string, an escape, an address or any other character; undefined when a string does not close. Always moves on. */
  #afterToken(at: number, char: string): number | undefined {
    if (char === '/' && this.css[at + 1] === '*') return this.#skipComment(at)
    if (char === '"' || char === "'") return this.#skipString(at)
    if (char === '\\') return at + 2
    return (char === '(' ? this.#afterUrl(at) : undefined) ?? at + 1
  }

  /** Behind the closing bracket of `url(…)`; undefined for other brackets, and when the address is a string. */
  #afterUrl(bracket: number): number | undefined {
    if (!/url$/i.test(this.css.slice(Math.max(0, bracket - 3), bracket))) return undefined
    const address = /^\(\s*(?:[^\s"'()\\]|\\.)*\s*\)/s.exec(this.css.slice(bracket, bracket + maxUrlUnits))
    return address === null ? undefined : bracket + address[0].length
  }

  #skipString(quote: number): number | undefined {
    for (let at = quote + 1; at < this.css.length; at++) {
      const char = this.css[at]
      if (char === '\\') at++
      else if (char === '\n') return undefined
      else if (char === this.css[quote]) return at + 1
    }
    return undefined
  }

  #skipComment(at: number): number {
    const end = this.css.indexOf('*/', at + 2)
    return end === -1 ? this.css.length : end + 2
  }

  #skipBlanks(): void {
    for (;;) {
      while (blank.test(this.css[this.#at] ?? '')) this.#at++
      if (!this.#opening('/*')) return
      this.#at = this.#skipComment(this.#at)
    }
  }

  #opening(mark: string): boolean {
    return this.css.startsWith(mark, this.#at)
  }

  /** A semicolon that ends nothing is valid in a block, and says nothing. */
  #emptyStatement(): void {
    if (this.#open.length > 0) this.#skipAs(' ', 1)
    else this.#at++
  }

  #skipAs(letter: string, length: number): void {
    this.#replace(this.#at, this.#at + length, letter)
    this.#at += length
  }

  /** An empty value is valid for a custom property, and takes one of its blanks. */
  #value(start: number, end: number): void {
    const value = this.css.slice(start, end)
    if (forgotten.test(value) && !value.includes('{')) return
    if (value.trim() === '' && this.css[start] === ' ') this.#replace(start, start + 1, 'x')
    else this.#words(start, end)
  }

  /** Every character that is neither blank nor in a comment becomes a letter. */
  #words(start: number, end: number): void {
    for (let at = start; at < end;) {
      const text = this.css.slice(at, end)
      const comment = text.indexOf('/*')
      const words = comment === -1 ? text : text.slice(0, comment)
      this.#put(at, at + words.length, words.replace(/\S/g, 'x'))
      at = comment === -1 ? end : this.#skipComment(at + comment)
    }
  }

  /** Every line becomes one word, with a comma where another follows. */
  #prelude(start: number, end: number): void {
    const lines = this.css.slice(start, end).replace(/\S[^\n]*\S|\S/g, (words) => 'x'.repeat(words.length))
    this.#put(start, end, lines.replace(/x(?=[^\S\n]*\n\s*x)/g, ','))
  }

  #replace(start: number, end: number, by: string): void {
    this.#put(start, end, this.css.slice(start, end).replace(/[^\n]/g, by))
  }

  #put(start: number, end: number, text: string): void {
    if (start >= end) return
    this.#out += this.css.slice(this.#copied, start) + text
    this.#copied = end
  }
}
