import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '@strongroom/engine-sdk';
import { askForBody } from './expectation.ts';

/** A caller who sends nothing for so long is cut off. Milliseconds. */
const PATIENCE = 30_000;

/** Sockets on which such a body comes. */
const streaming = new WeakSet<Duplex>();

/** Whether a body comes on the socket that may take its time: `requestTimeout` does not hold for it. */
export function takesItsTime(socket: Duplex): boolean {
  return streaming.has(socket);
}

/** The caller went away, or sends nothing any more. */
export class BodyCutOff extends Error {
  override readonly name = 'BodyCutOff';
}

/**
 * The body of a request as it comes: nothing of it is asked for, or kept, before somebody reads it. It may take as long as it goes on coming: the server's own time
 * limit does not hold for it, where `acceptListVerb` has the server leave late requests to this package.
 */
export async function* streamedBody(request: IncomingMessage, response: ServerResponse, clock: Clock): AsyncGenerator<Uint8Array> {
  const { socket } = request;
  streaming.add(socket);
  askForBody(request, response);
  let settle: (() => void) | undefined;
  let over: Error | undefined;
  let ended = request.readableEnded;
  const wake = (): void => settle?.();
  const fail = (error: Error): void => {
    if (!ended) over ??= error;
    wake();
  };
  const listeners = {
    readable: wake,
    end: () => {
      ended = true;
      wake();
    },
    close: () => fail(new BodyCutOff('the caller went away')),
    error: () => fail(new BodyCutOff('the caller went away')),
  };
  for (const [event, listener] of Object.entries(listeners)) request.on(event, listener);
  try {
    for (;;) {
      const chunk = request.read() as Buffer | null;
      if (chunk !== null) {
        yield chunk;
        continue;
      }
      if (over) throw over;
      if (ended || request.readableEnded) return;
      const cancel = clock.after(PATIENCE, () => fail(new BodyCutOff(`no data arrived for ${PATIENCE / 1_000} s`)));
      await new Promise<void>((resolve) => (settle = resolve));
      cancel();
    }
  } finally {
    streaming.delete(socket);
    for (const [event, listener] of Object.entries(listeners)) request.removeListener(event, listener);
  }
}
