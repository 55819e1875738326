/**
 * What the operator's save hooks do to an intended text, as warnings and seen lines (contract §5.4, reading §2.8). Called before the rename.
 */
import type { Warning } from '../errors/warnings.js'
import { warn } from '../errors/warnings.js'
import { LineSet } from '../text/line-set.js'
import { Document } from '../text/document.js'
import type { ToolDeps } from './deps.js'

export interface Hooked {
  /** What lands. */
  readonly text: Document
  readonly changed: boolean
  readonly warnings: readonly Warning[]
}

export async function applySaveHooks(deps: ToolDeps, path: string, intended: Document): Promise<Hooked> {
  const answer = await deps.hooks.apply(path, intended.bytes, deps.settings.maxFileBytes)
  switch (answer.kind) {
    case 'none':
    case 'unchanged':
      return { text: intended, changed: false, warnings: [] }
    case 'changed':
      return { text: Document.trusted(answer.bytes), changed: true, warnings: [warn.postWriteDrift()] }
    case 'failed': {
      const failed = warn.saveHookFailed(answer.hook, answer.cause)
      if (answer.bytes === undefined) return { text: intended, changed: false, warnings: [failed] }
      return { text: Document.trusted(answer.bytes), changed: true, warnings: [failed, warn.postWriteDrift()] }
    }
  }
}

/** Those landed lines that equal the intended text at the same number. */
export function seenAfterHook(intended: Document, landed: Document): LineSet {
  const same: number[] = []
  const count = Math.min(intended.lineCount, landed.lineCount)
  for (let line = 1; line <= count; line++) if (intended.content(line).equals(landed.content(line))) same.push(line)
  return LineSet.ofLines(same)
}
