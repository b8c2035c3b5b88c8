import { connect } from 'node:net';
import type { ConnectionDriver } from '@strongroom/database-knex';
import type { Client } from 'pg';
import type { Dialer } from './dial.ts';
import { isConnectionError } from './server-error.ts';

/** How long a cancelled statement may take to end before its connection is cut. */
const CANCEL_GRACE_MS = 2000;

const quiet = (): void => undefined;

/** How the pool handles the driver's connections. */
export function connectionDriver(dialer: Dialer): ConnectionDriver<Client> {
  return {
    client: 'pg',
    dial: async () => dialer.dial(),
    onEnd(client, listener) {
      client.on('error', listener).on('end', listener);
    },
    end: async (client) => client.end(),
    destroy: (client) => void client.end().catch(quiet),
    cancel,
    isLost: isConnectionError,
    isClean: (client) => client.getTransactionStatus() === 'I',
  };
}

/** Asks the server, over a connection of its own as the protocol wants, to stop what `client` is running; cuts it if that does not help. */
function cancel(client: Client, running: Promise<unknown>): void {
  const { processID, secretKey } = client as unknown as { processID: number | null; secretKey: number | null };
  if (typeof processID === 'number' && typeof secretKey === 'number') {
    const request = Buffer.alloc(16);
    request.writeInt32BE(16, 0);
    request.writeInt32BE(80_877_102, 4);
    request.writeInt32BE(processID, 8);
    request.writeInt32BE(secretKey, 12);
    const { host, port } = client;
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    socket.on('error', quiet).setTimeout(CANCEL_GRACE_MS, () => socket.destroy());
    socket.end(request);
  }
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  const cut = setTimeout(() => stream.destroy(), CANCEL_GRACE_MS).unref();
  running.then(quiet, quiet).finally(() => clearTimeout(cut));
}
