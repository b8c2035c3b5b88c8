import type { Clock } from './clock.ts';

/**
 * Timeouts of one length, with one timer for all of them. It suits what is many and ends before its time, such as requests: to add and to delete cost less
 * than a timer each.
 */
export class TimeoutQueue<T extends object> {
  readonly #clock: Clock;
  readonly #millis: number;
  readonly #passed: (item: T) => void;
  /** When each was added, in milliseconds since the epoch, the oldest first. */
  readonly #added = new Map<T, number>();
  #armed = false;

  /** `passed` is called once for each item that is still there after so many milliseconds; the item is out of the queue then. It must not throw. */
  constructor(clock: Clock, millis: number, passed: (item: T) => void) {
    this.#clock = clock;
    this.#millis = millis;
    this.#passed = passed;
  }

  /** Begins the time of an item, unless that has begun. `since`: milliseconds since the epoch; now by default. */
  add(item: T, since = this.#clock.millis()): void {
    if (this.#added.has(item)) return;
    this.#added.set(item, since);
    if (!this.#armed) this.#arm(this.#millis);
  }

  delete(item: T): void {
    this.#added.delete(item);
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
    for (const [item, since] of this.#added) {
      const left = since + this.#millis - now;
      // The clock may have been set back.
      if (left > 0) return this.#arm(Math.min(left, this.#millis));
      this.#added.delete(item);
      this.#passed(item);
    }
  }
}
