import { EngineError, type Clock } from '@strongroom/engine-sdk';
import type { Ending } from '../mounts/ending.ts';

/** Milliseconds a request may take. */
const DEADLINE = 90_000;

/** The request took too long; what it began outside is undone by the journal. */
export class DeadlinePassed extends EngineError {
  override readonly status = 504;
}

/** The deadline of one request, which is over sooner where its caller goes away or its mount comes to an end. Its timer is set when somebody first asks for the signal: most requests answer from storage alone. */
export class RequestDeadline {
  readonly #clock: Clock;
  readonly #caller: { readonly signal?: AbortSignal };
  readonly #ending: Ending | undefined;
  #controller: AbortController | undefined;
  #abandon: ((reason: Error) => void) | undefined;
  #cancel: (() => void) | undefined;
  #stopHearing: (() => void) | undefined;

  /** The caller's own signal is not asked for before it is needed: adapters make it at that moment. */
  constructor(clock: Clock, caller: { readonly signal?: AbortSignal }, ending?: Ending) {
    this.#clock = clock;
    this.#caller = caller;
    this.#ending = ending;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      this.#cancel = this.#clock.after(DEADLINE, () => this.#end(new DeadlinePassed(`no answer within ${DEADLINE / 1_000} s`)));
      const { signal } = this.#caller;
      if (signal?.aborted) this.#leave();
      else signal?.addEventListener('abort', this.#leave, { once: true });
      this.#stopHearing = this.#ending?.heard((reason) => this.#end(reason));
    }
    return this.#controller.signal;
  }

  /** What the work gives, or a rejection once the deadline has passed, the caller went away or the mount ends; the work itself may go on. */
  guard<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#abandon = reject;
      work().then(
        (result) => {
          this.#clear();
          resolve(result);
        },
        (error: unknown) => {
          this.#clear();
          reject(error as Error);
        },
      );
      if (this.#controller?.signal.aborted) reject(this.#controller.signal.reason as Error);
    });
  }

  #clear(): void {
    this.#abandon = undefined;
    if (!this.#controller) return;
    this.#cancel?.();
    this.#stopHearing?.();
    this.#caller.signal?.removeEventListener('abort', this.#leave);
  }

  readonly #leave = (): void => this.#end(new DeadlinePassed('the caller went away'));

  #end(reason: Error): void {
    this.#controller?.abort(reason);
    this.#abandon?.(reason);
  }
}
