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
  /** Throws NOT_FOUND, with near names, when there is no such workspace any more. */
  readonly stands: () => Promise<void>
}

export type RootKind = 'workspace' | 'scratch' | 'external'

/** A path that was proven to lie inside a root when it was resolved. The proof is made again by every call that takes one. */
export interface Target {
  /** As the caller wrote it. */
  readonly authored: string
  /** The argument that held it, for INVALID_ARGUMENT: `path`, or `ops` for the destination of a move. */
  readonly field: string
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
  /** Permission bits alone, at most 0o7777. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly nlink: number
}

export interface LoadedFile {
  readonly bytes: Buffer
  readonly identity: FileIdentity
  /** The ctime was old enough when the file was read that a later write must show in it; if not, the last look compares the bytes. */
  readonly settled: boolean
  /** The process had the right to write it when it was read; `unasked` when it was loaded to be read. A commit asks what was not. */
  readonly mayWrite: 'yes' | 'unasked'
}

export interface FileStream {
  readonly identity: FileIdentity
  /** Fresh buffers in order. Iterate it or call its `return`; the file stays open until then. */
  readonly chunks: AsyncIterable<Buffer>
}

export interface Owner {
  readonly uid: number
  readonly gid: number
}

export interface Landed {
  readonly landed: true
  /** The name no longer shares its inode with another one, which kept the old bytes. */
  readonly hardLinkSplit: boolean
  /** Folders that were made for it, real absolute paths, outermost first: what `pruneEmptyParents` takes to roll a creation back. */
  readonly createdParents: readonly string[]
}

/** `changed`: the live file is no longer the one the bytes were computed from; nothing was touched. */
export type CommitAnswer = Landed | { readonly landed: false; readonly why: 'changed' }

/**
 * Runs when everything is prepared and only the rename is missing: the place for the store's confirmation (reading §8.3). It is told the folders that were made
 * for the file, outermost first, because what it stages must already hold them. Throwing aborts and leaves nothing behind, those folders included.
 */
export type Confirm = (createdParents: readonly string[]) => Promise<void>

export interface Swept {
  readonly temps: number
  readonly scratch: number
  /** False when the bound on directories ended it early. */
  readonly complete: boolean
}

export interface WorkspacePort {
  /** Names of the workspaces, sorted: directories directly below the root that do not begin with a dot. */
  workspaces(): Promise<readonly string[]>
  /**
   * Roots for a session. Throws NOT_FOUND for an unknown workspace (with near names), TOOL_DENIED for an external root that the operator did not approve,
   * INVALID_ARGUMENT for one that is no absolute directory path. Does not create the scratch folder. Only names for which `mayOpen` is true are offered as near.
   */
  roots(
    workspace: string,
    sessionId: string,
    externalRoots: readonly string[],
    mayOpen?: (workspace: string) => boolean,
  ): Promise<Roots>
  /**
   * Roots of a session that was opened before, without a look at the workspace: a path in it that is its own real path proves that it is there, and for any other
   * one `resolve` asks. Throws as `roots` for external roots alone.
   */
  openedRoots(workspace: string, sessionId: string, externalRoots: readonly string[]): Promise<Roots>
  /** Removes the scratch folder of a session. Never throws for the disk: what cannot be removed is left to the sweep. */
  dropScratch(sessionId: string): Promise<void>

