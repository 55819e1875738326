/**
 * Parses texts in the thread it lives in, and keeps what is worth keeping: loaded grammars, one parser, the trees of the last few texts.
 *
 * A parse ends at its deadline or when it is called off, and leaves the parser fit for the next one. After an exception from the grammar's code the whole host is
 * unfit: its memory may be damaged, and whoever called has to drop the thread. Called by the worker, the build and the command line.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Language as Grammar, Tree } from 'web-tree-sitter'
import { Parser } from 'web-tree-sitter'
import { Blocks } from './blocks.js'
import { changedPart } from './changed-part.js'
import { GrammarUnfit, loadGrammar } from './grammar-module.js'
import type { Language, SyntaxNode, WasmSource } from './language.js'
import { childrenOf } from './language.js'
import { nestsDeeperThan } from './nesting.js'
import { Rules } from './rules.js'
import { TextLines } from './text-lines.js'

interface WasmMemory {
  readonly buffer: ArrayBuffer
}

/** The part of the engine's WebAssembly that is used here; Node's types leave it to the browser's. */
declare const WebAssembly: {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => WasmMemory
}

/** A text that parsed cleanly, with its tree; valid until the next parse of this host. */
export interface CleanText {
  readonly clean: true
  readonly root: SyntaxNode
  readonly lines: TextLines
  readonly blocks: Blocks
}

export interface BrokenText {
  readonly clean: false
  /** Row of the first error, from 0, as the preferred grammar sees it. */
  readonly errorRow: number
}

export interface ParserHostOptions {
  /** Texts whose trees are kept for the next question about them, and their UTF-16 units altogether. */
  readonly keptTrees: number
  readonly keptUnits: number
  /** Files of which a tree is kept for their next text, and their units. A tree takes up to 150 bytes for a unit. */
  readonly keptFiles: number
  readonly keptFileUnits: number
  /** Bytes that the grammars and their trees may take; a parse that needs more fails. */
  readonly memoryBytes: number
}

export interface TextBeyondGrammar {
  readonly clean: false
  readonly beyond: { readonly what: 'lines' | 'nesting'; readonly limit: number }
}

export type ParsedText = CleanText | BrokenText | TextBeyondGrammar

/** Asked again and again while a parse runs; true ends it. */
export type Stop = () => boolean

interface Kept {
  readonly tree: Tree | undefined
  /** The grammar of a clean tree. */
  readonly source?: WasmSource
  readonly text: ParsedText
}

/** The last clean text of a file, and a tree of it that may have been made out of an earlier one. */
interface Latest {
  readonly tree: Tree
  readonly source: WasmSource
  readonly text: string
}

const wasmPageBytes = 65_536
/** What the runtime starts with by itself. */
const initialPages = 512

export class ParserHost {
  readonly #grammars = new Map<string, Grammar>()
  readonly #rules = new Map<string, Rules>()
  readonly #parser = new Parser()
  readonly #kept: LRUCache<string, Kept>
  readonly #latest: LRUCache<string, Latest>

