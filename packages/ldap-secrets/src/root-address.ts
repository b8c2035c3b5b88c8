import {
  bindAccountSearch,
  type Connection,
  DirectoryMisused,
  findAccount,
  isDn,
  type LocatedAccount,
  sameDn,
  serverUrls,
} from '@strongroom/ldap-client';
import type { LdapSecretsConfig } from './config.ts';

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
      const root = await findAccount(connection, bindAccountSearch(config), serverUrls(config.url), signal);
      return root.account.system === account.system && root.account.name === account.name;
    } catch (error) {
      // Not below userdn, so it is not found as an account either.
      if (error instanceof DirectoryMisused) return false;
      throw error;
    }
  }
}
