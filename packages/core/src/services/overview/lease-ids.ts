import { leaseRecords } from '../leases/lease-record.ts';
import type { Store } from '../../kernel/storage/store.ts';

/** Where the ids of the leases below a path begin; '' for all. `prefix` has no closing slash. */
export function below(prefix: string): string {
  return prefix === '' ? '' : `${prefix}/`;
}

/** Whether a lease has this id or is below this path; any is, where it is ''. */
export function isBelow(id: string, prefix: string): boolean {
  return prefix === '' || id === prefix || id.startsWith(below(prefix));
}

/** An id, and whether it is a token's. */
export interface FoundLease {
  readonly id: string;
  readonly token: boolean;
}

/** Leases by their keys in the store. */
export async function found(store: Store, range: { prefix: string; after?: string; limit: number }): Promise<FoundLease[]> {
  const marks = await store.marks(range);
  return marks.map(({ key, mark }) => ({ id: key.slice(leaseRecords.prefix.length), token: mark }));
}

/** The lease of exactly this id, if there is one. */
export async function at(store: Store, id: string): Promise<FoundLease[]> {
  if (id === '') return [];
  const first = await found(store, { prefix: leaseRecords.key(id), limit: 1 });
  return first.filter((lease) => lease.id === id);
}

/** A token's lease is its path and its digest. */
export function tokenDigest(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}
