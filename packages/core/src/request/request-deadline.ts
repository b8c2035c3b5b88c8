import { EngineError, type Clock } from '@strongroom/engine-sdk';

/** Milliseconds a request may take. */
const DEADLINE = 90_000;

/** The request took too long; what it began outside is undone by the journal. */
export class DeadlinePassed extends EngineError {
  override readonly status = 504;
}

/** The deadline of one request. Its timer is set when somebody first asks for the signal: most requests answer from storage alone. */
export class RequestDeadline {
  /** Never resolves; rejects when the deadline has passed or the caller went away. */
  readonly passed: Promise<never>;
  readonly #clock: Clock;
  readonly #parent: AbortSignal | undefined;
  #reject!: (reason: Error) => void;
  #controller: AbortController | undefined;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, parent: AbortSignal | undefined) {
    this.#clock = clock;
    this.#parent = parent;
    this.passed = new Promise<never>((_, reject) => {
      this.#reject = reject;
    });
    this.passed.catch(() => undefined);
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      this.#cancel = this.#clock.after(DEADLINE, () => this.#end(new DeadlinePassed(`no answer within ${DEADLINE / 1_000} s`)));
      if (this.#parent?.aborted) this.#end(new DeadlinePassed('the caller went away'));
      else this.#parent?.addEventListener('abort', this.#leave, { once: true });
    }
    return this.#controller.signal;
  }

  clear(): void {
    this.#cancel?.();
    this.#parent?.removeEventListener('abort', this.#leave);
  }

  readonly #leave = (): void => this.#end(new DeadlinePassed('the caller went away'));

  #end(reason: Error): void {
    this.#controller?.abort(reason);
    this.#reject(reason);
  }
}
