import { retire, runInOrder, standardTransaction } from '@strongroom/database-knex';
import type { Connection } from 'mysql2';

/** Each is a transaction of its own: the server commits before and after it. */
const ACCOUNTS = /^(?:CREATE|ALTER|DROP|GRANT|REVOKE|RENAME|FLUSH|SET\s+PASSWORD|SET\s+DEFAULT\s+ROLE)\b/i;
const ROWS = /^(?:INSERT|UPDATE|DELETE|REPLACE)\b/i;

const TRANSACTION = { ...standardTransaction, begin: 'START TRANSACTION' };

/** Runs one statement as text. Statements that hold passwords are never prepared: the server would keep them. */
export function query(connection: Connection, sql: string): Promise<Record<string, unknown>[]> {
  return new Promise((resolve, reject) => {
    connection.query(sql, (error, rows) => (error ? reject(error) : resolve(rows as Record<string, unknown>[])));
  });
}

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
  if (!statements.every(leavesNothing)) retire(connection);
  const send = async (sql: string): Promise<void> => {
    await query(connection, sql);
    if (statements.includes(sql)) done(sql);
  };
  await runInOrder(send, statements, together ? TRANSACTION : undefined);
}

function leavesNothing(statement: string): boolean {
  return ROWS.test(statement) || (ACCOUNTS.test(statement) && !/^CREATE\b.*\bTEMPORARY\b/is.test(statement));
}
