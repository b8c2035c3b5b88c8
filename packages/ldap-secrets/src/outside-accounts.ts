import type { EngineHost, OutsideThing } from '@strongroom/engine-sdk';
import { canonicalServers, LdapError, serverUrls } from '@strongroom/ldap-client';
import type { LibraryAccounts } from './library-accounts.ts';
import { CONFIG, recordsIn } from './records.ts';
import type { RootRotation } from './root-rotation.ts';
import type { StaticAccounts } from './static-accounts.ts';

/** Whose rotations the accounts are. */
export interface Managers {
  readonly root: RootRotation;
  readonly statics: StaticAccounts;
  readonly library: LibraryAccounts;
}

/**
 * The accounts of the directory whose password this mount has changed, so that it is stored here alone: those of static roles and of the library, and
 * that of binddn after rotate-root. Without those that another manager has taken over.
 */
export async function outsideAccounts({ storage }: EngineHost, { root, statics, library }: Managers): Promise<readonly OutsideThing[]> {
  const records = recordsIn(storage);
  const config = await records.config.get(CONFIG);
  const system = config && systemOf(config.url);
  const things: OutsideThing[] = [];
  const add = (name: string, detail: string): void => {
    things.push({ kind: 'directory account', name, ...(system === undefined ? {} : { system }), detail });
  };
  if (config && (await root.isOwnSecret(config))) {
    add(config.binddn, 'binddn, whose password was rotated and is stored here alone');
  }
  for (const [name, role] of await records.staticRoles.entries()) {
    if ((!role.current && !role.pending) || (await statics.rotation.managedBy(storage, name, role)) !== undefined) continue;
    add(role.dn || role.username, `the static role "${name}" has changed its password, which is stored here alone`);
  }
  for (const [key, account] of await records.accounts.entries()) {
    if ((!account.current && !account.pending) || (await library.rotation.managedBy(storage, key, account)) !== undefined) continue;
    const lent = account.loan === undefined ? '' : ', and which its borrower knows';
    add(account.name, `the set "${account.set}" has changed its password, which is stored here alone${lent}`);
  }
  return things;
}

function systemOf(url: string): string | undefined {
  try {
    return canonicalServers(serverUrls(url));
  } catch (error) {
    // Stored by an older release, which did not check it.
    if (error instanceof LdapError) return undefined;
    throw error;
  }
}
