import type { LeaseTerms, StorageView } from '@strongroom/engine-sdk';
import { LEASE, recordsIn } from './records.ts';

/** The terms of leases of users, as config/lease has them; 0 asks for the mount's own. */
export async function leaseTerms(storage: Pick<StorageView, 'collection'>): Promise<LeaseTerms> {
  const config = await recordsIn(storage).lease.get(LEASE);
  return { ttl: config?.lease ?? 0, maxTtl: config?.lease_max ?? 0 };
}

/** A warning for whoever asked for more seconds than they get; none where nothing is cut. */
export function shorterThanAsked(asked: number, given: number, limit: string): string[] {
  return asked > given ? [`${asked} s were asked for, and ${limit} allows ${given} s`] : [];
}
