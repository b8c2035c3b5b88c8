import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { connectionsOf } from './open-connections.ts';
import { endStreams } from './open-streams.ts';

/** Milliseconds between two looks for connections that became idle. */
const LOOK = 20;
/** Looks without a byte after which a connection without a complete request is closed. */
const QUIET_LOOKS = 25;

/**
 * Stops a server: it takes no new connections, idle ones are closed, streams end, and requests that have begun are answered. Connections of a `createHttpServer`
 * on which no head of a request is complete are closed once nothing has arrived for half a second. After `deadlineMs` what is left is cut off. Resolves when the
 * last connection is closed; false when some had to be cut off.
 */
export async function stopGracefully(server: Server | SecureServer, deadlineMs: number): Promise<boolean> {
  let orderly = true;
  await new Promise<void>((resolve) => {
    const closeIdle = (): void => {
      server.closeIdleConnections();
      connectionsOf(server)?.closeUnused(QUIET_LOOKS);
    };
    const look = setInterval(closeIdle, LOOK);
    const deadline = setTimeout(() => {
      orderly = false;
      server.closeAllConnections();
    }, deadlineMs);
    server.close(() => {
      clearInterval(look);
      clearTimeout(deadline);
      resolve();
    });
    closeIdle();
    endStreams(server);
  });
  return orderly;
}
