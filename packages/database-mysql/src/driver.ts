import type { SqlDriver } from '@strongroom/database-knex';
import type { Connection } from 'mysql2';
import type { MysqlConnection } from './connection-schema.ts';
import type { MysqlTarget } from './connection-string.ts';
import { mysqlDialer } from './dial.ts';
import { mask } from './mask.ts';
import { changeOwnPassword } from './own-password.ts';
import { answers, isReadOnlyError } from './server-error.ts';
import { query, runStatements } from './statement-run.ts';
import { twoPasswords } from './two-passwords.ts';
import { createsUser, dropUser, hostsOf, listUsers, lockUser, revokeAndDrop } from './users.ts';

/** Checks the settings; connects to nothing. */
export function mysqlDriver(target: MysqlTarget, config: MysqlConnection): SqlDriver<Connection> {
  const dialer = mysqlDialer(target, config);
  return {
    client: 'mysql2',
    dial: async () => dialer.dial(),
    end: async (connection) => new Promise<void>((resolve) => connection.end(() => resolve())),
    // By its own `destroy` the driver forgets those who wait for an answer.
    destroy: (connection) => void streamOf(connection).destroy(),
    async cancel({ threadId }) {
      // Nothing but another connection reaches the server.
      const other = await dialer.dial();
      await query(other, `KILL CONNECTION ${Number(threadId)}`).finally(() => other.destroy());
    },
    run: runStatements,
    ...answers,
    isLost: (error) => answers.isLost(error) || isReadOnlyError(error),
    mask,
    probe: async (connection) => query(connection, 'SELECT 1'),
    async createUser(connection, username, statements, made) {
      const certain = statements.some((statement) => createsUser(statement, username));
      const absent = !certain && statements.length > 1 && (await hostsOf(connection, username))?.length === 0;
      await runStatements(connection, statements, (statement) => {
        if (absent || createsUser(statement, username)) made();
      });
    },
    dropHalfMade: dropUser,
    deleteUser: revokeAndDrop,
    userExists: async (connection, username) => (await hostsOf(connection, username))?.length !== 0,
    disableUser: lockUser,
    twoPasswords,
    changeOwnPassword,
    listUsers,
  };
}

function streamOf(connection: Connection): { destroy(): void } {
  return (connection as unknown as { stream: { destroy(): void } }).stream;
}
