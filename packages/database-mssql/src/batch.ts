import { retire, runInOrder } from '@strongroom/database-knex';
import tedious, { type Connection } from 'tedious';

export type Row = Readonly<Record<string, unknown>>;

/** What leaves nothing behind in the session, whatever else it does. */
const LEAVES_NOTHING = /^(?:CREATE|ALTER|DROP|GRANT|REVOKE|DENY|INSERT|UPDATE|DELETE|EXEC|EXECUTE)\b/i;

const TRANSACTION = { begin: 'BEGIN TRANSACTION', commit: 'COMMIT TRANSACTION', rollback: 'IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION' };

/** Runs one batch as text. What holds a password is never prepared, nor passed to a procedure. */
export function batch(connection: Connection, sql: string): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const rows: Row[] = [];
    const request = new tedious.Request(sql, (error) => (error ? reject(error) : resolve(rows)));
    request.on('row', (columns: { metadata: { colName: string }; value: unknown }[]) => {
      rows.push(Object.fromEntries(columns.map(({ metadata, value }) => [metadata.colName, value])));
    });
    connection.execSqlBatch(request);
  });
}

/**
 * Runs statements all or nothing, each as a batch of its own, since some must be the first of theirs. If one may leave something behind in the
 * session, such as another database, the connection is not given to anybody else.
 */
export async function runTogether(connection: Connection, statements: readonly string[]): Promise<void> {
  if (statements.some((statement) => !LEAVES_NOTHING.test(statement))) retire(connection);
  await runInOrder(async (sql) => batch(connection, sql), statements, statements.length > 1 ? TRANSACTION : undefined);
}
