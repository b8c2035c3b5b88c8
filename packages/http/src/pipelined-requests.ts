import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that may wait while it is still read, so that the server notices a client that leaves. */
const MOST_WAITING = 100;

/**
 * Requests that a client sends before it has the answers to its earlier ones on the same connection. Node hands over all of them at once and keeps only their
 * answers in order. Their effects must keep that order, too: only safe methods may run side by side (RFC 9112, section 9.3.2).
 */
export class PipelinedRequests {
  readonly #waiting = new WeakMap<Socket, number>();

  /** Whether earlier requests of the connection are still unanswered. */
  static has(response: ServerResponse): boolean {
    return response.socket === null;
  }

  /** Calls `begin` once all earlier requests of the connection are answered, and never if the connection is closed before that. */
  wait({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
    // Node resumes the socket when this request's head ends, which is after this function returns.
    if (this.#count(socket, 1) === MOST_WAITING) setImmediate(() => this.#waiting.get(socket) && socket.pause());
    response.once('socket', () => {
      if (this.#count(socket, -1) === 0) socket.resume();
      begin();
    });
  }

  #count(socket: Socket, change: number): number {
    const count = (this.#waiting.get(socket) ?? 0) + change;
    this.#waiting.set(socket, count);
    return count;
  }
}
