import { mysqlDialect, renderStatements, StatementFailed } from '@strongroom/database-sdk';
import { DROP_DEFAULT, REVOKE_DEFAULT } from './default-statements.ts';
import type { Connection } from 'mysql2';
import { query } from './dial.ts';
import { ER, errorNumber, isConnectionError } from './server-error.ts';

/** The host part that the default statements give users. */
const ANY_HOST = '%';

/** The hosts for which there is a user of that name; undefined where the managing user may not look. */
export async function hostsOf(connection: Connection, username: string): Promise<string[] | undefined> {
  const [select] = renderStatements([`SELECT Host AS host FROM mysql.user WHERE User = '{{name}}'`], { name: username }, mysqlDialect);
  try {
    return (await query(connection, select!)).map(({ host }) => String(host));
  } catch (error) {
    const number = errorNumber(error);
    if (number === ER.tableAccessDenied || number === ER.columnAccessDenied) return undefined;
    throw error;
  }
}

/**
 * Takes a user's privileges away and drops it; an absent user is success. Privileges go first, because sessions that are open stay open. A user
 * who can only be found under another host is left alone: whoever chose the host must say how the user ends.
 */
export async function revokeAndDrop(connection: Connection, username: string): Promise<void> {
  const hosts = await hostsOf(connection, username);
  if (hosts?.length === 0) return;
  if (hosts && !hosts.includes(ANY_HOST)) {
    const found = hosts.map((host) => `'${host}'`).join(', ');
    throw new StatementFailed(`the user is not known at host '%' but at ${found}: the role needs revocation_statements`);
  }
  const [revoke, drop] = renderStatements([REVOKE_DEFAULT, DROP_DEFAULT], { name: username }, mysqlDialect);
  try {
    await query(connection, revoke!);
  } catch (error) {
    // Dropping the user takes the privileges too, if not from sessions that are open.
    if (isConnectionError(error)) throw error;
  }
  await dropIfThere(connection, drop!);
}

/** Locks the user at every host where it is, and ends its sessions. An absent user is success. */
export async function takeLogin(connection: Connection, username: string): Promise<void> {
  const hosts = await hostsOf(connection, username);
  for (const host of hosts ?? [ANY_HOST]) {
    const [lock] = renderStatements(
      [`ALTER USER '{{name}}'@'{{username}}' ACCOUNT LOCK`],
      { name: username, username: host },
      mysqlDialect,
    );
    try {
      await query(connection, lock!);
    } catch (error) {
      // Nobody of that name, where the managing user could not look.
      if (hosts !== undefined || errorNumber(error) !== ER.cannotUser) throw error;
    }
  }
  const [sessions] = renderStatements(
    [`SELECT ID AS id FROM information_schema.PROCESSLIST WHERE USER = '{{name}}' AND ID <> CONNECTION_ID()`],
    { name: username },
    mysqlDialect,
  );
  for (const { id } of await query(connection, sessions!)) {
    try {
      await query(connection, `KILL CONNECTION ${Number(id)}`);
    } catch (error) {
      // It ended by itself meanwhile.
      if (errorNumber(error) !== ER.noSuchThread) throw error;
    }
  }
}

/** Older servers do not know `IF EXISTS`. */
async function dropIfThere(connection: Connection, drop: string): Promise<void> {
  try {
    await query(connection, drop);
  } catch (error) {
    if (errorNumber(error) !== ER.cannotUser) throw error;
  }
}

/** Drops the user that a failed creation left. */
export async function dropHalfMade(connection: Connection, username: string): Promise<void> {
  const [drop] = renderStatements([DROP_DEFAULT], { name: username }, mysqlDialect);
  await dropIfThere(connection, drop!);
}

/** Whether the statement, if it succeeds, has made this user and not found or changed it. */
export function createsUser(statement: string, username: string): boolean {
  return /^CREATE\s+USER\s+(?!IF\s)/i.test(statement) && statement.includes(username);
}
