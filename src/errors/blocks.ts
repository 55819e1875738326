/**
 * Why no block opens at a line (contract §8.2, reading §7): a closed list and its words. `kind` is public in the answer.
 */
export type BlockReason =
  | { readonly kind: 'unsupported-language'; readonly name: string }
  | { readonly kind: 'blank-line' }
  | { readonly kind: 'comment-only' }
  | { readonly kind: 'closer' }
  | { readonly kind: 'continuation' }
  | { readonly kind: 'detached' }
  | { readonly kind: 'whole-file' }
  | { readonly kind: 'shares-line'; readonly line: number }
  | { readonly kind: 'single-line' }
  | { readonly kind: 'does-not-parse'; readonly errorLine: number }
  | { readonly kind: 'too-large'; readonly limitBytes: number }
  | { readonly kind: 'beyond-grammar'; readonly what: 'lines' | 'nesting'; readonly limit: number }
  | { readonly kind: 'timed-out'; readonly afterMs: number }
  | { readonly kind: 'busy'; readonly afterMs: number }
  | { readonly kind: 'parser-lost' }

export function blockReasonText(reason: BlockReason): string {
  switch (reason.kind) {
    case 'unsupported-language':
      return `block operations do not know the language of ${reason.name}; ranges and gaps work in every file`
    case 'blank-line':
      return 'a blank line opens no block'
    case 'comment-only':
      return 'a plain comment opens no block'
    case 'closer':
      return 'this line only closes or continues a construct, it opens none'
    case 'continuation':
      return 'no construct begins on this line'
    case 'detached':
      return 'what stands on this line is attached to nothing directly below it'
    case 'whole-file':
      return 'what opens on this line is the whole file, which is no block; name one of its parts'
    case 'shares-line':
      return `the construct ends on line ${reason.line}, and that line goes on with something else`
    case 'single-line':
      return 'the construct on this line ends on the same line'
    case 'does-not-parse':
      return `the file does not parse cleanly (first at line ${reason.errorLine}), and a block is never guessed`
    case 'too-large':
      return `the file is larger than the ${reason.limitBytes} bytes that are parsed`
    case 'beyond-grammar':
      return reason.what === 'lines'
        ? `the grammar of this language holds no more than ${reason.limit} lines`
        : `the file nests deeper than the ${reason.limit} levels that the grammar of this language holds`
    case 'timed-out':
      return `parsing did not end within ${reason.afterMs} ms`
    case 'busy':
      return `no parser was free within ${reason.afterMs} ms`
    case 'parser-lost':
      return 'the parser failed on this file'
  }
}
