import type { Outcome, Proof } from '@strongroom/rotation';
import type { Connection, Modification, RequestOptions } from './connection.ts';
import { DirectoryFailed, directoryFailed, outcomeOf, textOf } from './directory-failed.ts';
import type { ServiceOptions, VerifyOptions } from './directory-requests.ts';
import type { Directory } from './directory.ts';
import { LdapError } from './error.ts';
import type { LocatedAccount } from './find-account.ts';
import { resultCode } from './result-codes.ts';

/** Lends a connection that is bound as whoever may change passwords. */
export type BoundLender = <T>(work: (connection: Connection) => Promise<T>, options: ServiceOptions) => Promise<T>;

/** Where a password is changed: the entry's distinguished name, and where a referral led to it. */
export type PasswordPlace = Pick<LocatedAccount, 'dn' | 'server'>;

/** The change of one password. */
export interface PasswordChange {
  find(connection: Connection): Promise<PasswordPlace>;
  /** The same change twice is the same as once. */
  readonly changes: readonly Modification[];
  /** To be tried in turn where the entry does not have a value that `changes` takes away. */
  readonly otherwise?: readonly (readonly Modification[])[];
}

/** Makes the change. Resolves with where it was made. @throws DirectoryMisused, DirectoryFailed with its outcome. */
export async function applyPasswordChange(
  lend: BoundLender,
  { find, changes, otherwise = [] }: PasswordChange,
  signal: AbortSignal,
  options: ServiceOptions = { idempotent: true },
): Promise<PasswordPlace> {
  let outcome = 'unsent' as Outcome;
  const change = async (connection: Connection): Promise<PasswordPlace> => {
    const place = await find(connection);
    try {
      await modifyByFirst(connection, place.dn, [changes, ...otherwise], { signal, server: place.server });
      return place;
    } catch (error) {
      // How a second try fails says nothing about the first one.
      if (outcome !== 'unknown') outcome = outcomeOf(error);
      throw error;
    }
  };
  try {
    return await lend(change, { ...options, signal });
  } catch (error) {
    if (outcome === 'unknown') throw new DirectoryFailed(textOf(error), outcome, error);
    throw directoryFailed(error, outcome);
  }
}

/** An account that changes its own password. */
export interface OwnPasswordChange {
  readonly bindName: string;
  readonly current: string;
  find(connection: Connection): Promise<Pick<LocatedAccount, 'dn'>>;
  /** See `ownPasswordChanges` of its schema. */
  readonly changes: readonly (readonly Modification[])[];
}

/** The account logs in with its current password, and makes the change. @throws DirectoryMisused, DirectoryFailed with its outcome. */
export async function applyOwnPasswordChange(
  directory: Directory,
  { bindName, current, find, changes: [changes = [], ...otherwise] }: OwnPasswordChange,
  signal: AbortSignal,
): Promise<void> {
  const lend: BoundLender = async (work) => asAccount(directory, { bindName, password: current }, work, signal);
  await applyPasswordChange(lend, { find, changes, otherwise }, signal);
}

/** Runs the work on a connection that is logged in as the account. @throws DirectoryFailed where the login fails; what the work throws otherwise. */
export async function asAccount<T>(
  directory: Directory,
  { bindName, password }: { readonly bindName: string; readonly password: string },
  work: (connection: Connection) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let begun = false;
  const begin = async (connection: Connection): Promise<T> => {
    begun = true;
    return work(connection);
  };
  try {
    return await directory.verifyUser(bindName, password, begin, { signal });
  } catch (error) {
    if (begun || !(error instanceof LdapError)) throw error;
    if (!error.answered) throw directoryFailed(error, 'unsent');
    throw new DirectoryFailed(`failed to bind as ${JSON.stringify(bindName)}: ${error.message}`, 'unsent', error);
  }
}

async function modifyByFirst(
  connection: Connection,
  dn: string,
  [changes = [], ...otherwise]: readonly (readonly Modification[])[],
  options: RequestOptions,
): Promise<void> {
  try {
    await connection.modify(dn, changes, options);
  } catch (error) {
    if (otherwise.length === 0 || !(error instanceof LdapError) || error.code !== resultCode.noSuchAttribute) throw error;
    await modifyByFirst(connection, dn, otherwise, options);
  }
}

/**
 * The candidate first: some directories take the old password for a while after a change. Both go to `server`, where a referral led to the entry, or else to
 * the server that took the last change of it, so that a replica which is behind is not asked. @throws MayNotLogIn, DirectoryFailed
 */
export async function proveBind(
  directory: Directory,
  bindName: string,
  { candidate, current }: { readonly candidate: string; readonly current: string | undefined },
  signal: AbortSignal,
  server = directory.changedAt?.(bindName),
): Promise<Proof> {
  if (await takes(directory, bindName, candidate, { signal, server })) return 'candidate';
  return current !== undefined && (await takes(directory, bindName, current, { signal, server })) ? 'current' : 'neither';
}

/** Active Directory checks the password before it says that the account may not log in for another reason: 530 to 533, 701 and 773. */
const RIGHT_PASSWORD = /\bdata (530|531|532|533|701|773)\b/;

/** The directory refuses every login of the account, whatever its password: by its rights, or by what it asks of connections. */
export class MayNotLogIn extends DirectoryFailed {}

const refusesLogins: ReadonlySet<unknown> = new Set([
  resultCode.strongerAuthRequired,
  resultCode.confidentialityRequired,
  resultCode.insufficientAccessRights,
  resultCode.unwillingToPerform,
]);

async function takes(directory: Directory, name: string, password: string, options: VerifyOptions): Promise<boolean> {
  try {
    await directory.verifyUser(name, password, options);
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
