import { matchesGlob } from '@strongroom/auth-sdk';
import { BadRequest } from '@strongroom/engine-sdk';
import { claimAt, type JsonObject } from '../json/json-pointer.ts';
import { asList, isScalar, sameScalar } from '../json/json-value.ts';
import type { Role } from '../roles/role.ts';

/** @throws BadRequest unless each bound claim is there and one of its values is one of the bound ones */
export function checkBounds(
  claims: JsonObject,
  { bound_claims, bound_claims_type }: Pick<Role, 'bound_claims' | 'bound_claims_type'>,
): void {
  const matches = bound_claims_type === 'glob' ? globMatches : scalarMatches;
  for (const [claim, bound] of Object.entries(bound_claims)) {
    const actual = claimAt(claims, claim);
    if (actual === undefined) throw new BadRequest(`error validating claims: claim ${JSON.stringify(claim)} is missing`);
    if (!asList(actual).some((value) => asList(bound).some((allowed) => matches(allowed, value)))) {
      throw new BadRequest(`error validating claims: claim ${JSON.stringify(claim)} does not match any associated bound claim values`);
    }
  }
}

function scalarMatches(allowed: unknown, value: unknown): boolean {
  return isScalar(allowed) && isScalar(value) && sameScalar(allowed, value);
}

function globMatches(pattern: unknown, value: unknown): boolean {
  return typeof pattern === 'string' && typeof value === 'string' && matchesGlob(pattern, value);
}
