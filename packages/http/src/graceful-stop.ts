import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { Server as NetServer } from 'node:net';
import { connectionsOf } from './open-connections.ts';
import { endStreams } from './open-streams.ts';

/** Milliseconds between two looks for connections that became idle. */
const LOOK = 20;
/** Looks without a byte after which a connection without a request is closed: a request may be on its way. */
const QUIET_LOOKS = 25;
/** Looks without 64 bytes after which the rest of a request is not waited for. */
const LATE_LOOKS = 100;

/**
 * Stops a server: it takes no new connections, streams end, and requests that have begun are answered to their end. So are those that arrive on open connections;
 * their answers say that the connection is closed. A connection of a `createHttpServer` on which nothing has arrived for half a second, and nothing is to be
 * answered, is closed. So is one on which less than 64 bytes of the rest of a request have arrived for two seconds, after an answer of status 503. Node's own rule for
 * other servers also cuts off answers that are still being sent. After `deadlineMs` what is left is cut off. Resolves when the last connection is closed; false when
 * some had to be cut off.
 */
export async function stopGracefully(server: Server | SecureServer, deadlineMs: number): Promise<boolean> {
  let orderly = true;
  const connections = connectionsOf(server);
  connections?.endWithAnswers();
  // Node itself asks for bodies where nobody listens for `checkContinue`.
  for (const event of ['request', 'checkContinue'].filter((one) => server.listenerCount(one) > 0)) {
    server.prependListener(event, (_request: IncomingMessage, response: ServerResponse) => {
      response.shouldKeepAlive = false;
    });
  }
  await new Promise<void>((resolve) => {
    const closeIdle = connections
      ? (): void => connections.closeUnused(QUIET_LOOKS, LATE_LOOKS)
      : (): void => {
          server.closeIdleConnections();
        };
    const look = setInterval(closeIdle, LOOK);
    const deadline = setTimeout(() => {
      orderly = false;
      server.closeAllConnections();
      connections?.closeAll();
    }, deadlineMs);
    const closed = (): void => {
      clearInterval(look);
      clearTimeout(deadline);
      // Ends the looks for requests that are late.
      if (connections) server.close(() => undefined);
      resolve();
    };
    // The method of node's HTTP servers closes idle connections by the rule above.
    if (connections) NetServer.prototype.close.call(server, closed);
    else server.close(closed);
    closeIdle();
    endStreams(server);
  });
  return orderly;
}
