/**
 * Binds every tool to what it is given. Called by main and by tests.
 */
import { createSession, deleteSession, getSession, listWorkspaces, switchWorkspace } from './sessions.js'
import { edit } from './edit.js'
import { announcing, events } from './events.js'
import { grep } from './grep.js'
import { read } from './read.js'
import { getRegister, listRegisters, listSnapshots, registerSnapshot, reportFailure } from './records.js'
import { getReview, listReviews } from './reviews.js'
import { rollback } from './rollback.js'
import { write } from './write.js'
import type { ToolDeps } from './deps.js'
import type { Tools } from './tools.js'

export function createTools(deps: ToolDeps): Tools {
  return {
    createSession: (caller, request) => createSession(deps, caller, request),
    getSession: (call) => getSession(deps, call),
    deleteSession: (call) => deleteSession(deps, call),
    switchWorkspace: (call, request) => switchWorkspace(deps, call, request),
    read: (call, request) =>
      announcing(deps, call, { operation: 'read', path: request.path }, () => read(deps, call, request)),
    grep: (call, request) =>
      announcing(deps, call, { operation: 'grep', path: request.path }, () => grep(deps, call, request)),
    write: (call, request) => write(deps, call, request),
    edit: (call, request) => edit(deps, call, request),
    listSnapshots: (call) => listSnapshots(deps, call),
    registerSnapshot: (call, request) => registerSnapshot(deps, call, request),
    listRegisters: (call) => listRegisters(deps, call),
    getRegister: (call, name) => getRegister(deps, call, name),
    listReviews: (call, page) => listReviews(deps, call, page),
    getReview: (call, reviewId) => getReview(deps, call, reviewId),
    rollback: (call, reviewId) => rollback(deps, call, reviewId),
    reportFailure: (call, request) => reportFailure(deps, call, request),
    events: (call, lastId) => events(deps, call, lastId),
    listWorkspaces: (caller) => listWorkspaces(deps, caller),
  }
}
