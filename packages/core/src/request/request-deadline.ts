import { EngineError, type Clock } from '@strongroom/engine-sdk';
import type { Ending } from '../kernel/mounts/ending.ts';

/** Milliseconds a request may take. */
const DEADLINE = 90_000;

/** The request took too long; what it began outside is undone by the journal. */
export class DeadlinePassed extends EngineError {
  override readonly status = 504;
}

/**
 * The deadline of one request, which is over sooner where its caller goes away or its mount comes to an end. It holds for every handler. A signal of its own, with a
 * timer, is made when somebody first asks for it: most requests answer from storage alone.
 */
export class RequestDeadline {
  /** Milliseconds since the epoch. */
  readonly began: number;
  readonly #clock: Clock;
  readonly #caller: { readonly signal?: AbortSignal };
  readonly #ending: Ending | undefined;
  readonly #finishes: boolean;
  #controller: AbortController | undefined;
  #abandon: ((reason: Error) => void) | undefined;
  #cancel: (() => void) | undefined;
  #stopHearing: (() => void) | undefined;
  #over: Error | undefined;

  /**
   * The caller's own signal is not asked for before it is needed: adapters make it at that moment. `finishes`: the handler is the core's own, which may be
   * what brings the end about, such as a seal; it is ended only where it listens to its signal.
   */
  constructor(clock: Clock, caller: { readonly signal?: AbortSignal }, mount?: { readonly ending: Ending; readonly finishes: boolean }) {
    this.#clock = clock;
    this.#caller = caller;
    this.#ending = mount?.ending;
    this.#finishes = mount?.finishes ?? false;
    this.began = clock.millis();
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#over) this.#controller.abort(this.#over);
      else {
        this.#cancel = this.#clock.after(DEADLINE, this.pass);
        const { signal } = this.#caller;
        if (signal?.aborted) this.#leave();
        else signal?.addEventListener('abort', this.#leave, { once: true });
        this.#hear();
      }
    }
    return this.#controller.signal;
  }

  /** What the work gives, or a rejection once the deadline has passed, the caller went away or the mount ends; the work itself may go on. */
  guard<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#abandon = reject;
      const overdue = overdueOf(this.#clock);
      overdue.add(this);
      if (!this.#finishes) this.#hear();
      work().then(
        (result) => {
          this.#clear(overdue);
          resolve(result);
        },
        (error: unknown) => {
          this.#clear(overdue);
          reject(error as Error);
        },
      );
      if (this.#over) reject(this.#over);
    });
  }

  #hear(): void {
    this.#stopHearing ??= this.#ending?.heard(this.#end);
  }

  #clear(overdue: Overdue): void {
    this.#abandon = undefined;
    overdue.delete(this);
    this.#stopHearing?.();
    if (!this.#controller) return;
    this.#cancel?.();
    this.#caller.signal?.removeEventListener('abort', this.#leave);
  }

  /** The time is over. */
  readonly pass = (): void => this.#end(new DeadlinePassed(`no answer within ${DEADLINE / 1_000} s`));

  readonly #leave = (): void => this.#end(new DeadlinePassed('the caller went away'));

  readonly #end = (reason: Error): void => {
    this.#over ??= reason;
    this.#controller?.abort(reason);
    this.#abandon?.(reason);
  };
}

/** The requests under way on one clock, the oldest first, with one timer for all of them. */
class Overdue {
  readonly #clock: Clock;
  readonly #open = new Set<RequestDeadline>();
  #armed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(request: RequestDeadline): void {
    this.#open.add(request);
    if (!this.#armed) this.#arm(DEADLINE);
  }

  delete(request: RequestDeadline): void {
    this.#open.delete(request);
  }

  #arm(millis: number): void {
    this.#armed = true;
    this.#clock.after(millis, () => {
      this.#armed = false;
      const now = this.#clock.millis();
      for (const request of this.#open) {
        const left = request.began + DEADLINE - now;
        if (left > 0) return this.#arm(left);
        this.#open.delete(request);
        request.pass();
      }
    });
  }
}

const all = new WeakMap<Clock, Overdue>();

function overdueOf(clock: Clock): Overdue {
  let found = all.get(clock);
  if (!found) all.set(clock, (found = new Overdue(clock)));
  return found;
}
