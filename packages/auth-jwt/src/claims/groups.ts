import { BadRequest } from '@strongroom/engine-sdk';
import { claimAt, type JsonObject } from '../json/json-pointer.ts';
import { asList } from '../json/json-value.ts';

/** The names of groups in a claim: a list of texts, or one text. @throws BadRequest for a claim that is missing or anything else */
export function groupsIn(claims: JsonObject, claim: string, separator: string | undefined): string[] {
  const value = claimAt(claims, claim);
  if (value === undefined) throw new BadRequest(`failed to fetch groups: ${JSON.stringify(claim)} claim not found in token`);
  if (typeof value !== 'string' && !Array.isArray(value)) {
    throw new BadRequest(`failed to fetch groups: ${JSON.stringify(claim)} claim is neither a text nor a list of texts`);
  }
  const names = typeof value === 'string' && separator !== undefined ? value.split(separator) : asList(value);
  return names.map(groupName).filter((name) => name !== '');
}

function groupName(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new BadRequest(`value ${JSON.stringify(value)} in groups claim could not be parsed as string`);
}
