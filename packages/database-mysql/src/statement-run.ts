import { retire } from '@strongroom/database-knex';
import type { Connection } from 'mysql2';
import { query } from './dial.ts';

/** Each is a transaction of its own: the server commits before and after it. */
const ACCOUNTS = /^(?:CREATE|ALTER|DROP|GRANT|REVOKE|RENAME|FLUSH|SET\s+PASSWORD|SET\s+DEFAULT\s+ROLE)\b/i;
const ROWS = /^(?:INSERT|UPDATE|DELETE|REPLACE)\b/i;

/**
 * Runs statements one by one; `done` hears of each that succeeded. Those on rows are rolled back together if one fails, which does nothing for
 * those on accounts. If a statement may leave something behind in the session, the connection is not given to anybody else.
 */
export async function runStatements(
  connection: Connection,
  statements: readonly string[],
  done: (statement: string) => void = () => undefined,
): Promise<void> {
  const together = statements.length > 1 && statements.some((statement) => !ACCOUNTS.test(statement));
  if (statements.some((statement) => !leavesNothing(statement))) retire(connection);
  if (together) await query(connection, 'START TRANSACTION');
  try {
    for (const statement of statements) {
      await query(connection, statement);
      done(statement);
    }
    if (together) await query(connection, 'COMMIT');
  } catch (error) {
    if (together) await query(connection, 'ROLLBACK').catch(() => undefined);
    throw error;
  }
}

function leavesNothing(statement: string): boolean {
  return ROWS.test(statement) || (ACCOUNTS.test(statement) && !/^CREATE\b.*\bTEMPORARY\b/is.test(statement));
}
