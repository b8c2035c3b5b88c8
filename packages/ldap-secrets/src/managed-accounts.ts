import { BadRequest, type StorageView } from '@strongroom/engine-sdk';
import { isDn, normaliseDn } from '@strongroom/ldap-client';
import { accountKey, recordsIn, type Claim, type Records } from './records.ts';

/** Under what an account is managed: its name, and every distinguished name of it that is known. */
export function claimsOf(name: string, dns: readonly (string | undefined)[]): string[] {
  const entries = dns
    .filter((dn) => dn !== undefined && dn !== '')
    .map((dn) => `dn/${isDn(dn!) ? normaliseDn(dn!).toLowerCase() : dn!.toLowerCase()}`);
  return [...new Set([`name/${accountKey(name)}`, ...entries])];
}

/**
 * Takes an account under management, inside the transaction that stores its owner: no account is in two sets, or in a set and a static role,
 * or in two static roles. A claim is worth nothing once its owner is gone. @throws BadRequest
 */
export async function claim(tx: Pick<StorageView, 'collection'>, name: string, claims: readonly string[], by: Claim): Promise<void> {
  const records = recordsIn(tx);
  for (const key of claims) {
    const known = await records.claims.get(key);
    if (known && (known.kind !== by.kind || known.owner !== by.owner) && (await holds(records, known, key))) {
      throw new BadRequest(`"${name}" is already managed by the secrets engine`);
    }
    await records.claims.put(key, by);
  }
}

/** The owner is gone, or was never stored. */
export async function release(tx: Pick<StorageView, 'collection'>, claims: readonly string[], by: Claim): Promise<void> {
  const records = recordsIn(tx);
  for (const key of claims) {
    const known = await records.claims.get(key);
    if (known?.kind === by.kind && known.owner === by.owner) await records.claims.delete(key);
  }
}

async function holds(records: Records, { kind, owner }: Claim, key: string): Promise<boolean> {
  const record = kind === 'library' ? await records.accounts.get(owner) : await records.staticRoles.get(owner);
  return record?.claims.includes(key) ?? false;
}
