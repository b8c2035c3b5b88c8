import { BadRequest, own } from '@strongroom/engine-sdk';
import { pointed, type JsonObject } from '../json/json-pointer.ts';
import type { Role } from '../roles/role.ts';

/** The value of the claim that identifies who logs in. @throws BadRequest where it is missing, or cannot be a name */
export function aliasName(claims: JsonObject, { user_claim: claim, user_claim_json_pointer: pointer }: Role): string {
  const value = pointer ? pointed(claims, claim) : own(claims, claim);
  if (value === undefined) throw new BadRequest(`claim ${JSON.stringify(claim)} not found in token`);
  if (typeof value !== 'string') throw new BadRequest(`claim ${JSON.stringify(claim)} could not be converted to string`);
  if (value === '') throw new BadRequest('missing name in alias');
  if (/\p{Cc}/u.test(value) || value !== value.trim()) {
    throw new BadRequest(`claim ${JSON.stringify(claim)} has control characters, or spaces at its ends: it cannot name an entity`);
  }
  return value;
}
