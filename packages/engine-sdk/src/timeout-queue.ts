import type { Clock } from './clock.ts';
import { LinkedList, type ListEntry } from './linked-list.ts';

interface Waiting<T> {
  readonly owner: T;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** A time that has begun: what `TimeoutQueue.delete` takes. */
export type QueuedTimeout<T> = ListEntry<Waiting<T>>;

/**
 * Timeouts of one length, with one timer for all of them. It suits what is many and ends before its time, such as requests: to add and to delete cost less
 * than a timer each.
 */
export class TimeoutQueue<T> {
  readonly #clock: Clock;
  readonly #millis: number;
  readonly #passed: (item: T) => void;
  /** The oldest first. */
  readonly #waiting = new LinkedList<Waiting<T>>();
  #armed = false;

  /** `passed` is called once for each item that is still there after so many milliseconds; the item is out of the queue then. It must not throw. */
  constructor(clock: Clock, millis: number, passed: (item: T) => void) {
    this.#clock = clock;
    this.#millis = millis;
    this.#passed = passed;
  }

  /** Begins the time of an item. `since`: milliseconds since the epoch; now by default. */
  add(item: T, since = this.#clock.millis()): QueuedTimeout<T> {
    const timeout = this.#waiting.add({ owner: item, since });
    if (!this.#armed) this.#arm(this.#millis);
    return timeout;
  }

  /** Nothing happens where its time is over, or it was deleted before. */
  delete(timeout: QueuedTimeout<T>): void {
    this.#waiting.remove(timeout);
  }

  #arm(millis: number): void {
    this.#armed = true;
    this.#clock.after(millis, () => {
      this.#armed = false;
      this.#pass();
    });
  }

  #pass(): void {
    const now = this.#clock.millis();
    for (let oldest = this.#waiting.first; oldest; oldest = this.#waiting.first) {
      const { owner, since } = oldest.item;
      const left = since + this.#millis - now;
      // The clock may have been set back.
      if (left > 0) return this.#arm(Math.min(left, this.#millis));
      this.#waiting.remove(oldest);
      this.#passed(owner);
    }
  }
}
