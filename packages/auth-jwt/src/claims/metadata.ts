import { BadRequest } from '@strongroom/engine-sdk';
import { claimAt, type JsonObject } from '../json/json-pointer.ts';

/** The metadata that mapped claims give; claims that are missing give none. @throws BadRequest for a claim that is not a text */
export function mappedMetadata(claims: JsonObject, mappings: Readonly<Record<string, string>>): Record<string, string> {
  const metadata: [string, string][] = [];
  for (const [claim, key] of Object.entries(mappings)) {
    const value = claimAt(claims, claim);
    if (value === undefined) continue;
    if (typeof value !== 'string') throw new BadRequest(`error converting claim '${claim}' to string`);
    metadata.push([key, value]);
  }
  return Object.fromEntries(metadata);
}
