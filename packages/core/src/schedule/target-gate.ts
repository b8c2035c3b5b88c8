import type { Clock } from '@strongroom/engine-sdk';
import { CircuitBreakers } from './circuit-breaker.ts';

interface Lane {
  active: number;
  readonly waiting: (() => void)[];
}

/** Work for one outside system at a time, and how many may stand in line before more is put off. */
const ACTIVE = 16;
const WAITING = 256;
const PUT_OFF = 1_000;

/** What came of work behind the gate. `putOff`: it was not tried; come back after so many milliseconds. */
export type Passed<T> = { readonly done: T } | { readonly failed: unknown } | { readonly putOff: number };

/**
 * All background work on outside systems passes here: a bounded number at a time per target, none while its circuit is open.
 * Work without a target passes in a lane of its own.
 */
export class TargetGate {
  readonly breakers: CircuitBreakers;
  readonly #lanes = new Map<string, Lane>();

  constructor(clock: Clock) {
    this.breakers = new CircuitBreakers(clock);
  }

  async pass<T>(target: string | undefined, work: () => Promise<T>): Promise<Passed<T>> {
    const lane = this.#lane(target ?? '');
    if (lane.active >= ACTIVE) {
      if (lane.waiting.length >= WAITING) return { putOff: PUT_OFF };
      await new Promise<void>((resolve) => lane.waiting.push(resolve));
    } else {
      lane.active += 1;
    }
    try {
      const wait = this.breakers.wait(target);
      if (wait > 0) return { putOff: wait };
      const done = await work();
      this.breakers.succeeded(target);
      return { done };
    } catch (failed) {
      this.breakers.failed(target);
      return { failed };
    } finally {
      const next = lane.waiting.shift();
      if (next) next();
      else {
        lane.active -= 1;
        if (lane.active === 0) this.#lanes.delete(target ?? '');
      }
    }
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
  const controller = new AbortController();
  const abort = (): void => controller.abort(parent.reason);
  if (parent.aborted) abort();
  else parent.addEventListener('abort', abort, { once: true });
  let cancel: (() => void) | undefined;
  try {
    return await Promise.race([
      work(controller.signal),
      new Promise<never>((_, reject) => {
        controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error), { once: true });
        cancel = clock.after(millis, () => controller.abort(new Error(`no answer within ${Math.round(millis / 1000)} s`)));
      }),
    ]);
  } finally {
    cancel?.();
    parent.removeEventListener('abort', abort);
  }
}
