import type { IncomingMessage, ServerResponse } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/** The caller sends the body only when it is asked to: `Expect: 100-continue`. */
export function waitsForContinue(request: IncomingMessage): void {
  waiting.add(request);
}

/** Asks for the body, once it is wanted. Servers of others have asked already. */
export function askForBody(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) response.writeContinue();
}
