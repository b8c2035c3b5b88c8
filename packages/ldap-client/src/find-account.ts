import type { ManagedAccount } from '@strongroom/engine-sdk';
import { accountIdentity, identityAttributes } from './account-identity.ts';
import type { Connection } from './connection.ts';
import { AccountGone, directoryFailed, DirectoryMisused } from './directory-failed.ts';
import type { LdapEntry } from './entry.ts';
import { LdapError } from './error.ts';
import { resultCode } from './result-codes.ts';

/** Where an account is looked for: its entry itself, or a filter below a base. */
export type AccountSearch = { readonly dn: string } | { readonly base: string; readonly filter: string };

/** An account that was found. */
export interface LocatedAccount {
  readonly dn: string;
  /** See `LdapEntry.server`. */
  readonly server?: string;
  /** In the registry of managed accounts. */
  readonly account: ManagedAccount;
}

/** The one entry that is meant. `urls`: those of the configuration. @throws DirectoryMisused, AccountGone where there is none, DirectoryFailed */
export async function findAccount(
  connection: Connection,
  search: AccountSearch,
  urls: readonly string[],
  signal?: AbortSignal,
): Promise<LocatedAccount> {
  const named = 'dn' in search;
  if (!named && search.base === '')
    throw new DirectoryMisused('userdn must be configured to find the account, or a distinguished name be given');
  const request = named
    ? { base: search.dn, scope: 'base' as const, filter: '(objectClass=*)' }
    : { base: search.base, scope: 'sub' as const, filter: search.filter };
  let found: readonly LdapEntry[];
  try {
    found = await connection.search({ ...request, attributes: identityAttributes, sizeLimit: 2, signal });
  } catch (error) {
    const code = error instanceof LdapError ? error.code : undefined;
    if (code === resultCode.sizeLimitExceeded) throw new DirectoryMisused(expectedOne('more', request));
    if (code === resultCode.noSuchObject && named) throw new AccountGone(expectedOne('0', request));
    throw directoryFailed(error, 'unsent');
  }
  const [entry] = found;
  if (!entry) throw new AccountGone(expectedOne('0', request));
  if (found.length !== 1) throw new DirectoryMisused(expectedOne(String(found.length), request));
  const { dn, server } = entry;
  return { dn, account: accountIdentity(entry, server === undefined ? urls : [server]), ...(server === undefined ? {} : { server }) };
}

function expectedOne(count: string, { base, filter }: { readonly base: string; readonly filter: string }): string {
  return `expected one matching entry, but received ${count}: base ${JSON.stringify(base)}, filter ${filter}`;
}
