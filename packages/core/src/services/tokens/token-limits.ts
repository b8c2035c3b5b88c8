import { BadRequest, cidrOutside, isCidr, sharedCidrs, withinCidrs } from '@strongroom/engine-sdk';
import type { MountLimits } from '../../kernel/mounts/lease-terms.ts';
import type { TokenRecord } from './token-record.ts';
import type { TokenRole } from './token-role.ts';

/**
 * When the token's own limits end it at the latest, whoever renews it: its explicit maximum, or what is left of its maker's. Milliseconds since
 * the epoch; Infinity without such a limit.
 */
export function hardEnd(record: Pick<TokenRecord, 'created' | 'explicit_max_ttl' | 'latest'>): number {
  const explicit = record.explicit_max_ttl ? record.created + record.explicit_max_ttl * 1_000 : Infinity;
  return Math.min(explicit, record.latest ?? Infinity);
}

/** The longest that renewals can take the token to. Milliseconds since the epoch; Infinity for periodic tokens and those without end. */
export function longestEnd(record: TokenRecord, mount: MountLimits): number {
  if (record.expires === 0) return Infinity;
  if (!record.renewable) return record.expires;
  if (record.period) return hardEnd(record);
  const renewed = record.created + (record.max_ttl || mount.maxLeaseTtl) * 1_000;
  return Math.min(Math.max(record.expires, renewed), hardEnd(record));
}

/**
 * The addresses a new token is bound to; empty for none. Those of its maker pass on and are only narrowed: by the role, which gives what it and
 * the maker share, then by the order, which must lie within. @throws BadRequest
 */
export function boundCidrs(
  maker: readonly string[] | undefined,
  role: TokenRole | undefined,
  asked: readonly string[] | undefined,
  remoteAddress: string,
): string[] {
  let bound = [...(maker ?? [])];
  if (role?.token_bound_cidrs?.length) {
    bound = bound.length === 0 ? role.token_bound_cidrs : sharedCidrs(bound, role.token_bound_cidrs);
    if (bound.length === 0) {
      throw new BadRequest(
        `token_bound_cidrs: the role ${role.name} allows none of the addresses that the calling token is bound to (${(maker ?? []).join(', ')})`,
      );
    }
  }
  if (role?.token_strictly_bind_ip) {
    if (remoteAddress === '')
      throw new BadRequest(`token_strictly_bind_ip: the role ${role.name} binds to the caller's address, which is unknown`);
    if (!withinCidrs(bound, remoteAddress))
      throw new BadRequest(`token_strictly_bind_ip: the role ${role.name} does not allow the caller's address`);
    bound = [remoteAddress];
  }
  if (!asked || asked.length === 0) return bound;
  for (const block of asked) {
    if (!isCidr(block)) throw new BadRequest(`bound_cidrs: ${JSON.stringify(block)} is not an address or CIDR block`);
  }
  const outside = cidrOutside(asked, bound);
  if (outside !== undefined) {
    throw new BadRequest(
      `bound_cidrs: ${JSON.stringify(outside)} is not within the addresses that the new token is bound to (${bound.join(', ')})`,
    );
  }
  return [...asked];
}
