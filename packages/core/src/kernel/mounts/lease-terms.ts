import { formatDuration } from '@strongroom/engine-sdk';

/** Limits of a mount, in seconds; never 0. */
export interface MountLimits {
  readonly defaultLeaseTtl: number;
  readonly maxLeaseTtl: number;
}

/** System default and maximum: 768 hours. */
export const SYSTEM_TTL = 2_764_800;

/** What an engine asks for, after the mount's limits. A ttl of 0 means the mount's default, a maximum of 0 the mount's maximum. */
export function limitTerms(
  limits: MountLimits,
  terms: { ttl: number; maxTtl: number },
): { ttl: number; maxTtl: number; warnings: string[] } {
  const maxTtl = terms.maxTtl > 0 ? Math.min(terms.maxTtl, limits.maxLeaseTtl) : limits.maxLeaseTtl;
  const wanted = terms.ttl > 0 ? terms.ttl : limits.defaultLeaseTtl;
  if (wanted <= maxTtl) return { ttl: wanted, maxTtl, warnings: [] };
  return { ttl: maxTtl, maxTtl, warnings: terms.ttl > 0 ? [cappedWarning(wanted, maxTtl)] : [] };
}

export function cappedWarning(wanted: number, most: number): string {
  return `TTL of "${shortDuration(wanted)}" exceeded the effective max_ttl of "${shortDuration(most)}"; TTL value is capped accordingly`;
}

/** As Vault and OpenBao print it: `1h`, not `1h0m0s`. */
function shortDuration(seconds: number): string {
  return formatDuration(Math.max(0, Math.trunc(seconds)))
    .replace(/m0s$/, 'm')
    .replace(/h0m$/, 'h');
}
