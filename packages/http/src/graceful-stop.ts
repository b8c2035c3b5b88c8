import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';

import { endStreams } from './open-streams.ts';

/** Milliseconds between two looks for connections that became idle. */
const LOOK = 20;

/**
 * Stops a server: it takes no new connections, idle ones are closed, streams end, and requests that have begun are answered. After
 * `deadlineMs` what is left is cut off. Resolves when the last connection is closed; false when some had to be cut off.
 */
export async function stopGracefully(server: Server | SecureServer, deadlineMs: number): Promise<boolean> {
  let orderly = true;
  await new Promise<void>((resolve) => {
    const look = setInterval(() => {
      server.closeIdleConnections();
    }, LOOK);
    const deadline = setTimeout(() => {
      orderly = false;
      server.closeAllConnections();
    }, deadlineMs);
    server.close(() => {
      clearInterval(look);
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
    endStreams(server);
  });
  return orderly;
}
