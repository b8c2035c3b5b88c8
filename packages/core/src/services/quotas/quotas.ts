import type { LeaseCaps } from './lease-caps.ts';
import type { RateLimits } from './rate-limits.ts';

/** What bounds the use of the server. */
export interface Quotas {
  readonly rates: RateLimits;
  readonly leases: LeaseCaps;
}

/** How far quotas are used, by the name of the quota. */
export interface QuotaFigures {
  /** Requests refused since the start. */
  readonly rateLimits: readonly { readonly name: string; readonly refused: number }[];
  /** Leases by the last count, and how many may live. */
  readonly leaseCaps: readonly { readonly name: string; readonly leases: number; readonly max: number }[];
}
