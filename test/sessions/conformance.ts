/** The one suite that every implementation of the store contract passes. Called by the tests of both stores. */
import type { Test } from 'tap'
import type { MakeStore } from './conformance/harness.js'
import { logs } from './conformance/logs.js'
import { permits } from './conformance/permits.js'
import { sessions } from './conformance/sessions.js'
import { snapshots } from './conformance/snapshots.js'

/** `makeStore` gives a fresh store with the given bounds and a way to let time pass. */
export function conformance(t: Test, name: string, makeStore: MakeStore): void {
  t.test(`${name}: sessions`, async (t) => sessions(t, makeStore))
  t.test(`${name}: snapshots`, async (t) => snapshots(t, makeStore))
  t.test(`${name}: permits and intents`, async (t) => permits(t, makeStore))
  t.test(`${name}: logs`, async (t) => logs(t, makeStore))
}
