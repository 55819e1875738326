/**
 * The save-hook port: an operator's formatter between the intended text and the disk (contract §5.4).
 *
 * A hook gets the intended bytes and answers the bytes to land; one that fails, is too slow or answers what is no text changes nothing. Types only; called
 * by tools before the rename.
 */
export type HookAnswer =
  | { readonly kind: 'none' }
  | { readonly kind: 'changed'; readonly bytes: Buffer; readonly hook: string }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'failed'; readonly hook: string; readonly cause: string; readonly bytes?: Buffer }

export interface SaveHooks {
  /** Runs every hook whose glob covers `path` (as shown, relative to the workspace), in the order of configuration. */
  apply(path: string, bytes: Buffer, maxBytes: number): Promise<HookAnswer>
}
