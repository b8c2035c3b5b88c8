import type { StorageView } from '@strongroom/engine-sdk';
import { LEASE, recordsIn } from './records.ts';

/** How long leases last, in seconds; 0 for the mount's own. */
export async function leaseTerms(storage: Pick<StorageView, 'collection'>): Promise<{ ttl: number; maxTtl: number }> {
  const { ttl, max_ttl: maxTtl } = (await recordsIn(storage).lease.get(LEASE)) ?? { ttl: 0, max_ttl: 0 };
  return { ttl, maxTtl };
}
