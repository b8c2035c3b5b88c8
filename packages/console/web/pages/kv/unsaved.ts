import { drafts } from '../../parts/drafts.ts';
import { useOwner } from '../../parts/use-draft.ts';
import type { KvMount } from './kv-mount.ts';
import type { EditRow } from './edit-row.ts';
import type { Leaf } from './leaves.ts';

/** Unsaved changes of a secret. */
export interface Draft {
  readonly rows: readonly EditRow[];
  /** The whole secret, where it is edited as JSON. */
  readonly json: string | undefined;
  /** What the changes began from. */
  readonly base: readonly Leaf[];
  /** The version that a save replaces; 0 for a new secret. */
  readonly version: number;
}

export function formOf(mount: KvMount, secret: string): string {
  return `kv ${mount.path}/${secret}`;
}

/** The unsaved changes of a secret that are mine. */
export function useUnsaved(mount: KvMount, secret: string): Draft | undefined {
  const owner = useOwner();
  return owner === undefined ? undefined : drafts.find<Draft>(formOf(mount, secret), owner);
}
