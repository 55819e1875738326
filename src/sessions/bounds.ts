/**
 * The bounds that a store enforces, picked from limits.ts; tests and operators may pass others. Called by both stores.
 */
import { limits } from '../limits.js'

const names = [
  'pathsPerSession',
  'versionsPerPath',
  'seenRangesPerVersion',
  'retainedBytesPerSession',
  'retainedBytesPerFile',
  'retainedBytesPerProcess',
  'registersPerSession',
  'registerLines',
  'registerBytes',
  'reviewsPerSession',
  'reviewBytesPerSession',
  'reviewEvidencePerSession',
  'reviewEvidenceBytesPerSession',
  'answersPerSession',
  'answerBytesPerSession',
  'claimMaxMs',
  'guardEntriesPerSession',
  'eventsPerSession',
  'eventBytesPerSession',
  'permitLeaseMs',
  'permitMarginMs',
] as const satisfies readonly (keyof typeof limits)[]

export type StoreBounds = { readonly [K in (typeof names)[number]]: number }

export function storeBounds(changed: Partial<StoreBounds> = {}): StoreBounds {
  const defaults = Object.fromEntries(names.map((name) => [name, limits[name]])) as { [K in keyof StoreBounds]: number }
  return Object.freeze({ ...defaults, ...changed })
}
