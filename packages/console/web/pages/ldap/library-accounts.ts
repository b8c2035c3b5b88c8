import { apiPath } from '../../api/api-path.ts';
import { send } from '../../api/send.ts';
import type { RotationStatus } from '../../parts/rotation-state.tsx';

/** An account of a set, as `status` shows it. */
export interface LibraryAccount {
  readonly available: boolean;
  readonly borrower_name?: string;
  readonly borrower_client_token?: string;
  readonly borrower_entity_id?: string;
  readonly borrowed_since?: string;
  readonly borrowed_until?: string;
  readonly borrowed_by_you?: boolean;
  readonly rotation: RotationStatus;
}

/** Who waits for a set. */
export interface WaitingShown {
  readonly available: number;
  readonly earliest: string | null;
  readonly waiting: readonly {
    readonly position: number;
    readonly borrower_name?: string;
    readonly borrower_client_token?: string;
    readonly borrower_entity_id?: string;
    readonly since: string;
    readonly until: string;
    readonly you: boolean;
  }[];
}

/** A borrower in a few characters: the name, or the beginning of the entity's id or of the digest of the token. */
export function borrowerName(one: {
  readonly borrower_name?: string;
  readonly borrower_entity_id?: string;
  readonly borrower_client_token?: string;
}): string {
  if (one.borrower_name) return one.borrower_name;
  if (one.borrower_entity_id) return `entity ${one.borrower_entity_id.slice(0, 8)}`;
  return `token ${(one.borrower_client_token ?? '').slice(0, 8)}`;
}

/** Paths whose reads a loan or a return makes stale. */
export function boardPaths(mount: string, set: string): string[] {
  return [apiPath(mount, 'library', set, 'status'), apiPath(mount, 'library', set, 'waiting')];
}

export async function giveBack(mount: string, set: string, account: string, forced: boolean): Promise<readonly string[]> {
  const path = forced ? apiPath(mount, 'library', 'manage', set, 'check-in') : apiPath(mount, 'library', set, 'check-in');
  return (await send('POST', path, { body: { service_account_names: [account] } })).warnings;
}
