/**
 * Why a version was refused and recovery declined (contract §10, reading §3.3–3.6): a closed list and its words.
 */
export type DeclineReason =
  | { readonly kind: 'unknown tag' }
  | { readonly kind: 'no file' }
  | { readonly kind: 'ambiguous tag' }
  | { readonly kind: 'text not retained' }
  | { readonly kind: 'too different' }
  | { readonly kind: 'not mapped in time' }
  | { readonly kind: 'line changed'; readonly line: number }
  | { readonly kind: 'different offsets'; readonly lines: readonly [number, number] }
  | { readonly kind: 'inserted between'; readonly lines: readonly [number, number] }
  | { readonly kind: 'context changed'; readonly line: number }
  | { readonly kind: 'duplicated line'; readonly line: number }
  /** `places` are lines of the live text. */
  | { readonly kind: 'two places'; readonly line: number; readonly places: readonly [number, number] }
  | { readonly kind: 'one of two left'; readonly lines: readonly [number, number] }
  | { readonly kind: 'line unseen'; readonly line: number }
  | { readonly kind: 'echo moved'; readonly line: number }
  | { readonly kind: 'block unplaceable'; readonly line: number }
  /** `last`: where it ended, of the tagged text. */
  | { readonly kind: 'block changed'; readonly line: number; readonly last: number }
  | { readonly kind: 'replay changes nothing' }
  | { readonly kind: 'remove needs the live version' }
  | { readonly kind: 'move needs an anchor' }
  | { readonly kind: 'changed since last seen'; readonly line: number }
  | { readonly kind: 'version not recorded' }

export function declineText(reason: DeclineReason): string {
  switch (reason.kind) {
    case 'unknown tag':
      return 'this session has no version of the file under that tag'
    case 'no file':
      return 'the file does not exist'
    case 'ambiguous tag':
      return 'two versions of the file share that tag, so it names none of them'
    case 'text not retained':
      return 'the text of that version is no longer kept'
    case 'too different':
      return 'the file differs too much from that version to map its lines'
    case 'not mapped in time':
      return 'the lines of that version could not be mapped to the file in time'
    case 'line changed':
      return `line ${reason.line} changed since`
    case 'different offsets':
      return `lines ${reason.lines[0]} and ${reason.lines[1]} moved by different amounts`
    case 'inserted between':
      return `something was inserted between lines ${reason.lines[0]} and ${reason.lines[1]} (they moved by different amounts)`
    case 'context changed':
      return `the lines around line ${reason.line} changed since`
    case 'duplicated line':
      return `line ${reason.line} occurs more than once and its neighbours do not agree`
    case 'two places':
      return `line ${reason.line} occurs more than once: it may be line ${reason.places[0]} of the file as it is now as well as line ${reason.places[1]}`
    case 'one of two left':
      return `lines ${reason.lines[0]} and ${reason.lines[1]} read the same, and it cannot be told which of them stands in the file as it is now`
    case 'line unseen':
      return `line ${reason.line} was never shown to this session`
    case 'echo moved':
      return `the lines beside line ${reason.line} changed since, so the boundary of the range cannot be proven`
    case 'block unplaceable':
      return `the block at line ${reason.line} cannot be placed because the text of that version is no longer kept`
    case 'block changed':
      return `the block at line ${reason.line}, which ended at line ${reason.last}, does not end there in the file as it is now`
    case 'replay changes nothing':
      return 'the file already holds the new text there (nothing changed)'
    case 'remove needs the live version':
      return 'a file is removed only at the version that was read'
    case 'move needs an anchor':
      return 'a file that changed since is moved only together with an edit of its lines'
    case 'changed since last seen':
      return `the file changed since this session last saw it, first at line ${reason.line}`
    case 'version not recorded':
      return 'the version of the file on disk was never recorded by this session'
  }
}
