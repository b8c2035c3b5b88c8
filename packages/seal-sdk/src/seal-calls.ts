import { abortable, foreignText, type Secrets } from '@strongroom/engine-sdk';
import { SealClosed, SealError } from './errors.ts';

/**
 * The calls of one session, as every plugin needs them: none after `close`, each ends with its signal, and what the service's library throws leaves as an
 * error of this package, without a secret in its text.
 */
export class SealCalls {
  readonly #translate: (error: unknown) => SealError;
  readonly #secrets: Secrets;
  #closed = false;

  /** `translate` turns what the service's library throws into an error of this package; the values of `secrets` are masked in its text. */
  constructor(translate: (error: unknown) => SealError, secrets: Secrets = {}) {
    this.#translate = translate;
    this.#secrets = secrets;
  }

  /** Runs `work`. Rejects with `signal.reason` as soon as the signal is aborted; pass the signal to the library too, if it takes one. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new SealClosed();
    signal.throwIfAborted();
    try {
      return await abortable(signal, work());
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const known = error instanceof SealError ? error : this.#translate(error);
      known.message = foreignText(known.message, this.#secrets);
      throw known;
    }
  }

  /** Later calls reject with SealClosed. True the first time. */
  close(): boolean {
    const first = !this.#closed;
    this.#closed = true;
    return first;
  }
}
