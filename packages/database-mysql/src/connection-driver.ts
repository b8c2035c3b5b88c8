import type { ConnectionDriver } from '@strongroom/database-knex';
import type { Connection } from 'mysql2';
import { type Dialer, query } from './dial.ts';
import { isConnectionError, isReadOnlyError } from './server-error.ts';

/** How long a killed statement may take to end before its connection is cut. */
const KILL_GRACE_MS = 2000;

const quiet = (): void => undefined;

/** How the pool handles the driver's connections. */
export function connectionDriver(dialer: Dialer): ConnectionDriver<Connection> {
  return {
    client: 'mysql2',
    dial: async () => dialer.dial(),
    onEnd(connection, listener) {
      connection.on('error', listener).on('end', listener);
    },
    end: async (connection) => new Promise<void>((resolve) => connection.end(() => resolve())),
    destroy: (connection) => connection.destroy(),
    cancel: (connection, running) => void kill(dialer, connection, running),
    isLost: (error) => isConnectionError(error) || isReadOnlyError(error),
  };
}

/** Has the server end what `connection` runs, over a connection of its own, since nothing else reaches it. Cuts it if that does not help. */
async function kill(dialer: Dialer, connection: Connection, running: Promise<unknown>): Promise<void> {
  const { stream } = connection as unknown as { stream: { destroy(): void } };
  const cut = setTimeout(() => stream.destroy(), KILL_GRACE_MS).unref();
  void running.then(quiet, quiet).finally(() => clearTimeout(cut));
  try {
    const other = await dialer.dial();
    try {
      await query(other, `KILL CONNECTION ${Number(connection.threadId)}`);
    } finally {
      other.destroy();
    }
  } catch {
    stream.destroy();
  }
}
