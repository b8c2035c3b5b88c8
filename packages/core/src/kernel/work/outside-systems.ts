import { EngineError, traced, Unavailable, UpstreamFailed, type Circuit, type Clock, type Tracer } from '@strongroom/engine-sdk';
import { Bulkhead } from './bulkhead.ts';
import { CircuitBreakers } from './circuit-breaker.ts';

/** Background work for one outside system at a time, and how much may wait in its queue before more is postponed. */
const LIMITS = { concurrent: 16, queued: 48 };
/** Milliseconds that work waits which finds the queue full. */
const WHEN_FULL = 5_000;
/** What work returns that found nothing to do: it says nothing about the outside system. */
export const NOT_TRIED = Symbol('not tried');

/**
 * What came of work on an outside system. `delay`: it was not tried; come back after this many milliseconds, or not at all if 0. `open`: because the circuit
 * breaker is open.
 */
export type Tried<T> = { readonly done: T } | { readonly failed: unknown } | { readonly delay: number; readonly open?: boolean };

/** One outside system of one mount, which is given by its uuid: two mounts may call theirs by the same name. '' for none in particular. */
export function targetKey(mount: string, target = ''): string {
  return `${mount}/${target}`;
}

/** Each outside system has a circuit breaker, which requests and background work share, and a bulkhead for background work. */
export class OutsideSystems {
  readonly breakers: CircuitBreakers;
  readonly #bulkheads = new Map<string, Bulkhead>();
  readonly #random: () => number;
  /** The signals that admitted work was given, by its target. */
  readonly #admitted = new WeakMap<AbortSignal, string>();
  readonly #requireAlive: () => void;
  readonly #tracer: Tracer | undefined;

  /** `requireAlive` throws where this process may not begin anything outside. */
  constructor(clock: Clock, options: { random?: () => number; requireAlive?: () => void; tracer?: Tracer } = {}) {
    const { random = Math.random, requireAlive = () => undefined } = options;
    this.#requireAlive = requireAlive;
    this.#tracer = options.tracer;
    this.breakers = new CircuitBreakers(clock);
    this.#random = random;
  }

  /** Whether work for this outside system has to wait for a place now. */
  isBusy(target: string): boolean {
    return this.#bulkheads.get(target)?.busy ?? false;
  }

  /**
   * Runs background work when the bulkhead has a place and the circuit breaker lets it through. `work` may return NOT_TRIED; a throw counts as a failure of the
   * system, unless it says otherwise or the signal was aborted. The work marks the signal that it hands on with `admit`.
   */
  async attempt<T>(
    target: string,
    signal: AbortSignal,
    work: (admit: (signal: AbortSignal) => void) => Promise<T>,
  ): Promise<Tried<Exclude<T, typeof NOT_TRIED>>> {
    const bulkhead = this.#bulkhead(target);
    if (bulkhead.full) return { delay: this.#spread(WHEN_FULL) };
    try {
      return await bulkhead.run(async () => this.#admit(target, signal, work));
    } finally {
      if (bulkhead.idle) this.#bulkheads.delete(target);
    }
  }

  async #admit<T>(
    target: string,
    signal: AbortSignal,
    work: (admit: (signal: AbortSignal) => void) => Promise<T>,
  ): Promise<Tried<Exclude<T, typeof NOT_TRIED>>> {
    try {
      if (!this.#alive()) return { delay: this.#spread(WHEN_FULL) };
      const wait = this.breakers.wait(target);
      if (wait > 0) return { delay: this.#spread(wait), open: true };
      const done = await work((limit) => this.#admitted.set(limit, target));
      if (done === NOT_TRIED) {
        this.breakers.released(target);
        return { delay: 0 };
      }
      this.breakers.succeeded(target);
      return { done: done as Exclude<T, typeof NOT_TRIED> };
    } catch (failed) {
      if (signal.aborted) this.breakers.released(target);
      else this.#count(target, failed);
      return { failed };
    }
  }

  /** The same circuit breaker for the calls that requests make; `name` is what they read. */
  circuit(target: string, name: string): Circuit {
    const { breakers } = this;
    const refuse = (wait: number): void => {
      if (wait <= 0) return;
      const seconds = Math.max(1, Math.ceil(wait / 1_000));
      const { failures } = breakers.status(target);
      throw new Unavailable(
        `${JSON.stringify(name)} failed ${failures} times in a row and its circuit breaker is open; try again in ${seconds} s`,
        {
          headers: { 'Retry-After': String(seconds) },
        },
      );
    };
    return {
      check: () => {
        this.#requireAlive();
        refuse(breakers.peek(target));
      },
      call: async (signal, asked) => {
        const work = (): ReturnType<typeof asked> =>
          traced(this.#tracer, 'outside call', asked, { kind: 'client', attributes: { 'strongroom.target': name } });
        if (this.#admitted.get(signal) === target) return work();
        this.#requireAlive();
        refuse(breakers.wait(target));
        try {
          const done = await work();
          breakers.succeeded(target);
          return done;
        } catch (error) {
          this.#count(target, error);
          throw error;
        }
      },
      isBackground: (signal) => this.#admitted.get(signal) === target,
      configure: (settings) => breakers.configure(target, settings),
      status: () => breakers.status(target),
      reset: () => breakers.succeeded(target),
    };
  }

  #alive(): boolean {
    try {
      this.#requireAlive();
      return true;
    } catch (error) {
      if (error instanceof Unavailable) return false;
      throw error;
    }
  }

  #count(target: string, error: unknown): void {
    if (error instanceof UpstreamFailed) {
      if (error.answered) this.breakers.succeeded(target);
      else this.breakers.failed(target);
    } else if (error instanceof EngineError && (error.status < 500 || error.status >= 503)) {
      // Refused before the system was asked, or the caller did not wait.
      this.breakers.released(target);
    } else this.breakers.failed(target);
  }

  /** A crowd that is postponed does not come back at one moment. */
  #spread(millis: number): number {
    return Math.round(millis * (1 + this.#random()));
  }

  #bulkhead(target: string): Bulkhead {
    let bulkhead = this.#bulkheads.get(target);
    if (!bulkhead) this.#bulkheads.set(target, (bulkhead = new Bulkhead(LIMITS)));
    return bulkhead;
  }
}
