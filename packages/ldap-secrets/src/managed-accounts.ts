import { BadRequest, type StorageView } from '@strongroom/engine-sdk';
import { isDn, normalizeDn } from '@strongroom/ldap-client';
import { managedAlready } from '@strongroom/rotation';
import { accountKey, recordsIn, type Claim, type Records } from './records.ts';

/** Under what an account is managed: its name, and every distinguished name of it that is known. */
export function claimsOf(name: string, dns: readonly (string | undefined)[]): string[] {
  const entries = dns
    .filter((dn) => dn !== undefined && dn !== '')
    .map((dn) => `dn/${isDn(dn!) ? normalizeDn(dn!).toLowerCase() : dn!.toLowerCase()}`);
  return [...new Set([`name/${accountKey(name)}`, ...entries])];
}

/** A manager in the words of refusals and of the registry; never changed. */
export function managerName({ kind, owner }: Claim): string {
  return `${kind === 'library' ? 'library account' : 'static role'} "${owner}"`;
}

/**
 * Takes an account under management in this mount, inside the transaction that stores its owner: no account is in two sets, or in a set and a static role,
 * or in two static roles. A claim is worth nothing once its owner is gone. The registry of managed accounts knows the other mounts, and these the
 * accounts of older releases. @throws BadRequest that names the other owner
 */
export async function claim(
  tx: Pick<StorageView, 'collection'>,
  name: string,
  claims: readonly string[],
  by: Claim,
  { adopt = false }: { readonly adopt?: boolean | undefined } = {},
): Promise<void> {
  const records = recordsIn(tx);
  for (const key of claims) {
    const known = await records.claims.get(key);
    if (!adopt && known && (known.kind !== by.kind || known.owner !== by.owner) && (await holds(records, known, key))) {
      throw new BadRequest(managedAlready(name, `${managerName(known)} of this mount`));
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

/** The holder of the claim, as text; undefined where there is none. */
export async function ownerOf(records: Records, key: string): Promise<string | undefined> {
  const known = await records.claims.get(key);
  return known && (await holds(records, known, key)) ? managerName(known) : undefined;
}

async function holds(records: Records, { kind, owner }: Claim, key: string): Promise<boolean> {
  const record = kind === 'library' ? await records.accounts.get(owner) : await records.staticRoles.get(owner);
  return record?.claims.includes(key) ?? false;
}
