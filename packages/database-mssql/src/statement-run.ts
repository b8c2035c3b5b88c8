import { retire } from '@strongroom/database-knex';
import type { MssqlConnectionHandle } from './dial.ts';

/** What leaves nothing behind in the session, whatever else it does. */
const LEAVES_NOTHING = /^(?:CREATE|ALTER|DROP|GRANT|REVOKE|DENY|INSERT|UPDATE|DELETE|EXEC|EXECUTE)\b/i;

/**
 * Runs statements all or nothing, each as a batch of its own, since some must be the first of theirs. If one may leave something behind in the
 * session, such as another database, the connection is not given to anybody else.
 */
export async function runTogether(handle: MssqlConnectionHandle, statements: readonly string[]): Promise<void> {
  if (statements.some((statement) => !LEAVES_NOTHING.test(statement))) retire(handle);
  const together = statements.length > 1;
  if (together) await handle.batch('BEGIN TRANSACTION');
  try {
    for (const statement of statements) await handle.batch(statement);
    if (together) await handle.batch('COMMIT TRANSACTION');
  } catch (error) {
    // Some errors have ended the transaction already.
    if (together) await handle.batch('IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION').catch(() => undefined);
    throw error;
  }
}
