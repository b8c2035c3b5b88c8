import type { Removal } from '@strongroom/database-knex';
import { mysqlDialect, quoted, renderStatements, StatementFailed } from '@strongroom/database-sdk';
import type { Connection } from 'mysql2';
import { answers, ER } from './server-error.ts';
import { query } from './statement-run.ts';

/** The host part that the default statements give users. */
const ANY_HOST = '%';

/** What operators need not write. */
export const REVOKE_DEFAULT = `REVOKE ALL PRIVILEGES, GRANT OPTION FROM '{{name}}'@'%';`;
export const DROP_DEFAULT = `DROP USER '{{name}}'@'%';`;

const text = (value: string): string => quoted(mysqlDialect, "'", value);
const rendered = (statement: string, name: string): string => renderStatements([statement], { name }, mysqlDialect).join();

/** The hosts for which there is a user of that name; undefined where the managing user may not look. */
export async function hostsOf(connection: Connection, username: string): Promise<string[] | undefined> {
  const asked = query(connection, `SELECT Host AS host FROM mysql.user WHERE User = ${text(username)}`);
  return (await answers.tolerate(asked, ...ER.accessDenied))?.map(({ host }) => String(host));
}

/**
 * Takes a user's privileges away and drops it; an absent user is success. Privileges go first, because sessions that are not ended stay open. A user
 * who can only be found under another host is not touched: whoever chose the host must say how the user ends.
 */
export async function revokeAndDrop(connection: Connection, username: string, { endSessions }: Removal = {}): Promise<void> {
  const hosts = await hostsOf(connection, username);
  if (hosts?.length === 0) return;
  if (hosts && !hosts.includes(ANY_HOST)) {
    const found = hosts.map((host) => `'${host}'`).join(', ');
    throw new StatementFailed(`the user is not known at host '%' but at ${found}: the role needs revocation_statements`);
  }
  // A managing user of few rights still removes the user.
  if (endSessions) await answers.tolerate(lockUser(connection, username));
  // Dropping the user takes the privileges too, if not from sessions that are open.
  await answers.tolerate(query(connection, rendered(REVOKE_DEFAULT, username)));
  await dropUser(connection, username);
}

/** Older servers do not know `IF EXISTS`. */
export async function dropUser(connection: Connection, username: string): Promise<void> {
  await answers.tolerate(query(connection, rendered(DROP_DEFAULT, username)), ER.cannotUser);
}

/** Locks the user at every host where it is, and ends its sessions. An absent user is success. */
export async function lockUser(connection: Connection, username: string): Promise<void> {
  const hosts = await hostsOf(connection, username);
  for (const host of hosts ?? [ANY_HOST]) {
    const locking = query(connection, `ALTER USER ${text(username)}@${text(host)} ACCOUNT LOCK`);
    // There may be nobody of that name, where the managing user could not look.
    await (hosts ? locking : answers.tolerate(locking, ER.cannotUser));
  }
  const theirs = `SELECT ID AS id FROM information_schema.PROCESSLIST WHERE USER = ${text(username)} AND ID <> CONNECTION_ID()`;
  for (const { id } of await query(connection, theirs)) {
    await answers.tolerate(query(connection, `KILL CONNECTION ${Number(id)}`), ER.noSuchThread);
  }
}

/** Whether the statement, if it succeeds, has made this user and not found or changed it. */
export function createsUser(statement: string, username: string): boolean {
  return /^CREATE\s+USER\s+(?!IF\s)/i.test(statement) && statement.includes(username);
}

/** What tells roles, which MariaDB marks and MySQL locks without a password, from users; the oldest servers have neither column. */
const FILTERS = [` AND is_role = 'N'`, ` AND (account_locked = 'N' OR authentication_string <> '')`, ''];

/** Names of users, whatever their hosts. Names are compared as the server does, byte by byte. */
export async function listUsers(connection: Connection, prefix: string): Promise<string[]> {
  const begins = prefix === '' ? `User <> ''` : `LEFT(User, CHAR_LENGTH(${text(prefix)})) = ${text(prefix)}`;
  for (const filter of FILTERS) {
    const asked = query(connection, `SELECT DISTINCT User AS name FROM mysql.user WHERE ${begins}${filter} ORDER BY User`);
    const found = await (filter === '' ? asked : answers.tolerate(asked, ER.badField));
    if (found) return found.map(({ name }) => String(name));
  }
  return [];
}
