import type { DeleteUserRequest, LoginFailure } from '@strongroom/database-sdk';
import type { ConnectionDriver } from './connection-driver.ts';
import type { SqlDefaults } from './sql-rules.ts';

/** How a user is removed. */
export type Removal = Pick<DeleteUserRequest, 'endSessions' | 'ownedObjects'>;

/** What `SqlSession` wants of a database. `Connection` is the driver's own. */
export interface SqlDriver<Connection extends object> extends ConnectionDriver<Connection> {
  /** Defaults that depend on the settings of the connection. */
  readonly defaults?: Partial<SqlDefaults>;
  /** Runs the statements in order, all or nothing as far as the database can. */
  run(connection: Connection, statements: readonly string[]): Promise<void>;
  /** The database's own code (an SQLSTATE, an error number) where it refused a statement; undefined for everything else. */
  refusal(error: unknown): string | undefined;
  /** Why `dial` rejected, where that is known: whether the server refused the credential, or was not reached. */
  loginFailure?(error: unknown): LoginFailure | undefined;
  /** The words of an error of the driver or the server. Absent: `driverErrorText`. */
  errorText?(error: unknown): string;
  /** Masks secrets, given by label, in the words of an error. Absent: `redact`. */
  mask?(text: string, secrets: Readonly<Record<string, string>>): string;
  /** Shows that the connection works and changes nothing. Absent: runs `SELECT 1`. */
  probe?(connection: Connection): Promise<unknown>;
  /** What statements hold in place of a password, such as a verifier made of it. Absent: the password. */
  password?(password: string): Promise<string>;
  /**
   * Runs the statements of a creation where the database cannot roll them back, and calls `made` once it is certain that the user was made by them. Absent:
   * `run`.
   */
  createUser?(connection: Connection, username: string, statements: readonly string[], made: () => void): Promise<void>;
  /** Removes the user that `createUser` has made before it failed. */
  dropHalfMade?(connection: Connection, username: string): Promise<void>;
  /** Removes a user for a role without revocation statements. An absent user is success. Absent: the default statements. */
  deleteUser?(connection: Connection, username: string, removal: Removal): Promise<void>;
  /** Whether there is such a user. A revocation whose statements fail then succeeds for an absent user. */
  userExists?(connection: Connection, username: string): Promise<boolean>;
  /** Takes the login away and ends the user's sessions. An absent user is success. Absent: the default statements, where there are any. */
  disableUser?(connection: Connection, username: string): Promise<void>;
  /**
   * Replaces the password of the user that the connection has logged in as, for roles without statements. `updateUser`: the default statements do that too.
   * Absent: users do not change their own.
   */
  readonly changeOwnPassword?:
    | 'updateUser'
    | ((connection: Connection, change: { readonly password: string; readonly current: string }) => Promise<void>);
  /** Two passwords of one user: see `TwoPasswords`. Absent: a user has one. */
  readonly twoPasswords?: {
    supported(connection: Connection): Promise<boolean>;
    add(connection: Connection, username: string, password: string): Promise<void>;
    end(connection: Connection, username: string): Promise<void>;
  };
  /** The names of users that begin so. */
  listUsers?(connection: Connection, prefix: string): Promise<readonly string[]>;
}
