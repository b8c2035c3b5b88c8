import type { ManagedAccount } from '@strongroom/engine-sdk';
import {
  AccountGone,
  applyOwnPasswordChange,
  asAccount,
  bindNameOf,
  type Connection,
  DirectoryMisused,
  type LocatedAccount,
  namedAccount,
  proveBind,
  serverUrls,
} from '@strongroom/ldap-client';
import type { Proof } from '@strongroom/rotation';
import { type AccountAddress, locate } from './account-entry.ts';
import { schemaOf, userAttributeOf, type LdapSecretsConfig } from './config.ts';
import type { DirectoryService } from './service.ts';

/** The name that an account of a self-managed mount logs in with. @throws DirectoryMisused where only a search could tell */
export function loginNameOf(config: LdapSecretsConfig, { dn = '', username }: AccountAddress): string {
  if (dn !== '') return dn;
  const principal = bindNameOf({ binddn: username, upndomain: config.upndomain });
  if (userAttributeOf(config).toLowerCase() === 'userprincipalname' && principal.includes('@')) return principal;
  throw new DirectoryMisused(
    `dn: this mount is self_managed, so nobody searches for the account ${JSON.stringify(username)}; send its distinguished name`,
  );
}

/** The entry of an account, which logs in with this password to find it. @throws DirectoryMisused, DirectoryFailed */
export async function locateOwn(
  service: DirectoryService,
  account: AccountAddress,
  password: string,
  signal: AbortSignal,
): Promise<LocatedAccount> {
  return service.use(async ({ config, directory }) => {
    const bindName = loginNameOf(config, account);
    return asAccount(directory, { bindName, password }, async (connection) => ownEntry(connection, config, account, signal), signal);
  });
}

/** The account in the registry; undefined while it is not known. */
export async function identifyOwn(
  service: DirectoryService,
  account: AccountAddress,
  password: string,
  signal: AbortSignal,
): Promise<ManagedAccount | undefined> {
  try {
    return (await locateOwn(service, account, password, signal)).account;
  } catch {
    // Whoever asks logs in next, and hears the reason.
    return undefined;
  }
}

/** The account logs in with its current password, and gives itself the candidate. @throws DirectoryMisused, DirectoryFailed with its outcome. */
export async function changeOwnPassword(
  service: DirectoryService,
  account: AccountAddress,
  { candidate, current }: { readonly candidate: string; readonly current: string },
  signal: AbortSignal,
): Promise<void> {
  await service.use(async ({ config, directory }) => {
    const find = async (connection: Connection) => (account.dn ? { dn: account.dn } : ownEntry(connection, config, account, signal));
    const changes = schemaOf(config).ownPasswordChanges(current, candidate);
    await applyOwnPasswordChange(directory, { bindName: loginNameOf(config, account), current, find, changes }, signal);
  });
}

/**
 * Which of two passwords the account takes. Never `unprovable`: an account that does not log in cannot change its password again, so that both are kept.
 * @throws what says nothing about the passwords
 */
export async function proveOwnPassword(
  service: DirectoryService,
  account: AccountAddress,
  passwords: { readonly candidate: string; readonly current: string | undefined },
  signal: AbortSignal,
): Promise<Proof> {
  return service.use(async ({ config, directory }) => proveBind(directory, loginNameOf(config, account), passwords, signal));
}

/** The entry of the account that is logged in; by its name alone, where it may not look at itself. @throws DirectoryMisused, DirectoryFailed */
export async function ownEntry(
  connection: Connection,
  config: LdapSecretsConfig,
  account: AccountAddress,
  signal: AbortSignal,
): Promise<LocatedAccount> {
  try {
    return await locate(connection, config, account, signal);
  } catch (error) {
    if (!(error instanceof AccountGone) || !account.dn) throw error;
    return { dn: account.dn, account: namedAccount(account.dn, serverUrls(config.url)) };
  }
}
