/**
 * Edit: a patch in the line-anchored language, proven and landed (contract §6–§10, http-api "Edit").
 *
 * Orchestrates only: parse, resolve the path, load, let the engine decide, commit once. What a dry run answers and what a real call does come from the same
 * decision. Called by http.
 */
import { basename } from 'node:path'
import { headerDisagrees, linkNotMoved, moveOntoItself } from '../errors/invalid.js'
import { asToolError, ToolError } from '../errors/tool-error.js'
import { warn } from '../errors/warnings.js'
import type { EngineBounds, KnownVersion, Prepared } from '../engine/input.js'
import { prepare } from '../engine/prepare.js'
import { revealBounds } from '../engine/reveal.js'
import { limits } from '../limits.js'
import type { Patch } from '../patch/ops.js'
import { checkOpsBytes, parseOps } from '../patch/parser.js'
import type { EditRequest } from '../schemas/operations.js'
import { parseTag } from '../text/digest.js'
import type { Roots, Target } from '../workspace/port.js'
import { openedRootsOf } from './access.js'
import type { ToolDeps } from './deps.js'
import type { Addressed, Decided, EditCall } from './edit-call.js'
import { drive } from './facts.js'
import { landEdit, wouldAnswer } from './land-edit.js'
import { loadForWriting } from './load-text.js'
import type { MutationContext, Success } from './mutation.js'
import { mutate } from './mutation.js'
import { alone } from './permits.js'
import type { MutationCall, Outcome } from './tools.js'
import { noTracer } from './tracer.js'

export function edit(deps: ToolDeps, call: MutationCall, request: EditRequest): Promise<Outcome> {
  const dryRun = request.dryRun ?? false
  const spec = { operation: 'edit', request, path: request.path, promptId: request.promptId, dryRun } as const
  return mutate(deps, call, spec, (context) => run({ deps, call, request, context, dryRun }))
}

async function run(edit: EditCall): Promise<Success> {
  const { deps, call, context, dryRun } = edit
  const to = await address(edit)
  if (dryRun) {
    const decided = await decide(edit, to, await deps.store.history(context.ref, to.target.canonical))
    return { status: 200, body: await wouldAnswer(edit, to, decided), published: false }
  }
  const files = [to.target.canonical, ...(to.dest && !(to.dest instanceof ToolError) ? [to.dest.canonical] : [])]
  const want = { ref: context.ref, files, path: to.target.path, signal: call.signal, key: context.idempotencyKey }
  const whenBusy = async (): Promise<void> => {
    await decide(edit, to, await deps.store.history(context.ref, to.target.canonical))
  }
  return alone(
    deps,
    want,
    (held) => landEdit(edit, to, want, held, () => decide(edit, to, held.history(to.target.canonical))),
    whenBusy,
  )
}

/** Everything up to the file itself, in the order of refusals: ops bytes, tag form, parse, header, path. */
async function address({ deps, request, context }: EditCall): Promise<Addressed> {
  checkOpsBytes(request.ops)
  const tag = parseTag(request.tag ?? '')
  if (tag === undefined)
    throw new ToolError('EDIT_TAG_REQUIRED', request.tag === undefined ? {} : { found: request.tag })
  const patch = parseOps(request.ops)
  context.trace.ops = patch.ops.map((op) => op.header)
  const roots = await openedRootsOf(deps, context.session)
  await assertHeader(deps, roots, request.path, tag, patch)
  const { authored, denied } = await resolveAuthored(deps, roots, request.path)
  context.trace.canonical = authored.canonical
  context.trace.shownPath = authored.path
  const end = patch.ops.find((op) => op.kind === 'remove' || op.kind === 'move')
  const rebound = authored.exists || end ? undefined : await recoverPath(deps, context, roots, authored, tag)
  if (!rebound && denied) throw denied
  const target = rebound ?? authored
  context.trace.canonical = target.canonical
  context.trace.shownPath = target.path
  if (end && target.lastIsLink) throw linkNotMoved(target.path, target.canonicalPath)
  const dest = end?.kind === 'move' ? await resolveDest(deps, roots, end.dest) : undefined
  return { patch, tag, roots, target, dest, warnings: rebound ? [warn.pathRecovered(authored.path, rebound.path)] : [] }
}

/** Path recovery comes before the write rules (contract §9.2): a rule that covers a path which does not exist is held back until nothing was found for it. */
async function resolveAuthored(
  deps: ToolDeps,
  roots: Roots,
  path: string,
): Promise<{ authored: Target; denied?: ToolError }> {
  try {
    return { authored: await deps.workspace.resolve(roots, path, 'write') }
  } catch (error) {
    const denied = asToolError(error)
    if (!denied?.is('TOOL_DENIED') || denied.params.reason !== 'deny-write rule') throw error
    const authored = await deps.workspace.resolve(roots, path, 'read')
    if (authored.exists) throw denied
    return { authored, denied }
  }
}

