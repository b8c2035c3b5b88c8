import { setMaxListeners } from 'node:events';
import type { Clock } from '@strongroom/engine-sdk';
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

/** All background work on outside systems passes here: a bounded number at a time per target, none while its circuit is open. */
export class TargetGate {
  readonly breakers: CircuitBreakers;
  readonly #lanes = new Map<string, Lane>();
  readonly #random: () => number;

  constructor(clock: Clock, random: () => number = Math.random) {
    this.breakers = new CircuitBreakers(clock);
    this.#random = random;
  }

  /** `work` may return NOT_TRIED; a throw of it counts as a failure of the target. */
  async pass<T>(target: string, work: () => Promise<T>): Promise<Passed<Exclude<T, typeof NOT_TRIED>>> {
    const lane = this.#lane(target);
    if (lane.active >= ACTIVE) {
      if (lane.waiting.length >= WAITING) return { putOff: this.#spread(PUT_OFF) };
      await new Promise<void>((resolve) => lane.waiting.push(resolve));
    } else {
      lane.active += 1;
    }
    try {
      const wait = this.breakers.wait(target);
      if (wait > 0) return { putOff: this.#spread(wait) };
      const done = await work();
      if (done === NOT_TRIED) {
        this.breakers.released(target);
        return { putOff: 0 };
      }
      this.breakers.succeeded(target);
      return { done: done as Exclude<T, typeof NOT_TRIED> };
    } catch (failed) {
      this.breakers.failed(target);
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

/** Runs work under a deadline: its signal is aborted, and its late outcome is ignored. */
export async function withDeadline<T>(
  clock: Clock,
  millis: number,
  parent: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent.throwIfAborted();
  const controller = new AbortController();
  let end!: (reason: unknown) => void;
  const ended = new Promise<never>((_, reject) => {
    end = (reason) => {
      controller.abort(reason);
      reject(reason as Error);
    };
  });
  const leave = (): void => end(parent.reason);
  // One signal, that of a server that stops, ends many pieces of work: no leak.
  setMaxListeners(0, parent);
  parent.addEventListener('abort', leave, { once: true });
  const cancel = clock.after(millis, () => end(new Error(`no answer within ${Math.round(millis / 1_000)} s`)));
  try {
    return await Promise.race([work(controller.signal), ended]);
  } finally {
    cancel();
    parent.removeEventListener('abort', leave);
  }
}
