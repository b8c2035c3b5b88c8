import { setTimeout as delay } from 'node:timers/promises';
import { StatementFailed } from '@strongroom/database-sdk';
import type { MssqlConnectionHandle } from './dial.ts';
import { identifier, literal } from './quote.ts';
import { errorNumber, errorText, isConnectionError } from './server-error.ts';

/**
 * Ends a login: no new sessions, no old ones, no users in any database, and then the login itself. What fails does not keep the rest from being
 * tried, but keeps the login, disabled. An absent login is success, though users of its name are still looked for.
 */
export async function revokeLogin(handle: MssqlConnectionHandle, username: string): Promise<void> {
  const attempts = new Attempts(handle);
  const exists = (await handle.batch(`SELECT 1 AS found FROM sys.server_principals WHERE name = ${literal(username)}`)).length > 0;
  if (exists) {
    await attempts.try(`ALTER LOGIN ${identifier(username)} DISABLE`);
    await killSessions(handle, attempts, `login_name = ${literal(username)}`);
  }
  for (const { db, name } of await usersOf(handle, username)) {
    await attempts.try(`EXEC ${identifier(db)}.sys.sp_executesql N'DROP USER ${identifier(name).replaceAll("'", "''")}'`);
  }
  attempts.check();
  if (exists) await dropLogin(handle, username);
}

/** Keeps a login out, and ends its sessions. An absent login is success. */
export async function disableLogin(handle: MssqlConnectionHandle, username: string): Promise<void> {
  const found = await handle.batch(`SELECT 1 AS found FROM sys.server_principals WHERE name = ${literal(username)}`);
  if (found.length === 0) return;
  const attempts = new Attempts(handle);
  await attempts.try(`ALTER LOGIN ${identifier(username)} DISABLE`);
  await killSessions(handle, attempts, `login_name = ${literal(username)}`);
  attempts.check();
}

/** Keeps a user out of its contained database, and ends its sessions. An absent user is success. */
export async function disableContainedUser(handle: MssqlConnectionHandle, username: string): Promise<void> {
  const found = await handle.batch(`SELECT 1 AS found FROM sys.database_principals WHERE type = 'S' AND name = ${literal(username)}`);
  if (found.length === 0) return;
  const attempts = new Attempts(handle);
  await attempts.try(`DENY CONNECT TO ${identifier(username)}`);
  await killSessions(handle, attempts, `database_id = DB_ID() AND original_login_name = ${literal(username)}`);
  attempts.check();
}

/** A session that was killed may need a moment to end. */
async function dropLogin(handle: MssqlConnectionHandle, username: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return void (await handle.batch(`DROP LOGIN ${identifier(username)}`));
    } catch (error) {
      if (errorNumber(error) !== LOGGED_IN || attempt === DROP_ATTEMPTS) throw error;
      await delay(attempt * DROP_DELAY_MS);
    }
  }
}

const LOGGED_IN = 15_434;
const DROP_ATTEMPTS = 6;
const DROP_DELAY_MS = 50;

/** Ends a user of a contained database. Sessions that may not be killed end when they end: they cannot log in again. */
export async function revokeContainedUser(handle: MssqlConnectionHandle, username: string): Promise<void> {
  const found = await handle.batch(`SELECT 1 AS found FROM sys.database_principals WHERE type = 'S' AND name = ${literal(username)}`);
  if (found.length === 0) return;
  await handle.batch(`DROP USER ${identifier(username)}`);
  await killSessions(handle, new Attempts(handle), `database_id = DB_ID() AND original_login_name = ${literal(username)}`);
}

/** The users of a login in every database that can be looked into: by its identifier, or by name if the login is gone. */
async function usersOf(handle: MssqlConnectionHandle, username: string): Promise<{ db: string; name: string }[]> {
  const databases = await handle.batch(`SELECT name FROM sys.databases WHERE state = 0 AND HAS_DBACCESS(name) = 1`);
  if (databases.length === 0) return [];
  const login = literal(username);
  const selects = databases.map(({ name }) => {
    const principals = `${identifier(String(name))}.sys.database_principals`;
    const theirs = `sid = SUSER_SID(${login}) OR (SUSER_SID(${login}) IS NULL AND name = ${login})`;
    return `SELECT ${literal(String(name))} AS db, name COLLATE DATABASE_DEFAULT AS name FROM ${principals} WHERE type = 'S' AND (${theirs})`;
  });
  return (await handle.batch(selects.join(' UNION ALL '))).map(({ db, name }) => ({ db: String(db), name: String(name) }));
}

async function killSessions(handle: MssqlConnectionHandle, attempts: Attempts, whose: string): Promise<void> {
  const sessions = `SELECT session_id FROM sys.dm_exec_sessions WHERE session_id <> @@SPID AND ${whose}`;
  for (const { session_id: id } of await handle.batch(sessions)) await attempts.try(`KILL ${Number(id)}`, NO_SUCH_SESSION);
}

/** It ended by itself meanwhile. */
const NO_SUCH_SESSION = 6106;

/** Runs batches that may fail one by one. */
class Attempts {
  readonly #handle: MssqlConnectionHandle;
  readonly #failures: string[] = [];

  constructor(handle: MssqlConnectionHandle) {
    this.#handle = handle;
  }

  async try(sql: string, harmless?: number): Promise<void> {
    try {
      await this.#handle.batch(sql);
    } catch (error) {
      if (isConnectionError(error)) throw error;
      if (errorNumber(error) !== harmless) this.#failures.push(errorText(error));
    }
  }

  check(): void {
    if (this.#failures.length > 0) throw new StatementFailed(this.#failures.join('; '), { prefix: 'could not perform all sql statements' });
  }
}
