import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { endWith } from './client-fault.ts';
import { answeredEarly, currentAnswer } from './current-answer.ts';
import { othersWait } from './pipelined-requests.ts';
import { takesItsTime } from './streamed-request.ts';

/** Bytes with which a request that has not arrived whole goes on. */
const LEAST_BYTES = 64;

/** The socket of a connection, and what it had received when it was last looked at. */
interface Connection {
  /** Undefined once it is closed: a table that the map has outgrown may hold the connection for long, see `LinkedList`. */
  socket: Socket | undefined;
  received: number;
  /** Looks in a row that found nothing new. */
  quiet: number;
}

/**
 * The connections of a server, for its end. `closeIdleConnections` of Node does not fit: to it a connection is idle only once a request of it was answered, so that one
 * that a browser or a load balancer has opened in advance would hold up the end; and an answer is given once its last part is written, although a slow reader has yet
 * to get it.
 */
export class OpenConnections {
  /** By the addresses of both ends: the socket of TLS takes the place of the one below it. */
  readonly #open = new Map<string | Socket, Connection>();

  constructor(server: Server | SecureServer) {
    const add = (socket: Socket): void => {
      const { remoteAddress, remotePort, localAddress, localPort } = socket;
      const key = remotePort === undefined ? socket : [remoteAddress, remotePort, localAddress, localPort].join(' ');
      const connection: Connection = { socket, received: 0, quiet: 0 };
      this.#open.set(key, connection);
      socket.once('close', () => {
        connection.socket = undefined;
        if (this.#open.get(key) === connection) this.#open.delete(key);
      });
    };
    server.on('connection', add);
    server.on('secureConnection', add);
  }

  /** Has the answers under way say that the connection is closed, where they are the last ones of their connections. */
  endWithAnswers(): void {
    for (const { socket } of this.#open.values()) {
      const answer = socket && currentAnswer(socket);
      if (answer && !answer.headersSent && !othersWait(socket)) answer.shouldKeepAlive = false;
    }
  }

  /**
   * Closes connections on which nothing has arrived, and nothing was answered or sent, for `looks` calls in a row. One on which next to nothing of the rest of a request arrives
   * is answered first, after `late` calls.
   */
  closeUnused(looks: number, late: number): void {
    for (const connection of this.#open.values()) {
      const { socket } = connection;
      if (!socket) continue;
      const answer = currentAnswer(socket);
      const incomplete = answer !== undefined && !answer.req.complete && !answer.headersSent && !takesItsTime(socket);
      const arrived = socket.bytesRead - connection.received;
      const goesOn = arrived >= (incomplete ? LEAST_BYTES : 1) && !answeredEarly(socket);
      if (goesOn || socket.writableLength > 0 || (answer && !incomplete)) {
        connection.quiet = 0;
        connection.received = socket.bytesRead;
        continue;
      }
      connection.quiet += 1;
      if (!incomplete && connection.quiet >= looks) socket.destroy();
      else if (connection.quiet >= late) endWith(socket, 503, ['the server is stopping, and the rest of the request did not arrive']);
    }
  }

  closeAll(): void {
    for (const { socket } of this.#open.values()) socket?.destroy();
  }
}

const ofServers = new WeakMap<Server | SecureServer, OpenConnections>();

/** Keeps account of the connections of a server that does not listen yet. */
export function trackConnections(server: Server | SecureServer): void {
  ofServers.set(server, new OpenConnections(server));
}

/** The connections of a server; undefined where nobody keeps account. */
export function connectionsOf(server: Server | SecureServer): OpenConnections | undefined {
  return ofServers.get(server);
}
