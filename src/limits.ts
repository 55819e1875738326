/**
 * Every bound of the contract and of the service: value, unit, reason (contract §4.4 and §12, reading §8).
 *
 * Nothing here is computed and nothing is read from the environment; what an operator may change lives in config.ts and takes
 * its default from here. A bound is passed as an argument to the work it bounds.
 */
export const limits = {
  // — text and reading —
  /** Bytes at the start of a file in which a NUL makes it binary. */
  binaryProbeBytes: 8_000,
  /** UTF-16 units of one row before it is clipped (contract §4.3). */
  maxLineChars: 16_384,
  readDefaultLines: 2_000,
  readMaxLines: 5_000,
  /** Bytes of Read content in one answer; the window ends there. */
  readContentBytes: 262_144,
  /** Bytes of a file that Read holds in memory; a larger one is streamed. */
  readInMemoryBytes: 8 * 1024 * 1024,
  /** Bytes of a file that Edit and Write accept, by default. */
  maxFileBytes: 64 * 1024 * 1024,
  /** Bytes of a file that Read accepts, by default. */
  maxReadBytes: 2 * 1024 * 1024 * 1024,

  // — the patch language (contract §12) —
  /** UTF-8 bytes of an `ops` payload. */
  opsBytes: 262_144,
  opsPerCall: 200,
  /** Digits of a line number; a longer one is refused before anything is allocated (reading §4.5). */
  lineNumberDigits: 7,
  /** Rows inserted or pasted plus lines deleted, as the contract's IR would count them (reading §4.10). */
  expandedLines: 100_000,
  registerNameChars: 32,

  // — reveals (contract §9.1, reading §3.6) —
  revealLines: 40,
  revealLineChars: 512,
  revealContextLines: 3,
  /** Reads that a refusal lists one by one when what it names was not shown. */
  revealReads: 4,

  // — registers —
  registerLines: 4_096,
  registerBytes: 1_048_576,
  registersPerSession: 16,

  // — snapshots (contract §4.4) —
  pathsPerSession: 64,
  versionsPerPath: 4,
  retainedBytesPerSession: 8 * 1024 * 1024,
  retainedBytesPerFile: 2 * 1024 * 1024,
  /** Plain bytes of text that one process keeps for all sessions; idle texts go first (reading §8.2). */
  retainedBytesPerProcess: 512 * 1024 * 1024,

  // — sessions —
  sessionTtlSeconds: 3_600,
  sessionMaxTtlSeconds: 86_400,
  sessionsPerTenant: 1_000,
  /** Ranges of seen lines of one version; beyond it the oldest are forgotten, which costs a refusal and a Read. */
  seenRangesPerVersion: 8_192,

  // — permits (reading §8.3) —
  permitLeaseMs: 15_000,
  /** Lease that must remain right before the rename, else MUTATION_IN_PROGRESS. */
  permitMarginMs: 3_000,
  permitWaitMs: 10_000,

  // — blocks and parsing (contract §12) —
  blockParseBytes: 4 * 1024 * 1024,
  /** Milliseconds for one parse: 4 MiB of TypeScript take one to two on an idle core, and a busy machine needs room. */
  parseTimeMs: 5_000,
  /** What an answer may wait for the verdict behind RESULT_NO_LONGER_PARSES. */
  parseWarningMs: 150,

  // — recovery —
  /** Edit distance past which a diff gives up, in lines that both texts hold; lines that only one has cost nothing to place. */
  diffMaxEdits: 2_000,
  diffTimeMs: 500,
  /** What a diff may take on the event loop before it goes on in a worker: edits and milliseconds. */
  diffInlineEdits: 100,
  diffInlineMs: 5,
  /** Bytes of both texts together past which no diff is made. */
  diffBytes: 16 * 1024 * 1024,
  /** Lines and edits between two anchors up to which it is found out whether one map holds both, when the map at hand does not tell. */
  recoverBetweenLines: 4_000,
  recoverBetweenEdits: 400,
  /** Steps in which it is found out whether another map takes the lines around an anchor elsewhere; a text that wants more repeats itself without end. */
  recoverSteps: 500_000,

  // — boundary repair —
  /** Candidate texts that one call may look at. */
  repairCandidates: 64,
  /** Bytes of all those texts together; each lives in memory while it is judged. */
  repairBytes: 32 * 1024 * 1024,
  /** Rows that the search for the other half of a construct walks; one that is farther away proves nothing. */
  repairPartnerRows: 10_000,
  /** Rows of one reading that a refusal shows. */
  repairShownRows: 20,

  // — answers —
  hunkContextLines: 2,
  hunkRows: 2_000,
  editContentBytes: 8_192,
  grepHeadLimit: 200,
  grepMaxHeadLimit: 5_000,

  // — search (reading §8.12) —
  /** Bytes of rows in one answer of Grep; the row that passes it is the last. */
  grepContentBytes: 262_144,
  /** UTF-16 units shown around a match in a row that is too long to show. */
  grepWindowChars: 400,
  /** UTF-8 bytes of a pattern; an argument of a process may not be of any length. */
  grepPatternBytes: 16_384,
  /** Wildcards of a glob, and alternatives that its braces expand to: together they bound the work per path. */
  globWildcards: 32,
  globAlternatives: 32,
  /** Time to find the files with a match; then those found so far are the answer. */
  searchMs: 10_000,
  /** Further time to look at the lines of the files that are shown. */
  searchLinesMs: 5_000,
  /** Searches at once in one process; each has a few child processes. */
  searchesAtOnce: 4,
  searchesWaiting: 64,
  searchWaitMs: 5_000,
  /** Files with a match that one search remembers. */
  searchFiles: 50_000,
  /** Files that are looked through to tell how many were left out, and the time for it. */
  searchCountFiles: 10_000,
  searchCountMs: 1_000,
  /** Files and bytes that are held at once to show their lines. */
  searchBatchFiles: 256,
  searchBatchBytes: 16 * 1024 * 1024,
  /** Of those, files that are read at a time, so that other calls get at the disk in between. */
  searchLoadsAtOnce: 4,
  /** Files beyond the head limit that are looked at as well, to count none that holds no match any more. */
  searchProvedFiles: 64,
  /** Ignore files, bytes of each and rules of all of them that one search honours. */
  ignoreFiles: 2_000,
  ignoreFileBytes: 256 * 1024,
  ignoreRules: 5_000,

  // — reviews —
  /** Reviews that can be rolled back; older ones become irreversible and keep their evidence. */
  reviewsPerSession: 32,
  /** Compressed bytes that rollbacks of a session need; beyond it older reviews become irreversible. */
  reviewBytesPerSession: 8 * 1024 * 1024,
  /** Reviews whose evidence is kept, and its compressed bytes; beyond either the oldest reviews go. */
  reviewEvidencePerSession: 256,
  reviewEvidenceBytesPerSession: 4 * 1024 * 1024,
  /** UTF-8 bytes of the rows of one review, and of those in one event; what is past them is left out and said to be. */
  reviewRowBytes: 512 * 1024,
  eventRowBytes: 64 * 1024,

  // — idempotency (reading §8.8) —
  answersPerSession: 256,
  /** UTF-8 bytes of stored answers; the oldest go first, the newest always stays. */
  answerBytesPerSession: 2 * 1024 * 1024,
  /** Longer than any call may take; then a claim that was never answered is free again. */
  claimMaxMs: 120_000,

  // — the repeat guard (contract §9.3) —
  guardAttempts: 3,
  /** Pairs of prompt and path whose failures are remembered; the coldest go first. */
  guardEntriesPerSession: 512,

  // — paths —
  pathBytes: 4_096,
  nameBytes: 255,
  /** Symbolic links that one resolution follows; Linux allows as many. */
  linksFollowed: 40,
  /** Near names that NOT_FOUND suggests. */
  nearNames: 5,
  /** Directories and names that are looked at for them. */
  nearDirectories: 200,
  nearEntries: 10_000,

  // — files on disk (reading §8.4, §8.15) —
  /** A ctime younger than this proves nothing, the clock of a file system is coarse; the bytes are compared instead. */
  settledMs: 100,
  /** Times a file that changes while it is read is read again. */
  readAttempts: 5,
  /** Bytes of one chunk of a streamed file. */
  chunkBytes: 256 * 1024,
  /** Random names tried for a temporary file when planted ones are in the way. */
  tempAttempts: 10,
  /** Age after which a temporary file of another host is an orphan; a write takes seconds at most. */
  foreignTempMs: 3_600_000,
  /** Directories that one sweep looks through. */
  sweepDirectories: 200_000,

  // — transport —
  /** Bytes of an HTTP body; above the contract's own limits so that those answer first. */
  bodyBytes: 80 * 1024 * 1024,
  idempotencyKeyChars: 128,
  eventsPerSession: 1_000,
  /** UTF-8 bytes of kept events; the oldest go first, the newest always stays. */
  eventBytesPerSession: 1024 * 1024,
} as const
