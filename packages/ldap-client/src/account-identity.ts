import type { ManagedAccount } from '@strongroom/engine-sdk';
import { isDn, normalizeDn } from './dn.ts';
import type { LdapEntry } from './entry.ts';
import { canonicalServers } from './server-urls.ts';

/** What directories call an entry by for as long as it lives, whatever its name and whichever server is asked. */
const identifiers = ['entryUUID', 'objectGUID', 'nsUniqueId', 'ibm-entryUUID', 'GUID'] as const;
const binary: ReadonlySet<string> = new Set(['objectGUID', 'GUID']);

/** To be asked for in the search that finds an account. */
export const identityAttributes: readonly string[] = identifiers;

/**
 * An account in the registry of managed accounts: by its entry's own identifier where the directory shows one, so that mounts which write its server
 * or its name in other ways mean the same; otherwise by its distinguished name at the servers. `urls`: those of the configuration.
 */
export function accountIdentity(entry: LdapEntry, urls: readonly string[]): ManagedAccount {
  for (const attribute of identifiers) {
    const [value] = entry.buffers(attribute);
    if (value === undefined || value.length === 0) continue;
    const text = binary.has(attribute) ? value.toString('hex') : value.toString('utf8').toLowerCase();
    return { system: `ldap:${attribute}`, name: text };
  }
  return namedAccount(entry.dn, urls);
}

/** The same for an entry that cannot be looked at: by its distinguished name at the servers. */
export function namedAccount(dn: string, urls: readonly string[]): ManagedAccount {
  return { system: canonicalServers(urls), name: isDn(dn) ? normalizeDn(dn) : dn.toLowerCase() };
}
