import { EngineError, Unavailable, UpstreamFailed, type Circuit, type Clock } from '@strongroom/engine-sdk';
import { CircuitBreakers } from './circuit-breaker.ts';

interface Lane {
  active: number;
  readonly waiting: (() => void)[];
}

/** Work for one outside system at a time, and how many may stand in line before more is put off. */
const ACTIVE = 16;
const WAITING = 48;
const PUT_OFF = 5_000;
/** What work returns that found nothing to do: it says nothing about the outside system. */
export const NOT_TRIED = Symbol('not tried');

/** What came of work behind the gate. `putOff`: it was not tried; come back after so many milliseconds, or not at all after 0. */
export type Passed<T> = { readonly done: T } | { readonly failed: unknown } | { readonly putOff: number };

/** One outside system of one mount, which is given by its uuid: two mounts may call theirs by the same name. '' for none in particular. */
export function targetKey(mount: string, target = ''): string {
  return `${mount}/${target}`;
}

/** All background work on outside systems passes here: a bounded number at a time per target, none while its circuit is open. */
export class TargetGate {
  readonly breakers: CircuitBreakers;
  readonly #lanes = new Map<string, Lane>();
  readonly #random: () => number;
  /** The signals that work behind the gate was given, by its target. */
  readonly #inside = new WeakMap<AbortSignal, string>();

  readonly #requireAlive: () => void;

  /** `requireAlive` throws where this process may not begin anything outside. */
  constructor(clock: Clock, options: { random?: () => number; requireAlive?: () => void } = {}) {
    const { random = Math.random, requireAlive = () => undefined } = options;
    this.#requireAlive = requireAlive;
    this.breakers = new CircuitBreakers(clock);
    this.#random = random;
  }

  /** `work` may return NOT_TRIED; a throw of it counts as a failure of the target, unless it says otherwise. It marks its signal with `admit`. */
  async pass<T>(target: string, work: (admit: (signal: AbortSignal) => void) => Promise<T>): Promise<Passed<Exclude<T, typeof NOT_TRIED>>> {
    const lane = this.#lane(target);
    if (lane.active >= ACTIVE) {
      if (lane.waiting.length >= WAITING) return { putOff: this.#spread(PUT_OFF) };
      await new Promise<void>((resolve) => lane.waiting.push(resolve));
    } else {
      lane.active += 1;
    }
    try {
      if (!this.#alive()) return { putOff: this.#spread(PUT_OFF) };
      const wait = this.breakers.wait(target);
      if (wait > 0) return { putOff: this.#spread(wait) };
      const done = await work((signal) => this.#inside.set(signal, target));
      if (done === NOT_TRIED) {
        this.breakers.released(target);
        return { putOff: 0 };
      }
      this.breakers.succeeded(target);
      return { done: done as Exclude<T, typeof NOT_TRIED> };
    } catch (failed) {
      this.#count(target, failed);
      return { failed };
    } finally {
      const next = lane.waiting.shift();
      if (next) next();
      else {
        lane.active -= 1;
        if (lane.active === 0) this.#lanes.delete(target);
      }
    }
  }

  /** The same circuit for the calls that requests make; `name` is what they read. */
  circuit(target: string, name: string): Circuit {
    const { breakers } = this;
    const refuse = (wait: number): void => {
      if (wait <= 0) return;
      const seconds = Math.max(1, Math.ceil(wait / 1_000));
      const { failures } = breakers.status(target);
      throw new Unavailable(`${JSON.stringify(name)} failed ${failures} times in a row and is left alone; try again in ${seconds} s`, {
        headers: { 'Retry-After': String(seconds) },
      });
    };
    return {
      check: () => {
        this.#requireAlive();
        refuse(breakers.peek(target));
      },
      call: async (signal, work) => {
        if (this.#inside.get(signal) === target) return work();
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
      isBackground: (signal) => this.#inside.get(signal) === target,
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

  /** A crowd that is put off does not come back at one moment. */
  #spread(millis: number): number {
    return Math.round(millis * (1 + this.#random()));
  }

  #lane(target: string): Lane {
    let lane = this.#lanes.get(target);
    if (!lane) {
      lane = { active: 0, waiting: [] };
      this.#lanes.set(target, lane);
    }
    return lane;
  }
}
