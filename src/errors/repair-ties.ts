/**
 * Words of boundary repair that the error table and the warnings share: why a call was not evaluated, and what makes it ambiguous (reading §6).
 */

/** Why no verdict could be had (reading §6.2). */
export type NotEvaluated = 'too-large' | 'timed-out' | 'parser-lost'

export const notEvaluatedText: Record<NotEvaluated, string> = {
  'too-large': 'it is too large to be parsed',
  'timed-out': 'the parser took too long',
  'parser-lost': 'the parser was lost',
}

/** Restated rows leave two meanings, or several rows of ranges could be the one that was swallowed. */
export type RepairTie = 'restated' | 'swallowed'

export const repairTieText: Record<RepairTie, string> = {
  restated: 'the body restates lines beside its range',
  swallowed:
    'as written the file no longer parses, and more than one row of the replaced lines could be the missing one',
}
