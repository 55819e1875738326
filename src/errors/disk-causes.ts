/**
 * The cause of TOOL_FAILED in plain words: what the file system meant by its error code (reading §8.15).
 *
 * Knows only faults of the volume or of the process; what the caller can mend is INVALID_ARGUMENT, NOT_FOUND, TOOL_DENIED or CONFLICT and never comes here.
 * Called by the workspace.
 */
const causes: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EROFS', 'the volume is mounted read-only'],
  ['EIO', 'the disk reported an input/output error'],
  ['EFBIG', 'the file system does not take a file of this size'],
  ['ESTALE', 'the network file system lost this file'],
  ['ETIMEDOUT', 'the network file system did not answer'],
  ['ENOMEM', 'the machine is out of memory'],
  ['EBUSY', 'the file is busy'],
  ['ENODEV', 'the volume is gone'],
  ['ENXIO', 'the volume is gone'],
])

/** `code` is an errno name such as `ENOSPC`; an unknown one is named as it is. */
export function diskCause(code: string): string {
  return causes.get(code) ?? `the file system answered ${code}`
}
