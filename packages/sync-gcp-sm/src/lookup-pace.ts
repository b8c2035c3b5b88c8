import { setTimeout as sleep } from 'node:timers/promises';

/** Look-ups at once, and a second from then on: a project allows 600 reads a minute to all of its users together. */
const BURST = 250;
const PER_SECOND = 5;

export interface LookupClock {
  /** Of a clock that only goes forward. */
  millis(): number;
  /** Rejects with the signal's reason once it is aborted. */
  wait(millis: number, signal: AbortSignal): Promise<void>;
}

const realClock: LookupClock = {
  millis: () => performance.now(),
  wait: async (millis, signal) => {
    await sleep(millis, undefined, { signal });
  },
};

/** Keeps the look-ups of long lists, which are one call to the host, within the provider's quota. */
export class LookupPace {
  readonly #clock: LookupClock;
  #left = BURST;
  #at: number;

  constructor(clock: LookupClock = realClock) {
    this.#clock = clock;
    this.#at = clock.millis();
  }

  /** Resolves when this many may be made. Those who ask later wait for those who asked before. */
  async take(count: number, signal: AbortSignal): Promise<void> {
    const now = this.#clock.millis();
    this.#left = Math.min(BURST, this.#left + ((now - this.#at) / 1000) * PER_SECOND) - count;
    this.#at = now;
    if (this.#left < 0) await this.#clock.wait((-this.#left / PER_SECOND) * 1000, signal);
  }
}
