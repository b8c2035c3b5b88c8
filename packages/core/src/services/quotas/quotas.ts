import type { LeaseCaps } from './lease-caps.ts';
import type { RateLimits } from './rate-limits.ts';

/** What bounds the use of the server. */
export interface Quotas {
  readonly rates: RateLimits;
  readonly leases: LeaseCaps;
}
