import { BadRequest, ExactNumber } from '@strongroom/engine-sdk';
import { pointerProblem } from '../json/json-pointer.ts';
import { asList, isScalar } from '../json/json-value.ts';
import type { Role } from './role.ts';

/** @throws BadRequest for values that no claim can match */
export function checkBoundClaims({ bound_claims, bound_claims_type }: Pick<Role, 'bound_claims' | 'bound_claims_type'>): void {
  for (const [claim, bound] of Object.entries(bound_claims)) {
    checkClaim('bound_claims', claim);
    for (const value of asList(bound)) {
      if (bound_claims_type === 'glob' && typeof value !== 'string') throw new BadRequest(`claim is not a string: ${shown(value)}`);
      if (!isScalar(value)) {
        throw new BadRequest(`bound_claims: ${JSON.stringify(claim)} must be a text, a number, a boolean, or a list of these`);
      }
    }
  }
}

/** @throws BadRequest for metadata keys that are taken, or taken twice */
export function checkClaimMappings(mappings: Role['claim_mappings']): void {
  const keys = new Set<string>();
  for (const [claim, key] of Object.entries(mappings)) {
    checkClaim('claim_mappings', claim);
    if (key === 'role') throw new BadRequest('metadata key "role" is reserved and may not be a mapping destination');
    if (keys.has(key)) throw new BadRequest(`multiple keys are mapped to metadata key ${JSON.stringify(key)}`);
    keys.add(key);
  }
}

/** @throws BadRequest for pointers that are none */
export function checkClaimNames({ groups_claim, user_claim, user_claim_json_pointer }: Role): void {
  checkClaim('groups_claim', groups_claim);
  const problem = user_claim_json_pointer ? pointerProblem(user_claim) : undefined;
  if (problem !== undefined) throw new BadRequest(`user_claim: ${problem}`);
}

function checkClaim(field: string, name: string): void {
  const problem = name.startsWith('/') ? pointerProblem(name) : undefined;
  if (problem !== undefined) throw new BadRequest(`${field}: ${JSON.stringify(name)}: ${problem}`);
}

function shown(value: unknown): string {
  return value instanceof ExactNumber ? value.text : JSON.stringify(value);
}
