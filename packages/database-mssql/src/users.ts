import { Attempts, retry } from '@strongroom/database-knex';
import { mssqlDialect, quoted } from '@strongroom/database-sdk';
import type { Connection } from 'tedious';
import { batch, type Row } from './batch.ts';
import { answers } from './server-error.ts';

/** `N`, for letters of any script. */
const literal = (text: string): string => `N${quoted(mssqlDialect, "'", text)}`;
const identifier = (name: string): string => quoted(mssqlDialect, '[', name);

/** One kind of user, by the statements in which kinds differ. */
export interface UserKind {
  /** What a password is changed by where operators do not say. */
  readonly passwordChange: readonly string[];
  /** Where whoever has this name is. */
  named(username: string): string;
  /** Where those are that have passwords. */
  readonly withPasswords: string;
  /** Each shuts the user out by itself, as far as the managing user may. */
  lockOut(username: string): readonly string[];
  sessions(username: string): string;
  remove(connection: Connection, username: string): Promise<void>;
}

/** Logins of the server. */
export const LOGINS: UserKind = {
  passwordChange: [`ALTER LOGIN [{{username}}] WITH PASSWORD = '{{password}}'`],
  named: (username) => `sys.server_principals WHERE name = ${literal(username)}`,
  withPasswords: `sys.server_principals WHERE type = 'S'`,
  lockOut: (username) => [
    `ALTER LOGIN ${identifier(username)} DISABLE`,
    // The server takes statements on its own permissions in this database alone.
    within('master', `DENY CONNECT SQL TO ${identifier(username)}`),
  ],
  sessions: (username) => `login_name = ${literal(username)}`,
  remove: removeLogin,
};

/** Users of a contained database. */
export const CONTAINED_USERS: UserKind = {
  passwordChange: [`ALTER USER [{{username}}] WITH PASSWORD = '{{password}}'`],
  named: (username) => `sys.database_principals WHERE type = 'S' AND name = ${literal(username)}`,
  withPasswords: `sys.database_principals WHERE type = 'S' AND authentication_type = 2`,
  lockOut: (username) => [`DENY CONNECT TO ${identifier(username)}`],
  sessions: (username) => `database_id = DB_ID() AND original_login_name = ${literal(username)}`,
  remove: removeContainedUser,
};

export const isNamed = (name: string): string => `name = ${literal(name)}`;
export const beginsWith = (prefix: string): string => (prefix === '' ? '1 = 1' : `CHARINDEX(${literal(prefix)}, name) = 1`);

/** The names of those with passwords for which the condition is true. */
export async function namesOf(connection: Connection, { withPasswords }: UserKind, condition: string): Promise<string[]> {
  const rows = await batch(connection, `SELECT name FROM ${withPasswords} AND ${condition} ORDER BY name`);
  return rows.map(({ name }) => String(name));
}

/** Keeps a user out, and ends its sessions. An absent user is success. */
export async function disableUser(connection: Connection, kind: UserKind, username: string): Promise<void> {
  const attempts = new Attempts(answers);
  if (await exists(connection, kind, username)) await shutOut(connection, attempts, kind, username);
  attempts.check(NOT_ALL);
}

/**
 * Ends a login: no new sessions, no old ones, no users in any database, and then the login itself. What fails does not keep the rest from being
 * tried, but keeps the login, disabled. An absent login is success, though users of its name are still looked for.
 */
async function removeLogin(connection: Connection, username: string): Promise<void> {
  const attempts = new Attempts(answers);
  const isThere = await exists(connection, LOGINS, username);
  if (isThere) await shutOut(connection, attempts, LOGINS, username);
  for (const { db, name } of await usersOf(connection, literal(username))) {
    await attempts.try(batch(connection, within(String(db), `DROP USER ${identifier(String(name))}`)));
  }
  attempts.check(NOT_ALL);
  if (isThere) await retry(ENDING, async () => batch(connection, `DROP LOGIN ${identifier(username)}`));
}

/** Ends a user: no new sessions, no old ones, and then the user. Sessions that may not be killed end when they end: they cannot log in again. */
async function removeContainedUser(connection: Connection, username: string): Promise<void> {
  if (!(await exists(connection, CONTAINED_USERS, username))) return;
  const unheard = new Attempts(answers);
  await shutOut(connection, unheard, CONTAINED_USERS, username);
  await batch(connection, `DROP USER ${identifier(username)}`);
  // Where `DENY` was refused, a session may have begun between.
  await killSessions(connection, unheard, CONTAINED_USERS.sessions(username));
}

async function exists(connection: Connection, { named }: UserKind, username: string): Promise<boolean> {
  return (await batch(connection, `SELECT 1 AS found FROM ${named(username)}`)).length > 0;
}

/** The users of a login in every database that can be looked into: by its identifier, or by name if the login is gone. */
async function usersOf(connection: Connection, login: string): Promise<Row[]> {
  const databases = await batch(connection, `SELECT name FROM sys.databases WHERE state = 0 AND HAS_DBACCESS(name) = 1`);
  if (databases.length === 0) return [];
  const theirs = `sid = SUSER_SID(${login}) OR (SUSER_SID(${login}) IS NULL AND name = ${login})`;
  const selects = databases.map(({ name }) => {
    const principals = `${identifier(String(name))}.sys.database_principals`;
    return `SELECT ${literal(String(name))} AS db, name COLLATE DATABASE_DEFAULT AS name FROM ${principals} WHERE type = 'S' AND (${theirs})`;
  });
  return batch(connection, selects.join(' UNION ALL '));
}

/** No new sessions first, so that none begins after the old ones have ended. One way to keep the user out is enough. */
async function shutOut(connection: Connection, attempts: Attempts, kind: UserKind, username: string): Promise<void> {
  const ways = kind.lockOut(username);
  let refusal: unknown;
  let isShut = false;
  for (const way of ways) {
    try {
      await batch(connection, way);
      isShut = true;
    } catch (error) {
      if (answers.refusal(error) === undefined) throw error;
      refusal ??= error;
    }
  }
  if (!isShut) await attempts.try(Promise.reject(refusal as Error));
  await killSessions(connection, attempts, kind.sessions(username));
}

async function killSessions(connection: Connection, attempts: Attempts, whose: string): Promise<void> {
  const sessions = `SELECT session_id FROM sys.dm_exec_sessions WHERE session_id <> @@SPID AND ${whose}`;
  let found: Row[] = [];
  await attempts.try(batch(connection, sessions).then((rows) => void (found = rows)));
  for (const { session_id: id } of found) await attempts.try(batch(connection, `KILL ${Number(id)}`), ENDED);
}

/** The statement, run in a database of this server. */
function within(database: string, statement: string): string {
  return `EXEC ${identifier(database)}.sys.sp_executesql N'${statement.replaceAll("'", "''")}'`;
}

const NOT_ALL = 'could not perform all sql statements';
const ENDED = '6106'; // There is no such session: it ended by itself meanwhile.
/** The login has sessions: one that was killed may need a moment to end. */
const mayRepeat = (error: unknown): boolean => answers.code(error) === '15434';
const ENDING = { attempts: 6, delayMs: (attempt: number) => 50 * attempt, mayRepeat };
