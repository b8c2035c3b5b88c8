import { mysqlDialect, quoted } from '@strongroom/database-sdk';
import type { Connection } from 'mysql2';
import { isMariadb, isMysqlFrom, versionOf } from './server-version.ts';
import { query } from './statement-run.ts';

const text = (value: string): string => quoted(mysqlDialect, "'", value);

/** Changes the password of the user that has logged in. It needs no privilege. */
export async function changeOwnPassword(
  connection: Connection,
  { password, current }: { readonly password: string; readonly current: string },
): Promise<void> {
  await query(connection, ownChange(await versionOf(connection), password, current));
}

/** The statement, as the server of this version takes it from a user without privileges. */
export function ownChange(version: string, password: string, current: string): string {
  if (isMariadb(version)) return `SET PASSWORD = PASSWORD(${text(password)})`;
  const statement = `ALTER USER USER() IDENTIFIED BY ${text(password)}`;
  // A server may demand the current one (`password_require_current`), since 8.0.13.
  return isMysqlFrom(version, [8, 0, 13]) ? `${statement} REPLACE ${text(current)}` : statement;
}