  private constructor(
    options: ParserHostOptions,
    private readonly memory: WasmMemory,
  ) {
    this.#kept = new LRUCache<string, Kept>({
      max: options.keptTrees,
      maxSize: options.keptUnits,
      dispose: (kept) => kept.tree?.delete(),
    })
    this.#latest = new LRUCache<string, Latest>({
      max: options.keptFiles,
      maxSize: options.keptFileUnits,
      dispose: ({ tree }) => tree.delete(),
    })
  }

  /** One host per thread: the runtime below it is shared by everything in the thread. */
  static async create(options: ParserHostOptions): Promise<ParserHost> {
    const maximum = Math.floor(options.memoryBytes / wasmPageBytes)
    const memory = new WebAssembly.Memory({ initial: initialPages, maximum })
    await Parser.init({ wasmMemory: memory })
    return new ParserHost(options, memory)
  }

  /** Bytes of memory that the runtime has taken; it gives none back. */
  get memoryBytes(): number {
    return this.memory.buffer.byteLength
  }

  /** Loads every grammar of a language and parses its sample with each. Throws with the reason when one is missing, altered or unfit. */
  warm(language: Language): void {
    for (const source of language.sources) {
      const tree = this.#tree(source, language.sample, () => false)
      const fault = tree === undefined ? 0 : errorRow(tree.rootNode, language, new TextLines(language.sample))
      tree?.delete()
      if (fault !== undefined)
        throw new GrammarUnfit(`${source.package}/${source.file} does not parse the ${language.name} sample`)
    }
  }

  /** The text as the first grammar that parses it cleanly sees it; undefined when `stop` ended the parse. */
  parse(language: Language, text: string, stop: Stop): ParsedText | undefined {
    const key = keyOf(language, text)
    const known = this.#kept.get(key)
    if (known !== undefined) return known.text
    const kept = this.#parseAnew(language, text, stop)
    if (kept === undefined) return undefined
    // A text too large to keep is refused by the cache, which disposes of its tree when the next one comes: hold it alone instead.
    if (text.length >= this.#kept.maxSize) this.#kept.clear()
    this.#kept.set(key, kept, { size: Math.min(text.length + 1, this.#kept.maxSize) })
    return kept.text
  }

  /**
   * Whether the next text of a file parses: where the tree of an earlier one is at hand only what changed is parsed. A tree made that way may be another one than the
   * text alone has, so that only its being clean is used; a text that is not is parsed alone, and so is one that is asked about for any other reason. `file`
   * names the file; undefined when `stop` ended the parse.
   */
  follows(
    language: Language,
    file: string,
    text: string,
    stop: Stop,
  ): Pick<CleanText, 'clean'> | ParsedText | undefined {
    const normal = withPlainLineBreaks(text)
    const id = `${language.name} ${file}`
    const latest = this.#latest.get(id)
    if (latest !== undefined) {
      const lines = new TextLines(normal)
      const tree = beyondGrammar(language, lines) === undefined ? this.#treeAfter(latest, normal, stop) : 'beyond'
      if (tree === undefined) return undefined
      if (tree !== 'beyond') {
        if (errorRow(tree.rootNode, language, lines) === undefined) {
          this.#setLatest(id, { tree, source: latest.source, text: normal })
          return { clean: true }
        }
        tree.delete()
      }
    }
    const whole = this.parse(language, text, stop)
    const { tree, source } = this.#kept.get(keyOf(language, text)) ?? {}
    // What the grammar is given in place of the text cannot be told apart by the places of the text.
    if (tree !== undefined && source !== undefined && source.rewrite === undefined)
      this.#setLatest(id, { tree: tree.copy(), source, text: normal })
    return whole
  }

  #setLatest(id: string, latest: Latest): void {
    if (latest.text.length < this.#latest.maxSize) this.#latest.set(id, latest, { size: latest.text.length + 1 })
    else latest.tree.delete()
  }

  #parseAnew(language: Language, text: string, stop: Stop): Kept | undefined {
    const normal = withPlainLineBreaks(text)
    const lines = new TextLines(normal)
    const beyond = beyondGrammar(language, lines)
    if (beyond !== undefined) return { tree: undefined, text: { clean: false, beyond } }
    let firstFault: number | undefined
    for (const source of language.sources) {
      const tree = this.#tree(source, normal, stop)
      if (tree === undefined) return undefined
      const root = tree.rootNode
      const fault = errorRow(root, language, lines)
      if (fault === undefined) {
        const blocks = new Blocks(root, lines, this.#rulesOf(language))
        return { tree, source, text: { clean: true, root, lines, blocks } }
      }
      firstFault ??= fault
      tree.delete()
    }
    return { tree: undefined, text: { clean: false, errorRow: firstFault ?? 0 } }
  }

  #treeAfter({ tree, source, text }: Latest, next: string, stop: Stop): Tree | undefined {
    const edited = tree.copy()
    try {
      edited.edit(changedPart(text, next))
      return this.#tree(source, next, stop, edited)
    } finally {
      edited.delete()
    }
  }

  #tree(source: WasmSource, text: string, stop: Stop, edited: Tree | null = null): Tree | undefined {
    this.#parser.setLanguage(this.#grammar(source))
    const tree = this.#parser.parse(source.rewrite?.(text) ?? text, edited, { progressCallback: stop })
    if (tree !== null) return tree
    this.#parser.reset()
    return undefined
  }

  #grammar(source: WasmSource): Grammar {
    const key = `${source.package}/${source.file}`
    const known = this.#grammars.get(key)
    if (known !== undefined) return known
    const grammar = loadGrammar(source)
    this.#grammars.set(key, grammar)
    return grammar
  }

  #rulesOf(language: Language): Rules {
    const known = this.#rules.get(language.name)
    if (known !== undefined) return known
    const rules = new Rules(language)
    this.#rules.set(language.name, rules)
    return rules
  }
}

function keyOf(language: Language, text: string): string {
  return `${language.name} ${createHash('sha256').update(text).digest('base64')}`
}

/** The text as grammars know texts best, with CRLF as LF and an LF at the end. Its lines keep their numbers. */
function withPlainLineBreaks(text: string): string {
  const plain = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text
  return plain === '' || plain.endsWith('\n') ? plain : `${plain}\n`
}

function beyondGrammar({ bounds = {} }: Language, lines: TextLines): TextBeyondGrammar['beyond'] | undefined {
  const { lines: maxLines = Infinity, nesting = Infinity } = bounds
  if (lines.count > maxLines) return { what: 'lines', limit: maxLines }
  if (nesting < Infinity && nestsDeeperThan(lines.text, nesting)) return { what: 'nesting', limit: nesting }
  return undefined
}

/** The row of the first error in a tree, or of the first fault that the language adds; undefined for a clean one. */
function errorRow(root: SyntaxNode, language: Language, lines: TextLines): number | undefined {
  if (!root.hasError) return language.faultRow?.(root)
  let node = root
  for (;;) {
    // Where the root itself is the error, the parser may have stopped before the end: what comes next is what it could not read.
    if (node.isError && node.parent !== null) break
    const next = firstFaulty(node)
    if (node.isMissing || next === undefined) break
    node = next
  }
  const row = node === root ? rowAfter(root, lines) : node.startPosition.row
  return Math.min(row, Math.max(0, lines.count - 1))
}

/** The row of the first thing behind a node; its own where nothing follows. */
function rowAfter(node: SyntaxNode, lines: TextLines): number {
  const { row, column } = node.endPosition
  if (lines.firstColumn(row, column) !== undefined) return row
  for (let below = row + 1; below < lines.count; below++) if (lines.firstColumn(below) !== undefined) return below
  return node.startPosition.row
}

function firstFaulty(node: SyntaxNode): SyntaxNode | undefined {
  for (const child of childrenOf(node)) if (child.hasError || child.isError || child.isMissing) return child
  return undefined
}
