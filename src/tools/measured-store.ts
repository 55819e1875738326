/**
 * A store whose calls are timed. Changes no answer and no error; streams are not timed. Called by main.
 */
import type { Store } from '../sessions/store.js'
import type { Metrics } from './metrics.js'

/** `monotonic`: milliseconds of a clock that never steps. */
export function measuredStore(store: Store, metrics: Pick<Metrics, 'storeCall'>, monotonic: () => number): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: readonly unknown[]): unknown => {
        const started = monotonic()
        const answer: unknown = Reflect.apply(member, target, args)
        if (!(answer instanceof Promise)) return answer
        const done = (ok: boolean) => () => metrics.storeCall(String(name), (monotonic() - started) / 1000, ok)
        answer.then(done(true), done(false))
        return answer
      }
    },
  })
}
