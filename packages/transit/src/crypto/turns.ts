import type { EngineRequest } from '@strongroom/engine-sdk';
import { setImmediate } from 'node:timers/promises';

/** What a slice may cost before others get their turn; about two milliseconds. */
const SLICE = 80;

/**
 * The costs of one item: a symmetric operation of a few kilobytes is 1. What Node does not do on another thread, signatures of digests, is `slow`: the private key of RSA-4096
 * takes four milliseconds of the main thread to sign, and a check with P-521 nine.
 */
export const COST = { symmetric: (bytes: number): number => 1 + bytes / 4_096, asymmetric: 40, slow: 5 * SLICE } as const;

/** The signal is asked for here alone: it is made for those who ask. */
async function pause(slices: number, caller: Pick<EngineRequest, 'signal'>): Promise<void> {
  // An answer takes several turns of the event loop: who held it up for long stands back for as many.
  for (let slice = 0; slice < slices; slice += 1) await setImmediate();
  caller.signal.throwIfAborted();
}

/** Lets other requests run between the items of a batch. */
export class Turns {
  #spent = 0;

  /** Call it before each item, and wait for what it returns, if anything. Ends with the reason of the caller's signal where that is aborted. */
  take(cost: number, caller: Pick<EngineRequest, 'signal'>): Promise<void> | undefined {
    this.#spent += cost;
    if (this.#spent < SLICE) return undefined;
    const slices = Math.floor(this.#spent / SLICE);
    this.#spent = 0;
    return pause(slices, caller);
  }
}
