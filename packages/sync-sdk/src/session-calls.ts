import { AddressRefused, SessionClosed, SyncError } from './errors.ts';
import { addressRefusal } from './network-guard.ts';

/** What replaces a secret in the text of an error. */
const HIDDEN = '*****';
/** Shorter texts are not masked: they would turn up everywhere. */
const SHORTEST_SECRET = 4;

/**
 * The calls of one session, as every plugin needs them: none after `close`, each ends with its signal, and what a provider's library throws
 * leaves as an error of this package, without a secret in its text.
 */
export class SessionCalls {
  readonly #translate: (error: unknown) => SyncError;
  readonly #secrets: readonly string[];
  #closed = false;

  /** `translate` turns what the provider's library throws into an error of this package; `credentials` are struck out of its text. */
  constructor(translate: (error: unknown) => SyncError, credentials: readonly (string | undefined)[] = []) {
    this.#translate = translate;
    this.#secrets = credentials.filter((secret) => secret !== undefined);
  }

  /**
   * Runs `work`. Rejects with `signal.reason` as soon as the signal is aborted, whether or not `work` ends; hand the signal to the library
   * too, if it takes one. `value` is struck out of an error's text, like the credentials.
   */
  async run<T>(signal: AbortSignal, work: () => Promise<T>, value?: string): Promise<T> {
    if (this.#closed) throw new SessionClosed();
    signal.throwIfAborted();
    try {
      return await untilAborted(signal, work());
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw this.#leave(error, value);
    }
  }

  /** The same for items that come one after the other; the signal and `close` count before each. */
  async *each<T>(signal: AbortSignal, items: () => AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    let iterator: AsyncIterator<T> | undefined;
    try {
      for (;;) {
        const next = await this.run(signal, async () => {
          iterator ??= items()[Symbol.asyncIterator]();
          return await iterator.next();
        });
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      // A page that was cut off may never end, so nobody waits for it.
      iterator?.return?.().catch(() => undefined);
    }
  }

  /** Later calls reject with SessionClosed. True the first time. */
  close(): boolean {
    const first = !this.#closed;
    this.#closed = true;
    return first;
  }

  #leave(error: unknown, value: string | undefined): SyncError {
    const refused = addressRefusal(error);
    const known = error instanceof SyncError ? error : refused === undefined ? this.#translate(error) : new AddressRefused(refused.message);
    for (const secret of [...this.#secrets, ...(value === undefined ? [] : [value])]) {
      if (secret.length >= SHORTEST_SECRET) known.message = known.message.replaceAll(secret, HIDDEN);
    }
    return known;
  }
}

async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
