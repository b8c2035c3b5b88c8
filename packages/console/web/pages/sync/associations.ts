import type { Mood } from '../../parts/state-chip.tsx';

/** A copy, or what is to become one. */
export interface Association {
  readonly mount: string;
  readonly secret_name: string;
  readonly sub_key?: string;
  /** The rules that brought it. */
  readonly rule?: string;
  /** Nobody linked it as well: only its rule can take it back. */
  readonly by_rule_alone?: boolean;
  readonly sync_status: string;
  readonly updated_at: string;
  readonly remote_name?: string;
  readonly remote_version?: string;
  readonly attempts: number;
  readonly next_attempt_at?: string;
  readonly last_error?: { readonly message: string; readonly code?: string; readonly request_id?: string };
}

const MOODS: Readonly<Record<string, Mood>> = {
  SYNCED: 'good',
  UNSYNCED: 'wait',
  PENDING: 'wait',
  SYNCING: 'wait',
  UNSYNCING: 'wait',
  CLIENT_SIDE_ERROR: 'bad',
  EXTERNAL_SERVICE_ERROR: 'bad',
  INTERNAL_VAULT_ERROR: 'bad',
};

export function moodOf(status: string): Mood {
  return MOODS[status] ?? 'warn';
}

/** A status in words. */
export function wordOf(status: string): string {
  return status === 'INTERNAL_VAULT_ERROR' ? 'internal error' : status.toLowerCase().replaceAll('_', ' ');
}

/** `secret/shop/database` with the key that is a copy of its own. */
export function sourceOf({ mount, secret_name, sub_key }: Pick<Association, 'mount' | 'secret_name' | 'sub_key'>): string {
  return `${mount}/${secret_name}${sub_key === undefined ? '' : ` · ${sub_key}`}`;
}
