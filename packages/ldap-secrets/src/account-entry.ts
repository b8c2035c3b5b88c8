import type { ManagedAccount } from '@strongroom/engine-sdk';
import {
  AccountGone,
  applyPasswordChange,
  type Connection,
  DirectoryMisused,
  escapeFilterValue,
  findAccount,
  type LocatedAccount,
  MayNotLogIn,
  type PasswordPlace,
  proveBind,
  serverUrls,
} from '@strongroom/ldap-client';
import type { Proof } from '@strongroom/rotation';
import { schemaOf, userAttributeOf, type LdapSecretsConfig } from './config.ts';
import type { DirectoryService, OpenDirectory } from './service.ts';

/** How an account is found: by its distinguished name, or else by its name below userdn, or by a filter in place of the name. */
export interface AccountAddress {
  readonly username: string;
  readonly dn?: string;
  readonly filter?: string;
}

/** The one entry that is meant. @throws DirectoryMisused, AccountGone where there is none, DirectoryFailed */
export async function locate(
  connection: Connection,
  config: LdapSecretsConfig,
  account: AccountAddress,
  signal?: AbortSignal,
): Promise<LocatedAccount> {
  if (account.dn) return findAccount(connection, { dn: account.dn }, serverUrls(config.url), signal);
  if (config.userdn === '') {
    throw new DirectoryMisused(`userdn must be configured to find the account ${JSON.stringify(account.username)}, or a dn be given`);
  }
  const search = { base: config.userdn, filter: account.filter ?? filterFor(config, account.username) };
  return findAccount(connection, search, serverUrls(config.url), signal);
}

/** The account in the registry; undefined while it is not known. */
export async function identify(
  service: DirectoryService,
  account: AccountAddress,
  signal: AbortSignal,
): Promise<ManagedAccount | undefined> {
  try {
    return (await service.use(async (open) => locateIn(service, open, account, signal))).account;
  } catch {
    // Whoever asks touches the directory next, and hears the reason.
    return undefined;
  }
}

/** `locate` in a directory that is open. */
export async function locateIn(
  service: DirectoryService,
  open: OpenDirectory,
  account: AccountAddress,
  signal: AbortSignal,
): Promise<LocatedAccount> {
  return service.bound(open, async (connection) => locate(connection, open.config, account, signal), { signal, idempotent: true });
}

function filterFor(config: LdapSecretsConfig, username: string): string {
  const attribute = userAttributeOf(config);
  const isPrincipal = attribute.toLowerCase() === 'userprincipalname';
  const value = isPrincipal && config.upndomain !== '' && !username.includes('@') ? `${username}@${config.upndomain}` : username;
  return `(${attribute}=${escapeFilterValue(value)})`;
}

/** Gives an account a new password. Resolves with where it was found. @throws DirectoryMisused, DirectoryFailed with its outcome. */
export async function changePassword(
  service: DirectoryService,
  account: AccountAddress,
  password: string,
  signal: AbortSignal,
): Promise<PasswordPlace> {
  return service.use(async (open) => changePasswordIn(service, open, account, password, signal));
}

/** Whether its distinguished name alone says where the account is. */
function isPlaced(
  { referral_hosts = '' }: LdapSecretsConfig,
  account: AccountAddress,
): account is AccountAddress & { readonly dn: string } {
  return account.dn !== undefined && account.dn !== '' && referral_hosts === '';
}

/** Where the account's password is changed and proven. @throws DirectoryMisused, DirectoryFailed */
async function placeOf(
  connection: Connection,
  config: LdapSecretsConfig,
  account: AccountAddress,
  signal: AbortSignal,
): Promise<PasswordPlace> {
  if (isPlaced(config, account)) return { dn: account.dn };
  try {
    return await locate(connection, config, account, signal);
  } catch (error) {
    // Who may not read an entry may change it all the same.
    if (error instanceof AccountGone && account.dn) return { dn: account.dn };
    throw error;
  }
}

/** The same in a directory that is open. */
async function changePasswordIn(
  service: DirectoryService,
  open: OpenDirectory,
  account: AccountAddress,
  password: string,
  signal: AbortSignal,
): Promise<PasswordPlace> {
  const changes = schemaOf(open.config).passwordChange(password);
  const find = async (connection: Connection): Promise<PasswordPlace> => placeOf(connection, open.config, account, signal);
  return applyPasswordChange((work, use) => service.bound(open, work, use), { find, changes }, signal);
}

/**
 * Which of two passwords the account takes. `unprovable` where the directory lets the account log in with no password at all, for another reason than
 * the password. `known`: where the account was found a moment ago. @throws what says nothing about that, such as a directory that is out of reach.
 */
export async function provePassword(
  service: DirectoryService,
  account: AccountAddress,
  { candidate, current }: { readonly candidate: string; readonly current: string | undefined },
  signal: AbortSignal,
  known?: PasswordPlace,
): Promise<Proof> {
  return service.use(async (open) => {
    const find = async (connection: Connection): Promise<PasswordPlace> => placeOf(connection, open.config, account, signal);
    const place = isPlaced(open.config, account) ? { dn: account.dn } : known;
    const { dn, server } = place ?? (await service.bound(open, find, { signal, idempotent: true }));
    try {
      const proof = await proveBind(open.directory, dn, { candidate, current }, signal, server);
      return proof === 'neither' && !schemaOf(open.config).provesByBind ? 'unprovable' : proof;
    } catch (error) {
      if (error instanceof MayNotLogIn) return 'unprovable';
      throw error;
    }
  });
}
