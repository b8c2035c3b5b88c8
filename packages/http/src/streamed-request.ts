import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@strongroom/engine-sdk';
import { askForBody } from './expectation.ts';

/** A caller who sends nothing for so long is cut off. Milliseconds. */
const PATIENCE = 30_000;

/** The caller went away, or sends nothing any more. */
export class BodyCutOff extends Error {
  override readonly name = 'BodyCutOff';
}

/**
 * The body of a request as it comes: nothing of it is asked for, or kept, before somebody reads it. It may take as long as it goes on coming, so its connection
 * is not watched by the server's own time limits any more, and ends with the answer.
 */
export async function* streamedBody(request: IncomingMessage, response: ServerResponse, clock: Clock): AsyncGenerator<Uint8Array> {
  unwatch(request);
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
      const cancel = clock.after(PATIENCE, () => fail(new BodyCutOff(`the body did not go on for ${PATIENCE / 1_000} s`)));
      await new Promise<void>((resolve) => (settle = resolve));
      cancel();
    }
  } finally {
    for (const [event, listener] of Object.entries(listeners)) request.removeListener(event, listener);
  }
}

/** Takes the connection from those whose requests have to arrive within `requestTimeout`. Node has no other way for a single request. */
function unwatch({ socket }: IncomingMessage): void {
  (socket as { parser?: { remove?(): void } | null }).parser?.remove?.();
}
