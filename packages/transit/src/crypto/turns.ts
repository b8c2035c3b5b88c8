import type { EngineRequest } from '@strongroom/engine-sdk';
import { setImmediate } from 'node:timers/promises';

/** What a slice may cost before others get their turn; about two milliseconds. */
const SLICE = 80;

/** The costs of one item: a symmetric operation of a few kilobytes is 1. */
export const COST = { symmetric: (bytes: number): number => 1 + bytes / 4_096, asymmetric: 40 } as const;

/** The signal is asked for here alone: it is made for those who ask. */
async function pause(caller: Pick<EngineRequest, 'signal'>): Promise<void> {
  await setImmediate();
  caller.signal.throwIfAborted();
}

/** Lets other requests run between the items of a batch. */
export class Turns {
  #spent = 0;

  /** Call it before each item, and wait for what it returns, if anything. Ends with the reason of the caller's signal where that is aborted. */
  take(cost: number, caller: Pick<EngineRequest, 'signal'>): Promise<void> | undefined {
    this.#spent += cost;
    if (this.#spent < SLICE) return undefined;
    this.#spent = 0;
    return pause(caller);
  }
}
