import type { SqlDriver } from '@strongroom/database-knex';
import { mysqlDialect, quoted } from '@strongroom/database-sdk';
import type { Connection } from 'mysql2';
import { answers, ER } from './server-error.ts';
import { isMysqlFrom, versionOf } from './server-version.ts';
import { query } from './statement-run.ts';

/** The first release that retains the current password. */
const FIRST = [8, 0, 14] as const;

const text = (value: string): string => quoted(mysqlDialect, "'", value);

/** MySQL retains the password that is replaced, if asked to, and one such password at most. MariaDB does not. */
export const twoPasswords: NonNullable<SqlDriver<Connection>['twoPasswords']> = {
  async supported(connection) {
    return isMysqlFrom(await versionOf(connection), FIRST);
  },
  async add(connection, username, password) {
    await query(connection, `ALTER USER ${text(username)}@'%' IDENTIFIED BY ${text(password)} RETAIN CURRENT PASSWORD`);
  },
  async end(connection, username) {
    await answers.tolerate(query(connection, `ALTER USER ${text(username)}@'%' DISCARD OLD PASSWORD`), ER.cannotUser);
  },
};
