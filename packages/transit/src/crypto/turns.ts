import { setImmediate } from 'node:timers/promises';

/** What a slice may cost before others get their turn; about five milliseconds. */
const SLICE = 200;

/** The costs of one item: a symmetric operation of a few kilobytes is 1. */
export const COST = { symmetric: (bytes: number): number => 1 + bytes / 4_096, asymmetric: 40 } as const;

/** Lets other requests run between the items of a batch. */
export class Turns {
  #spent = 0;

  /** Call it before each item. Ends with the reason of the signal where that is aborted. */
  async take(cost: number, signal: AbortSignal): Promise<void> {
    this.#spent += cost;
    if (this.#spent < SLICE) return;
    this.#spent = 0;
    await setImmediate();
    signal.throwIfAborted();
  }
}
