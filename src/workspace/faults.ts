/**
 * What an error of the file system means to a caller (reading §8.15). The words are those of src/errors.
 *
 * Decides nothing about outside and inside; whoever may have left the roots asks the resolver first. Called by every part of the workspace.
 */
import { diskCause } from '../errors/disk-causes.js'
import { invalidPath } from '../errors/invalid.js'
import { ToolError } from '../errors/tool-error.js'
import { limits } from '../limits.js'

/** `ENOENT` and the like; undefined for what is no error of the system. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'errno' in error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined
}

/** The refusal for an error of the system; anything else comes back as it is. `name` is the path to show, `field` the argument that holds it. */
export function faultOf(error: unknown, name: string, field: string): unknown {
  const code = codeOf(error)
  if (code === undefined) return error
  const because = { cause: error }
  switch (code) {
    case 'ENOENT':
      return new ToolError('NOT_FOUND', { what: 'file', name }, because)
    case 'EACCES':
    case 'EPERM':
    case 'ETXTBSY':
      return new ToolError('TOOL_DENIED', { reason: 'no permission on disk', path: name }, because)
    case 'ENOTDIR':
      return invalidPath({ kind: 'parent is a file' }, field)
    case 'ELOOP':
      return invalidPath({ kind: 'link loop' }, field)
    case 'ENAMETOOLONG':
      return invalidPath({ kind: 'path too long', limitBytes: limits.pathBytes }, field)
    case 'EISDIR':
      return invalidPath({ kind: 'not a regular file', found: 'directory' }, field)
    case 'EINVAL':
    case 'EILSEQ':
      return invalidPath({ kind: 'name refused by the file system' }, field)
    case 'EXDEV':
      return invalidPath({ kind: 'across file systems' }, field)
    case 'EEXIST':
      return new ToolError('CONFLICT', { reason: 'destination exists', path: name }, because)
    case 'EMFILE':
    case 'ENFILE':
      return new ToolError('OVERLOADED', { what: 'open files' }, because)
    default:
      return new ToolError('TOOL_FAILED', { path: name, cause: diskCause(code) }, because)
  }
}
