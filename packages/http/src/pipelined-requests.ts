import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { currentAnswer } from './current-answer.ts';

/** Requests of one connection that may wait while it is still read, so that the server notices a client that leaves. */
const MOST_WAITING = 100;
/** Milliseconds for a head, where the server does not say. */
const HEAD_MS = 10_000;

/** How many requests of a connection wait for earlier ones. */
const waiting = new WeakMap<Duplex, number>();
/** Connections that are not read for now. */
const heldBack = new WeakSet<Duplex>();
/** Connections that are held back at the end of this turn of the event loop. */
const aboutToHold = new WeakSet<Duplex>();
/** Of those held back, those on which the beginning of a request has become too old meanwhile. */
const overdue = new WeakSet<Duplex>();

/** Whether requests that have arrived on the connection wait for the answer that is given now. */
export function othersWait(socket: Duplex): boolean {
  return (waiting.get(socket) ?? 0) > 0;
}

/** True where a request is late because the server does not read on. Its time then starts again once the server does. */
export function postponesTimeout(socket: Duplex): boolean {
  if (!heldBack.has(socket)) return false;
  overdue.add(socket);
  return true;
}

/**
 * Calls `begin` once all earlier requests of the connection are answered, at once if they are, and never if the connection is closed before that. Node hands over all requests of a
 * connection at once, and keeps only their answers in order. Their effects must keep that order, too: only safe methods may run side by side (RFC 9112, section 9.3.2).
 */
export function inTurn({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
  // Node gives the socket to one answer after the other.
  if (response.socket !== null) {
    begin();
    return;
  }
  if (counted(socket, 1) >= MOST_WAITING) holdBackSoon(socket);
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

/** Node itself resumes the socket at the end of each head, and once it has sent enough. */
function holdBackSoon(socket: Socket): void {
  if (aboutToHold.has(socket)) return;
  aboutToHold.add(socket);
  setImmediate(() => {
    aboutToHold.delete(socket);
    if (!othersWait(socket)) return;
    heldBack.add(socket);
    socket.pause();
  });
}

function readOn(socket: Socket): void {
  if (!heldBack.delete(socket)) return;
  socket.resume();
  if (overdue.delete(socket)) limitHead(socket);
}

/** Node no longer watches the time of this head. From now on the connection is closed at the first look that finds no request of it under way. */
function limitHead(socket: Socket & { readonly server?: Server }): void {
  const looks = setInterval(() => {
    if (!currentAnswer(socket)) socket.destroy();
  }, socket.server?.headersTimeout ?? HEAD_MS);
  socket.once('close', () => clearInterval(looks));
}
