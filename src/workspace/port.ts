/**
 * The workspace port: paths and bytes on the disk of the mounted workspaces.
 *
 * Every call proves containment anew; nothing outside the roots of a session is ever read, written or hinted at. Knows no sessions,
 * tags or ops. `commit` calls are the only ones that change a disk, and each either lands wholly or changes nothing (reading §8.4, §8.11,
 * §8.13, §8.15). Called by tools.
 */

/** The roots of one session; absolute real paths without a trailing slash. */
export interface Roots {
  readonly workspace: { readonly name: string; readonly dir: string }
  /** The session's scratch root; it may not exist yet. */
  readonly scratch: string
  readonly external: readonly string[]
}

export type RootKind = 'workspace' | 'scratch' | 'external'

/** A path that was proven to lie inside a root when it was resolved. The proof is made again by every call that takes one. */
export interface Target {
  /** As the caller wrote it. */
  readonly authored: string
  /** To be shown: relative to the workspace with `/`, absolute for scratch and external roots. Links are not followed in it. */
  readonly path: string
  readonly root: RootKind
  /** The real absolute path after all links: the key of snapshots and permits. */
  readonly canonical: string
  /** `canonical` in the form of `path`. */
  readonly canonicalPath: string
  readonly exists: boolean
  /** The last component, as written, is a symbolic link. */
  readonly lastIsLink: boolean
}

/** What the last look before a rename compares (reading §8.4). */
export interface FileIdentity {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly ctimeNs: bigint
  readonly mtimeNs: bigint
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly nlink: number
}

export interface LoadedFile {
  readonly bytes: Buffer
  readonly identity: FileIdentity
}

/** `changed`: the live file is no longer the one the bytes were computed from; nothing was touched. */
export type CommitAnswer = { readonly landed: true; readonly hardLinkSplit: boolean } | { readonly landed: false; readonly why: 'changed' }

/**
 * Runs when everything is prepared and only the rename is missing: the place for the store's confirmation (reading §8.3). Throwing aborts and
 * leaves nothing behind.
 */
export type Confirm = () => Promise<void>

export interface WorkspacePort {
  /** Names of the workspaces, sorted: directories directly below the root that do not begin with a dot. */
  workspaces(): Promise<readonly string[]>
  /**
   * Roots for a session. Throws NOT_FOUND for an unknown workspace (with near names), TOOL_DENIED for an external root that the operator did not approve,
   * INVALID_ARGUMENT for one that is no absolute directory path. Does not create the scratch folder.
   */
  roots(workspace: string, sessionId: string, externalRoots: readonly string[]): Promise<Roots>
  /** Removes the scratch folder of a session. Never throws for what is already gone. */
  dropScratch(sessionId: string): Promise<void>

  /**
   * Resolves a path by the real path of its deepest existing ancestor. Throws INVALID_ARGUMENT (empty, NUL, too long, lone surrogate), PATH_OUTSIDE_WORKSPACE,
   * TOOL_DENIED (DENY_READ for every operation that would show content, DENY_WRITE for those that write; both decided on the resolved path).
   */
  resolve(roots: Roots, path: string, access: 'read' | 'write'): Promise<Target>
  /** Close existing paths of the workspace for a name that does not exist, at most 5, bounded work, Unicode-normalized ones first. */
  suggest(roots: Roots, target: Target): Promise<readonly string[]>
  /**
   * Reads the whole file. Throws NOT_FOUND (with suggestions), INVALID_ARGUMENT for what is no regular file, FILE_TOO_LARGE, TOOL_DENIED (EACCES), TOOL_FAILED.
   * The bytes are of one moment: a file that changes while it is read is read again.
   */
  load(roots: Roots, target: Target, maxBytes: number, signal?: AbortSignal): Promise<LoadedFile>
  /** The same checks; chunks of a regular file in order. Throws when the file changed between its start and its end. */
  stream(roots: Roots, target: Target, maxBytes: number, signal?: AbortSignal): Promise<{ readonly identity: FileIdentity; readonly chunks: AsyncIterable<Buffer> }>
  /** The live identity, or undefined where nothing exists. Same throws as load otherwise. */
  identify(roots: Roots, target: Target): Promise<FileIdentity | undefined>
  /** TOOL_DENIED when the process may not open the file for writing (reading §8.11), also where a rename would succeed. */
  assertWritable(roots: Roots, target: Target): Promise<void>

  /** Replaces the bytes of an existing file, keeping mode and, where permitted, owner and group. */
  replace(roots: Roots, target: Target, base: LoadedFile, bytes: Uint8Array, confirm: Confirm): Promise<CommitAnswer>
  /** Creates a file that must not exist (CONFLICT otherwise) and its parent folders; `mode` defaults to 0644 under the umask. */
  create(roots: Roots, target: Target, bytes: Uint8Array, confirm: Confirm, mode?: number): Promise<CommitAnswer>
  remove(roots: Roots, target: Target, base: LoadedFile, confirm: Confirm): Promise<CommitAnswer>
  /**
   * Publishes `bytes` at a destination that must not exist, then unlinks the source. CONFLICT when the destination exists, INVALID_ARGUMENT across file systems.
   * `bytes` undefined moves the file as it is.
   */
  move(roots: Roots, source: Target, dest: Target, base: LoadedFile, bytes: Uint8Array | undefined, confirm: Confirm): Promise<CommitAnswer>
  /** Removes a folder chain that `create` made, as far up as it is empty and inside a root; used when a creation is rolled back. */
  pruneEmptyParents(roots: Roots, target: Target, created: readonly string[]): Promise<void>

  /** Removes temporary files and scratch folders whose owner is gone. `live` tells whether a session still exists. */
  sweep(live: (sessionId: string) => Promise<boolean>): Promise<{ readonly temps: number; readonly scratch: number }>
  /** True when the workspace root can be written, for readiness. */
  writable(): Promise<boolean>
}
