/**
 * Reads the corpora in `test/syntax/corpus/`: source files with the answer for every line in the gutter, written by hand.
 *
 * A file opens with `=== NAME — what it is about`; every line after it is `LINE ANSWER|SOURCE`. The answer is the last line of the block that opens there, or one of the
 * signs below. `@no-final-newline` in the heading leaves the last line break out.
 */
import assert from 'node:assert'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/package-root.js'
import type { BlockAnswer } from '../../src/text/facts.js'

const signs: Readonly<Record<string, string>> = {
  '-': 'single-line',
  '~': 'continuation',
  '}': 'closer',
  '#': 'comment-only',
  _: 'blank-line',
  '?': 'detached',
  '*': 'whole-file',
  '&': 'shares-line',
}

export interface Sample {
  /** The corpus it is from, which is the name of its language. */
  readonly language: string
  readonly path: string
  readonly title: string
  readonly text: string
  /** For every line the last line of its block, or the kind of the reason why it has none. */
  readonly expected: readonly (number | string)[]
}

const folder = join(packageRoot(import.meta.url), 'test/syntax/corpus')

export const samples: readonly Sample[] = readdirSync(folder)
  .filter((name) => name.endsWith('.txt'))
  .sort()
  .flatMap((name) => read(name.replace(/\.txt$/, ''), readFileSync(join(folder, name), 'utf8')))

/** An answer in the terms of a sample. */
export function inTerms(answer: BlockAnswer): number | string {
  return answer.found ? answer.span.end : answer.reason.kind
}

function read(language: string, corpus: string): Sample[] {
  return corpus
    .split(/^=== /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...rows] = section.replace(/\n$/, '').split('\n')
      const [path = '', title = ''] = heading.replace(' @no-final-newline', '').split(' — ')
      const lines: string[] = []
      const expected = rows.map((row, index) => {
        const [, line = '', answer = '', source = ''] = /^ *(\d+) +(\S+?)\|(.*)$/.exec(row) ?? []
        assert.equal(Number(line), index + 1, `${language}: ${row} is not line ${index + 1} of ${path}`)
        lines.push(source)
        const sign = signs[answer]
        assert.ok(sign !== undefined || Number(answer) > index + 1, `${language}: ${row} has no answer`)
        return sign ?? Number(answer)
      })
      const end = heading.includes('@no-final-newline') ? '' : '\n'
      return { language, path, title, text: lines.join('\n') + end, expected }
    })
}
