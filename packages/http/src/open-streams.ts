import type { Server, ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Clock, StreamedBody } from '@strongroom/engine-sdk';

/** A caller who takes nothing for so long is cut off. Milliseconds. */
const PATIENCE = 30_000;

/** The streams that are being sent. */
export class OpenStreams {
  readonly #clock: Clock;
  readonly #open = new Set<AbortController>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sends a body as it comes about. The head is written already. Resolves when the body has ended, the caller left or was cut off, or the server stops. Never rejects. */
  async send(response: ServerResponse, body: StreamedBody): Promise<void> {
    const over = new AbortController();
    this.#open.add(over);
    response.once('close', () => over.abort(new Error('the caller went away')));
    if (response.destroyed) over.abort(new Error('the caller went away'));
    response.flushHeaders();
    try {
      for await (const chunk of body.open(over.signal)) {
        if (response.destroyed) break;
        if (!response.write(chunk) && !(await this.#drained(response, over.signal))) break;
      }
      // What was not taken in time is not waited for.
      if (response.writableNeedDrain) response.destroy();
      else response.end();
    } catch {
      // The end of a body that failed must not look like its end.
      response.destroy();
    } finally {
      this.#open.delete(over);
    }
  }

  /** Tells all bodies to end. */
  end(reason: Error): void {
    for (const over of this.#open) over.abort(reason);
  }

  /** False where the caller takes nothing, or there is nobody to send to. */
  #drained(response: ServerResponse, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (taken: boolean): void => {
        cancel();
        response.removeListener('drain', drained);
        signal.removeEventListener('abort', left);
        resolve(taken);
      };
      const drained = (): void => settle(true);
      const left = (): void => settle(false);
      const cancel = this.#clock.after(PATIENCE, left);
      response.once('drain', drained);
      if (signal.aborted) left();
      else signal.addEventListener('abort', left, { once: true });
    });
  }
}

const ofServers = new WeakMap<Server | SecureServer, OpenStreams>();

/** Has the streams end when the server is stopped. */
export function endsWith(server: Server | SecureServer, streams: OpenStreams): void {
  ofServers.set(server, streams);
}

/** Ends the streams of a server that stops. */
export function endStreams(server: Server | SecureServer): void {
  ofServers.get(server)?.end(new Error('the server is stopping'));
}