  /**
   * Resolves a path by the real path of its deepest existing ancestor. Throws INVALID_ARGUMENT (empty, NUL, too long, lone surrogate), PATH_OUTSIDE_WORKSPACE,
   * TOOL_DENIED (DENY_READ for every access; DENY_WRITE for `write`, there on a link's own path as well). A directory resolves too; what needs a regular
   * file says so when it comes to it. `field` names the argument for INVALID_ARGUMENT, `path` by default.
   */
  resolve(roots: Roots, path: string, access: 'read' | 'write', field?: string): Promise<Target>
  /** Close existing paths of the workspace for a name that does not exist, at most 5, bounded work, Unicode-normalized ones first. */
  suggest(roots: Roots, target: Target): Promise<readonly string[]>
  /**
   * Reads the whole file. Throws NOT_FOUND (with suggestions), INVALID_ARGUMENT for what is no regular file, FILE_TOO_LARGE, TOOL_DENIED (EACCES), TOOL_FAILED.
   * The bytes are of one moment: a file that changes while it is read is read again, MUTATION_IN_PROGRESS when it never rests.
   */
  load(roots: Roots, target: Target, maxBytes: number, signal?: AbortSignal): Promise<LoadedFile>
  /** The same for a file that will be changed: also TOOL_DENIED when the process may not open it for writing (reading §8.11), even where a rename would succeed. */
  loadForWriting(roots: Roots, target: Target, maxBytes: number, signal?: AbortSignal): Promise<LoadedFile>
  /** The same checks; a file that changed between its start and its end ends in MUTATION_IN_PROGRESS. */
  stream(roots: Roots, target: Target, maxBytes: number, signal?: AbortSignal): Promise<FileStream>
  /** The live identity, or undefined where nothing exists. Same throws as load otherwise. */
  identify(roots: Roots, target: Target): Promise<FileIdentity | undefined>

  // The commits. All are TOOL_DENIED without the right to write, TOOL_FAILED when the disk is full, read-only or broken, and `changed` when the file or its
  // folder is no longer what it was; then, as when `confirm` throws, nothing was touched and nothing is left behind.

  /** Replaces the bytes of an existing file, keeping its mode, unless one is given, and, where permitted, owner and group. */
  replace(
    roots: Roots,
    target: Target,
    base: LoadedFile,
    bytes: Uint8Array,
    confirm: Confirm,
    mode?: number,
  ): Promise<CommitAnswer>
  /**
   * Creates a file that must not exist (CONFLICT otherwise) and its parent folders. `mode` defaults to 0644 under the umask; a given one is set as it is,
   * and `owner` where permitted.
   */
  create(
    roots: Roots,
    target: Target,
    bytes: Uint8Array,
    confirm: Confirm,
    mode?: number,
    owner?: Owner,
  ): Promise<CommitAnswer>
  remove(roots: Roots, target: Target, base: LoadedFile, confirm: Confirm): Promise<CommitAnswer>
  /**
   * Publishes `bytes` at a destination that must not exist, with owner and mode of the source or the given mode, makes its parent folders, then unlinks the source. CONFLICT
   * when the destination exists, INVALID_ARGUMENT across file systems. `bytes` undefined moves the file as it is, its mode too.
   */
  move(
    roots: Roots,
    source: Target,
    dest: Target,
    base: LoadedFile,
    bytes: Uint8Array | undefined,
    confirm: Confirm,
    mode?: number,
  ): Promise<CommitAnswer>
  /** Removes a folder chain that `create` made, as far up as it is empty and inside a root; used when a creation is rolled back. */
  pruneEmptyParents(roots: Roots, target: Target, created: readonly string[]): Promise<void>

  // For leftover intents (reading §8.5): canonical paths that the store recorded, without a session's roots. Both prove that the path still lies inside
  // WORKSPACES_DIR, SCRATCH_DIR or EXTERNAL_ROOTS by its real parent.

  /** The live bytes of a regular file, undefined when there is none (or no longer one that may be looked at). */
  inspect(canonical: string): Promise<Buffer | undefined>
  /** Unlinks a file whose bytes still have this byteDigest; does nothing otherwise. */
  removeExact(canonical: string, byteDigest: string): Promise<void>

  /** Removes temporary files and scratch folders whose owner is gone. `live` tells whether a session still exists. */
  sweep(live: (sessionId: string) => Promise<boolean>): Promise<Swept>
  /** True when the workspace root can be written, for readiness. */
  writable(): Promise<boolean>
}
