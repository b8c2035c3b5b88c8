import type { SqlDriver } from '@strongroom/database-knex';
import { mysqlDialect, quoted } from '@strongroom/database-sdk';
import type { Connection } from 'mysql2';
import { answers, ER } from './server-error.ts';
import { query } from './statement-run.ts';

/** The first release that retains the current password. */
const FIRST = [8, 0, 14] as const;

const text = (value: string): string => quoted(mysqlDialect, "'", value);

/** MySQL retains the password that is replaced, if asked to, and one such password at most. MariaDB does not. */
export const twoPasswords: NonNullable<SqlDriver<Connection>['twoPasswords']> = {
  async supported(connection) {
    const [row] = await query(connection, 'SELECT VERSION() AS version');
    return retains(String(row?.['version']));
  },
  async add(connection, username, password) {
    await query(connection, `ALTER USER ${text(username)}@'%' IDENTIFIED BY ${text(password)} RETAIN CURRENT PASSWORD`);
  },
  async end(connection, username) {
    await answers.tolerate(query(connection, `ALTER USER ${text(username)}@'%' DISCARD OLD PASSWORD`), ER.cannotUser);
  },
};

/** `version` as the server says it: `8.0.36`, `11.8.3-MariaDB-0+deb13u1`. */
export function retains(version: string): boolean {
  if (/mariadb/i.test(version)) return false;
  const numbers = version.split(/[.-]/, 3).map(Number);
  for (const [place, first] of FIRST.entries()) {
    const number = numbers[place] ?? 0;
    if (number !== first) return number > first;
  }
  return true;
}
