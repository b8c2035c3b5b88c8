import type { ConnectionDriver } from '@strongroom/database-knex';
import type { Dialer, MssqlConnectionHandle } from './dial.ts';
import { isConnectionError } from './server-error.ts';

/** How long a cancelled batch may take to end before its connection is cut. */
const CANCEL_GRACE_MS = 2000;

const quiet = (): void => undefined;

/** How the pool handles the driver's connections. */
export function connectionDriver(dialer: Dialer): ConnectionDriver<MssqlConnectionHandle> {
  return {
    client: 'mssql',
    dial: async () => dialer.dial(),
    onEnd: (handle, listener) => handle.onEnd(listener),
    end: async (handle) => handle.close(),
    destroy: (handle) => handle.close(),
    cancel(handle, running) {
      handle.cancel();
      const cut = setTimeout(() => handle.close(), CANCEL_GRACE_MS).unref();
      void running.then(quiet, quiet).finally(() => clearTimeout(cut));
    },
    isLost: isConnectionError,
  };
}
