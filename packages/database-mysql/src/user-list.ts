import { mysqlDialect, renderStatements } from '@strongroom/database-sdk';
import type { Connection } from 'mysql2';
import { query } from './dial.ts';
import { ER, errorNumber } from './server-error.ts';

/** What tells roles, which MariaDB marks and MySQL locks without a password, from users; the oldest servers have neither column. */
const FILTERS = [` AND is_role = 'N'`, ` AND (account_locked = 'N' OR authentication_string <> '')`, ''];

/** Names of users, whatever their hosts. Names are compared as the server does, byte by byte. */
export async function listUsers(connection: Connection, prefix: string): Promise<string[]> {
  const begins = prefix === '' ? `User <> ''` : `LEFT(User, CHAR_LENGTH('{{name}}')) = '{{name}}'`;
  for (const filter of FILTERS) {
    const select = `SELECT DISTINCT User AS name FROM mysql.user WHERE ${begins}${filter} ORDER BY User`;
    const [rendered] = renderStatements([select], { name: prefix }, mysqlDialect);
    try {
      return (await query(connection, rendered!)).map(({ name }) => String(name));
    } catch (error) {
      if (errorNumber(error) !== ER.badField || filter === '') throw error;
    }
  }
  return [];
}
