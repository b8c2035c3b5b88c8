import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Requests of one connection that may wait while it is still read, so that the server notices a client that leaves. */
const MOST_WAITING = 100;

/** How many requests of a connection wait for earlier ones. */
const waiting = new WeakMap<Duplex, number>();
/** Connections that are not read for now. */
const heldBack = new WeakSet<Duplex>();
/** Of these, those on which the beginning of a request has become too old meanwhile. */
const overdue = new WeakSet<Duplex>();

/** Whether earlier requests of the connection are still unanswered. */
export function isPipelined(response: ServerResponse): boolean {
  return response.socket === null;
}

/** Whether requests that have arrived on the connection wait for the answer that is given now. */
export function othersWait(socket: Duplex): boolean {
  return (waiting.get(socket) ?? 0) > 0;
}

/** Whether a request is late because the server has not read on. Its time begins anew once the server does. */
export function excusesDelay(socket: Duplex): boolean {
  if (heldBack.has(socket)) overdue.add(socket);
  return heldBack.has(socket);
}

/**
 * Calls `begin` once all earlier requests of the connection are answered, and never if the connection is closed before that. Node hands over all requests of a
 * connection at once, and keeps only their answers in order. Their effects must keep that order, too: only safe methods may run side by side (RFC 9112, section 9.3.2).
 */
export function inTurn({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
  // Node resumes the socket when this request's head ends, which is after this function returns.
  if (counted(socket, 1) === MOST_WAITING) setImmediate(() => holdBack(socket));
  response.once('socket', () => {
    if (counted(socket, -1) === 0) readOn(socket);
    begin();
  });
}

function counted(socket: Duplex, change: number): number {
  const count = (waiting.get(socket) ?? 0) + change;
  waiting.set(socket, count);
  return count;
}

function holdBack(socket: Socket): void {
  if (!othersWait(socket)) return;
  heldBack.add(socket);
  socket.pause();
}

function readOn(socket: Socket): void {
  if (!heldBack.delete(socket)) return;
  socket.resume();
  if (overdue.delete(socket)) limitHead(socket);
}

/** Node has given up to watch the time of this request's head. */
function limitHead(socket: Socket & { readonly server?: Server }): void {
  const { server } = socket;
  if (!server) return;
  const onRequest = (request: IncomingMessage): void => {
    if (request.socket === socket) end();
  };
  const end = (): void => {
    clearTimeout(timer);
    server.off('request', onRequest);
    socket.off('close', end);
  };
  const timer = setTimeout(() => {
    end();
    socket.destroy();
  }, server.headersTimeout);
  server.on('request', onRequest);
  socket.once('close', end);
}
