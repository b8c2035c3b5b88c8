import type { ManagedAccount } from '@strongroom/engine-sdk';
import {
  accountIdentity,
  escapeFilterValue,
  identityAttributes,
  LdapError,
  resultCode,
  serverUrls,
  type Connection,
  type Directory,
  type LdapEntry,
} from '@strongroom/ldap-client';
import type { Outcome, Proof } from '@strongroom/rotation';
import { schemaOf, userAttributeOf, type LdapSecretsConfig } from './config.ts';
import { AccountGone, DirectoryFailed, directoryFailed, DirectoryMisused, outcomeOf, textOf } from './directory-failed.ts';
import type { DirectoryService, OpenDirectory } from './service.ts';

/** How an account is found: by its distinguished name, or else by its name below userdn, or by a filter in place of the name. */
export interface AccountAddress {
  readonly username: string;
  readonly dn?: string;
  readonly filter?: string;
}

/** An account that was found. */
export interface LocatedAccount {
  readonly dn: string;
  /** In the registry of managed accounts. */
  readonly account: ManagedAccount;
}

/** The one entry that is meant. @throws DirectoryMisused, AccountGone where there is none, DirectoryFailed */
export async function locate(
  connection: Connection,
  config: LdapSecretsConfig,
  account: AccountAddress,
  signal?: AbortSignal,
): Promise<LocatedAccount> {
  const request = account.dn
    ? { base: account.dn, scope: 'base' as const, filter: '(objectClass=*)' }
    : { base: config.userdn, scope: 'sub' as const, filter: account.filter ?? filterFor(config, account.username) };
  if (request.base === '') {
    throw new DirectoryMisused(`userdn must be configured to find the account ${JSON.stringify(account.username)}, or a dn be given`);
  }
  let found: readonly LdapEntry[];
  try {
    found = await connection.search({ ...request, attributes: identityAttributes, sizeLimit: 2, signal });
  } catch (error) {
    const code = error instanceof LdapError ? error.code : undefined;
    if (code === resultCode.sizeLimitExceeded) throw unexpected('more', request);
    if (code === resultCode.noSuchObject && account.dn) throw gone(request);
    throw directoryFailed(error, 'unsent');
  }
  const [entry] = found;
  if (!entry) throw gone(request);
  if (found.length !== 1) throw unexpected(String(found.length), request);
  return { dn: entry.dn, account: accountIdentity(entry, serverUrls(config.url)) };
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

interface Search {
  readonly base: string;
  readonly filter: string;
}

function unexpected(count: string, search: Search): DirectoryMisused {
  return new DirectoryMisused(expectedOne(count, search));
}

function gone(search: Search): AccountGone {
  return new AccountGone(expectedOne('0', search));
}

function expectedOne(count: string, { base, filter }: Search): string {
  return `expected one matching entry, but received ${count}: base ${JSON.stringify(base)}, filter ${filter}`;
}

function filterFor(config: LdapSecretsConfig, username: string): string {
  const attribute = userAttributeOf(config);
  const isPrincipal = attribute.toLowerCase() === 'userprincipalname';
  const value = isPrincipal && config.upndomain !== '' && !username.includes('@') ? `${username}@${config.upndomain}` : username;
  return `(${attribute}=${escapeFilterValue(value)})`;
}

/** Gives an account a new password. @throws DirectoryMisused, DirectoryFailed with its outcome. */
export async function changePassword(
  service: DirectoryService,
  account: AccountAddress,
  password: string,
  signal: AbortSignal,
): Promise<void> {
  await service.use(async (open) => changePasswordIn(service, open, account, password, signal));
}

/** The same in a directory that is open. */
export async function changePasswordIn(
  service: DirectoryService,
  open: OpenDirectory,
  account: AccountAddress,
  password: string,
  signal: AbortSignal,
): Promise<void> {
  let outcome = 'unsent' as Outcome;
  const change = async (connection: Connection): Promise<void> => {
    const dn = account.dn ? account.dn : (await locate(connection, open.config, account, signal)).dn;
    try {
      await connection.modify(dn, schemaOf(open.config).passwordChange(password), { signal });
    } catch (error) {
      // How a second try fails says nothing about the first one.
      if (outcome !== 'unknown') outcome = outcomeOf(error);
      throw error;
    }
  };
  try {
    // The same password twice is the same as once.
    await service.bound(open, change, { signal, idempotent: true });
  } catch (error) {
    if (outcome === 'unknown') throw new DirectoryFailed(textOf(error), outcome, error);
    throw directoryFailed(error, outcome);
  }
}

/**
 * Which of two passwords the account takes. `unprovable` where the directory lets the account log in with no password at all, for another reason than
 * the password. @throws what says nothing about that, such as a directory that is out of reach.
 */
export async function provePassword(
  service: DirectoryService,
  account: AccountAddress,
  { candidate, current }: { readonly candidate: string; readonly current: string | undefined },
  signal: AbortSignal,
): Promise<Proof> {
  return service.use(async (open) => {
    const dn = account.dn || (await locateIn(service, open, account, signal)).dn;
    try {
      const proof = await proveBind(open.directory, dn, { candidate, current }, signal);
      return proof === 'neither' && !schemaOf(open.config).provesByBind ? 'unprovable' : proof;
    } catch (error) {
      if (error instanceof MayNotLogIn) return 'unprovable';
      throw error;
    }
  });
}

/** The candidate first: some directories take the old password for a while after a change. @throws MayNotLogIn, DirectoryFailed */
export async function proveBind(
  directory: Directory,
  bindName: string,
  { candidate, current }: { readonly candidate: string; readonly current: string | undefined },
  signal: AbortSignal,
): Promise<Proof> {
  if (await takes(directory, bindName, candidate, signal)) return 'candidate';
  return current !== undefined && (await takes(directory, bindName, current, signal)) ? 'current' : 'neither';
}

/** Active Directory checks the password before it says that the account may not log in for another reason: 530 to 533, 701 and 773. */
const RIGHT_PASSWORD = /\bdata (530|531|532|533|701|773)\b/;

/** The directory refuses every login of the account, whatever its password: by its rights, or by what it asks of connections. */
class MayNotLogIn extends DirectoryFailed {}

const refusesLogins: ReadonlySet<unknown> = new Set([
  resultCode.strongerAuthRequired,
  resultCode.confidentialityRequired,
  resultCode.insufficientAccessRights,
  resultCode.unwillingToPerform,
]);

async function takes(directory: Directory, name: string, password: string, signal: AbortSignal): Promise<boolean> {
  try {
    await directory.verifyUser(name, password, { signal });
    return true;
  } catch (error) {
    if (!(error instanceof LdapError) || (!error.answered && error.code !== 'EMPTY_PASSWORD')) throw directoryFailed(error, 'unsent');
    if (error.code === resultCode.invalidCredentials) return RIGHT_PASSWORD.test(error.diagnosticMessage);
    if (error.code === resultCode.inappropriateAuthentication || error.code === resultCode.noSuchObject || error.code === 'EMPTY_PASSWORD')
      return false;
    throw refusesLogins.has(error.code)
      ? new MayNotLogIn(error.message, 'unsent', error)
      : new DirectoryFailed(error.message, 'unsent', error);
  }
}