/** Loads the live file and lets the engine decide. Sees the same refusals in the same order, with permits or without. */
async function decide(edit: EditCall, to: Addressed, versions: readonly KnownVersion[]): Promise<Decided> {
  const { deps, call, context, dryRun } = edit
  const loaded = await loadForWriting(deps, to.roots, to.target, call.signal)
  context.trace.live = loaded.document
  const dest = assertDest(to)
  const input = { path: to.target.path, ops: to.patch.ops, tag: to.tag, live: loaded.document, versions }
  const { tracer = noTracer } = deps
  const prepared = await counted(deps, () =>
    tracer.span('gates', () => drive(deps, context.ref, prepare(input, engineBounds(dryRun)), call.signal, dryRun)),
  )
  return { loaded, prepared, dest }
}

/** Recovery, blocks and repair are counted where their outcome is known. */
async function counted(deps: ToolDeps, decide: () => Promise<Prepared>): Promise<Prepared> {
  const { metrics } = deps
  try {
    const prepared = await decide()
    if (prepared.branch === 'recovered') metrics.recovery('accepted')
    for (let i = 0; i < prepared.resolutions.length; i++) metrics.block('resolved')
    for (const { code } of prepared.warnings) {
      if (code === 'BOUNDARY_ECHO_REMOVED') metrics.repair('echoRemoved')
      if (code === 'BOUNDARY_ROW_KEPT') metrics.repair('rowKept')
      if (code === 'REPAIR_NOT_EVALUATED') metrics.repair('notEvaluated')
    }
    return prepared
  } catch (error) {
    if (error instanceof ToolError) {
      if (error.is('EDIT_TAG_MISMATCH')) metrics.recovery(error.params.reason.kind)
      if (error.is('EDIT_BLOCK_UNRESOLVED')) metrics.block(error.params.reason.kind)
      if (error.is('EDIT_REPAIR_AMBIGUOUS')) metrics.repair('ambiguous')
    }
    throw error
  }
}

/** The `[path#TAG]` line must agree with the call: the same tag, and a path that resolves to the same file (reading §4.9). */
async function assertHeader(deps: ToolDeps, roots: Roots, path: string, tag: string, patch: Patch): Promise<void> {
  const { named } = patch
  if (!named) return
  if (named.tag !== tag) throw headerDisagrees(named.opsLine, 'tag', named.tag, tag)
  if (named.path === path) return
  const canonical = async (written: string): Promise<string | undefined> => {
    try {
      return (await deps.workspace.resolve(roots, written, 'read')).canonical
    } catch (error) {
      if (error instanceof ToolError && error.status < 500) return undefined
      throw error
    }
  }
  const [authored, header] = await Promise.all([canonical(path), canonical(named.path)])
  if (authored === undefined || authored !== header) throw headerDisagrees(named.opsLine, 'path', named.path, path)
}

/**
 * Path recovery (contract §9.2, reading §3.7): the one other path of this session with that basename and tag whose file exists. Undefined when there is none or
 * more than one; a tie is never ranked.
 */
async function recoverPath(
  deps: ToolDeps,
  { ref }: MutationContext,
  roots: Roots,
  authored: Target,
  tag: string,
): Promise<Target | undefined> {
  const paths = (await deps.store.pathsWith(ref, basename(authored.canonical), tag)).filter(
    (path) => path !== authored.canonical,
  )
  const existing: Target[] = []
  for (const path of paths) {
    try {
      const target = await deps.workspace.resolve(roots, path, 'write')
      if (target.exists) existing.push(target)
    } catch (error) {
      // A recorded path may have left the roots meanwhile; then it is no candidate.
      if (!(error instanceof ToolError) || error.status >= 500) throw error
    }
    if (existing.length > 1) return undefined
  }
  return existing[0]
}

async function resolveDest(deps: ToolDeps, roots: Roots, dest: string): Promise<Target | ToolError> {
  try {
    return await deps.workspace.resolve(roots, dest, 'write', 'ops')
  } catch (error) {
    if (error instanceof ToolError) return error
    throw error
  }
}

function assertDest({ target, dest }: Addressed): Target | undefined {
  if (dest === undefined) return undefined
  if (dest instanceof ToolError) throw dest
  if (dest.canonical === target.canonical) throw moveOntoItself(target.path)
  if (dest.exists || dest.lastIsLink) throw new ToolError('CONFLICT', { reason: 'destination exists', path: dest.path })
  return dest
}

function engineBounds(dryRun: boolean): EngineBounds {
  return {
    reveal: revealBounds(dryRun),
    expandedLines: limits.expandedLines,
    registerLines: limits.registerLines,
    registerBytes: limits.registerBytes,
    repairCandidates: limits.repairCandidates,
  }
}
