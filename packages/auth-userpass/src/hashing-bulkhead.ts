import { abortable, TooManyRequests } from '@strongroom/engine-sdk';

export interface HashingLimits {
  /** Hashes under way at once. */
  readonly running: number;
  /** That may wait in each queue. */
  readonly waiting: number;
}

/**
 * Hashing occupies a thread of the pool that file access and name resolution need too. So only some hash at once, and the others wait, each mount in a queue of
 * its own; queues are served in turn, so that a flood of logins on one mount does not hold up another.
 */
export class HashingBulkhead {
  readonly #limits: HashingLimits;
  #running = 0;
  /** Those in which somebody waits, the next one first. */
  readonly #queues: HashingQueue[] = [];

  constructor(limits: HashingLimits) {
    this.#limits = limits;
  }

  queue(): HashingQueue {
    return new HashingQueue(this);
  }

  /** @throws TooManyRequests when the queue is full, the signal's reason when it is aborted */
  async enter(queue: HashingQueue, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < this.#limits.running) {
      this.#running += 1;
      return;
    }
    if (queue.waiting.length >= this.#limits.waiting) {
      throw new TooManyRequests('too many passwords are being checked; try again in a moment', { headers: { 'Retry-After': '1' } });
    }
    let start = (): void => undefined;
    const turn = new Promise<void>((resolve) => (start = resolve));
    if (queue.waiting.push(start) === 1) this.#queues.push(queue);
    try {
      await abortable(signal, turn);
    } catch (error) {
      const place = queue.waiting.indexOf(start);
      if (place < 0) this.leave();
      else queue.waiting.splice(place, 1);
      if (queue.waiting.length === 0 && this.#queues.includes(queue)) this.#queues.splice(this.#queues.indexOf(queue), 1);
      throw error;
    }
  }

  leave(): void {
    const queue = this.#queues.shift();
    if (!queue) {
      this.#running -= 1;
      return;
    }
    const start = queue.waiting.shift()!;
    if (queue.waiting.length > 0) this.#queues.push(queue);
    start();
  }
}

/** The place of one mount in the bulkhead. */
export class HashingQueue {
  readonly waiting: (() => void)[] = [];
  readonly #bulkhead: HashingBulkhead;

  constructor(bulkhead: HashingBulkhead) {
    this.#bulkhead = bulkhead;
  }

  /** @throws TooManyRequests when too many wait, the signal's reason, and what the work throws */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#bulkhead.enter(this, signal);
    try {
      return await work();
    } finally {
      this.#bulkhead.leave();
    }
  }
}
