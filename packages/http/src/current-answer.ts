import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Whether the rest of a request still arrives that has been answered whole. */
export function answeredEarly(socket: Duplex & { readonly parser?: { readonly incoming?: IncomingMessage | null } | null }): boolean {
  return currentAnswer(socket) === undefined && socket.parser?.incoming?.complete === false;
}

/** The answer that is being given on a connection, until all of it is handed to the system. Node's own `closeIdleConnections` asks the same of a socket. */
export function currentAnswer(socket: Duplex & { readonly _httpMessage?: ServerResponse | null }): ServerResponse | undefined {
  return socket._httpMessage ?? undefined;
}
