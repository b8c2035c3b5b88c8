import type { Server, ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';

/** The socket of a connection, and what it had received when it was last looked at. */
interface Connection {
  readonly socket: Socket;
  received: number;
  /** Looks in a row in which nothing had arrived. */
  quiet: number;
}

/** Node's own `closeIdleConnections` asks the same of a socket. */
type AnsweringSocket = Socket & { readonly _httpMessage?: ServerResponse | null };

/**
 * The connections of a server, for its end. Node counts a connection as idle only once a request of it was answered: one on which a client has sent nothing yet,
 * as browsers and load balancers open them in advance, would hold up the end.
 */
export class OpenConnections {
  /** By the address of the client: the socket of TLS takes the place of the one below it. */
  readonly #open = new Map<string | Socket, Connection>();

  constructor(server: Server | SecureServer) {
    const add = (socket: Socket): void => {
      const { remoteAddress, remotePort } = socket;
      const key = remotePort === undefined ? socket : `${remoteAddress} ${remotePort}`;
      const connection = { socket, received: 0, quiet: 0 };
      this.#open.set(key, connection);
      socket.once('close', () => {
        if (this.#open.get(key) === connection) this.#open.delete(key);
      });
    };
    server.on('connection', add);
    server.on('secureConnection', add);
  }

  /** Closes connections on which no head of a request is complete, once nothing has arrived for `looks` calls in a row. */
  closeUnused(looks: number): void {
    for (const connection of this.#open.values()) {
      const { socket } = connection;
      const { bytesRead } = socket;
      connection.quiet = bytesRead === connection.received ? connection.quiet + 1 : 0;
      connection.received = bytesRead;
      if (connection.quiet >= looks && !(socket as AnsweringSocket)._httpMessage) socket.destroy();
    }
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
