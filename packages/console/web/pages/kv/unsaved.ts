import { useSession } from '../../app/session.ts';
import { drafts } from '../../parts/drafts.ts';
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

/** Who works here, for drafts: whoever could go on with the page after a login. Undefined until that is known. */
export function useOwner(): string | undefined {
  const { holder } = useSession();
  return holder && (holder.entityId || holder.accessor);
}

export function formOf(mount: KvMount, secret: string): string {
  return `kv ${mount.path}/${secret}`;
}

/** The unsaved changes of a secret that are mine. */
export function useUnsaved(mount: KvMount, secret: string): Draft | undefined {
  const owner = useOwner();
  return owner === undefined ? undefined : drafts.find<Draft>(formOf(mount, secret), owner);
}
