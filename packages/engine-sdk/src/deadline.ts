import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.ts';
import { requestOf, signalOf } from './request-of.ts';

/** How long a piece of work may take, and what ends it sooner. */
export interface DeadlineOptions {
  readonly clock: Clock;
  /** The longest that the work may take. Infinity: only the parent ends it. */
  readonly millis: number;
  /** Ends the work sooner, with its own reason. */
  readonly parent?: AbortSignal;
  /** The reason of the signal and of the rejection once the time is over. Default: `no answer within 60 s`. */
  readonly passed?: () => Error;
  /**
   * Milliseconds that the work has to end by itself once its signal is aborted; what it answers within them counts. Infinity waits however long it takes.
   * Default 0: the caller does not wait at all.
   */
  readonly grace?: number;
}

/** The work had not ended when its grace was over. `cause` is the reason that its signal was aborted with. */
export class DeadlineIgnored extends Error {}

/**
 * Runs work with a signal that is aborted when the time is over or the parent is aborted, and rejects with the same reason: at once, or after the grace.
 * Work that goes on regardless is left to itself, and its late outcome is ignored. Nothing begins where the parent is already aborted.
 * @throws the reason; DeadlineIgnored where there is a grace and the work did not end within it
 */
export async function withDeadline<T>(options: DeadlineOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, millis, parent, passed = () => new Error(`no answer within ${Math.round(millis / 1_000)} s`), grace = 0 } = options;
  parent?.throwIfAborted();
  const deadline = new Deadline();
  const leave = (): void => deadline.end(parent!.reason as Error);
  if (parent) {
    endsMuch(parent);
    parent.addEventListener('abort', leave, { once: true });
  }
  const cancel = millis === Infinity ? undefined : clock.after(millis, () => deadline.end(passed()));
  try {
    const signal = signalOf(deadline.signal, parent && requestOf(parent));
    return await deadline.guard(async () => work(signal), { clock, grace });
  } finally {
    cancel?.();
    parent?.removeEventListener('abort', leave);
  }
}

/** One signal, such as that of a server that stops or of a request that renews many accounts, ends many pieces of work: listeners are no leak. */
function endsMuch(signal: AbortSignal): void {
  // Not 0, which Node 20 takes for no setting: undici then refuses the signal.
  setMaxListeners(Infinity, signal);
}

/** Waits for the work, but no longer than a number of milliseconds: undefined then. The work goes on, and a late rejection is ignored. */
export async function waitAtMost<T>(clock: Clock, millis: number, work: Promise<T>): Promise<T | undefined> {
  let cancel!: () => void;
  const late = new Promise<undefined>((resolve) => {
    cancel = clock.after(millis, () => resolve(undefined));
  });
  return Promise.race([work, late]).finally(cancel);
}

/**
 * Waits for `work`, but no longer than until `signal` is aborted; then rejects with `signal.reason` at once and calls `onAbort`, which
 * should make the abandoned work end. A later failure of that work is swallowed.
 */
export async function abortable<T>(signal: AbortSignal, work: Promise<T>, onAbort?: () => void): Promise<T> {
  if (signal.aborted) {
    work.catch(() => undefined);
    onAbort?.();
    throw signal.reason;
  }
  return await new Promise<T>((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason);
      onAbort?.();
    };
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/**
 * The end of one piece of work, for whoever keeps the time: `end` is called when the time is over, or sooner. The signal is made when somebody first asks
 * for it, since most requests of a server never do. Use `withDeadline` unless many deadlines share one timer.
 */
export class Deadline {
  #controller: AbortController | undefined;
  #over: { readonly reason: Error } | undefined;
  #leave: ((reason: Error) => void) | undefined;

  /** Aborted at the end, with its reason. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      endsMuch(this.#controller.signal);
      if (this.#over) this.#controller.abort(this.#over.reason);
    }
    return this.#controller.signal;
  }

  /** Aborts the signal and rejects what `guard` gave. The first reason counts. */
  end(reason: Error): void {
    if (this.#over) return;
    this.#over = { reason };
    this.#controller?.abort(reason);
    this.#leave?.(reason);
  }

  /**
   * What the work gives, or a rejection at the end: at once, or after a grace, with DeadlineIgnored. `ended` is called when the work has ended, however
   * late. One piece of work after another may be guarded.
   */
  guard<T>(work: () => Promise<T>, options: GuardOptions = {}): Promise<T> {
    const { clock, grace = 0 } = options;
    return new Promise<T>((resolve, reject) => {
      let cancel: (() => void) | undefined;
      const leave = (reason: Error): void => {
        if (grace === 0) reject(reason);
        else if (grace !== Infinity)
          cancel = clock?.after(grace, () => reject(new DeadlineIgnored('did not end at its deadline', { cause: reason })));
      };
      const clear = (): void => {
        this.#leave = undefined;
        cancel?.();
        options.ended?.();
      };
      let running: Promise<T>;
      try {
        running = work();
      } catch (error) {
        clear();
        reject(error as Error);
        return;
      }
      this.#leave = leave;
      running.then(
        (result) => {
          clear();
          resolve(result);
        },
        (error: unknown) => {
          clear();
          reject(error as Error);
        },
      );
      if (this.#over) leave(this.#over.reason);
    });
  }
}

interface GuardOptions {
  readonly clock?: Clock;
  readonly grace?: number;
  ended?(): void;
}
