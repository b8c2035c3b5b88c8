import { escapeFilterValue, isDn, sameDn, type Connection } from '@strongroom/ldap-client';
import { locate, type AccountAddress, type LocatedAccount } from './account-entry.ts';
import { bindNameOf, type LdapSecretsConfig } from './config.ts';
import { DirectoryMisused } from './directory-failed.ts';

/** Where the managing account's own entry is. Active Directory takes a principal name also where the entry does not spell it out. */
export function rootAddress(config: LdapSecretsConfig): AccountAddress {
  const { binddn } = config;
  if (isDn(binddn)) return { username: binddn, dn: binddn };
  const principal = escapeFilterValue(bindNameOf(config));
  const name = escapeFilterValue(binddn.replace(/^.*\\/, '').replace(/@.*$/, ''));
  return { username: binddn, filter: `(|(userPrincipalName=${principal})(sAMAccountName=${name}))` };
}

/**
 * Refuses the account that the mount itself logs in with: a rotation that is not the root's would lock the mount out of the directory.
 * @throws DirectoryMisused
 */
export async function requireNotRoot(
  connection: Connection,
  config: LdapSecretsConfig,
  name: string,
  { dn, account }: LocatedAccount,
  signal: AbortSignal,
): Promise<void> {
  if (!(await isRoot())) return;
  throw new DirectoryMisused(
    `"${name}" is the account that this mount logs in with (binddn), managed by the root credential of this mount: rotate-root changes its password; ` +
      'name another account, or configure another binddn first',
  );

  async function isRoot(): Promise<boolean> {
    if (isDn(config.binddn)) return sameDn(config.binddn, dn);
    try {
      const root = await locate(connection, config, rootAddress(config), signal);
      return root.account.system === account.system && root.account.name === account.name;
    } catch (error) {
      // Not below userdn, so it is not found as an account either.
      if (error instanceof DirectoryMisused) return false;
      throw error;
    }
  }
}
