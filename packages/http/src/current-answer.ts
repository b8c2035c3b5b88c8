import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The answer that is being given on a connection, until all of it is handed to the system. Node's own `closeIdleConnections` asks the same of a socket. */
export function currentAnswer(socket: Duplex & { readonly _httpMessage?: ServerResponse | null }): ServerResponse | undefined {
  return socket._httpMessage ?? undefined;
}
