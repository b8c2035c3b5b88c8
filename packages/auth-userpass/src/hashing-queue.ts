import { abortable, TooManyRequests } from '@strongroom/engine-sdk';

export interface HashingLimits {
  /** Hashes under way at once. */
  readonly running: number;
  /** That may wait in each lane. */
  readonly waiting: number;
}

/**
 * Hashing occupies a thread of the pool that file access and name resolution need too. So only some hash at once, and the others wait, each mount in a lane of
 * its own; lanes are served in turn, so that a flood of logins on one mount does not hold up another.
 */
export class HashingQueue {
  readonly #limits: HashingLimits;
  #running = 0;
  /** Those in which somebody waits, the next one first. */
  readonly #lanes: HashingLane[] = [];

  constructor(limits: HashingLimits) {
    this.#limits = limits;
  }

  lane(): HashingLane {
    return new HashingLane(this);
  }

  /** @throws TooManyRequests when the lane is full, the signal's reason when it is aborted */
  async enter(lane: HashingLane, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < this.#limits.running) {
      this.#running += 1;
      return;
    }
    if (lane.waiting.length >= this.#limits.waiting) {
      throw new TooManyRequests('too many passwords are being checked; try again in a moment', { headers: { 'Retry-After': '1' } });
    }
    let start = (): void => undefined;
    const turn = new Promise<void>((resolve) => (start = resolve));
    if (lane.waiting.push(start) === 1) this.#lanes.push(lane);
    try {
      await abortable(signal, turn);
    } catch (error) {
      const place = lane.waiting.indexOf(start);
      if (place < 0) this.leave();
      else lane.waiting.splice(place, 1);
      if (lane.waiting.length === 0 && this.#lanes.includes(lane)) this.#lanes.splice(this.#lanes.indexOf(lane), 1);
      throw error;
    }
  }

  leave(): void {
    const lane = this.#lanes.shift();
    if (!lane) {
      this.#running -= 1;
      return;
    }
    const start = lane.waiting.shift()!;
    if (lane.waiting.length > 0) this.#lanes.push(lane);
    start();
  }
}

/** The place of one mount in the queue. */
export class HashingLane {
  readonly waiting: (() => void)[] = [];
  readonly #queue: HashingQueue;

  constructor(queue: HashingQueue) {
    this.#queue = queue;
  }

  /** @throws TooManyRequests when too many wait, the signal's reason, and what the work throws */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#queue.enter(this, signal);
    try {
      return await work();
    } finally {
      this.#queue.leave();
    }
  }
}
