import type { Clock } from '@strongroom/engine-sdk';

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #millis: number;
  #timers: { at: number; callback: () => void }[] = [];

  constructor(start = '2030-01-02T03:04:05.678Z') {
    this.#millis = Date.parse(start);
  }

  now(): Date {
    return new Date(this.#millis);
  }

  millis(): number {
    return this.#millis;
  }

  after(millis: number, callback: () => void): () => void {
    const timer = { at: this.#millis + millis, callback };
    this.#timers.push(timer);
    return () => void (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.length;
  }

  advance(millis: number): void {
    this.#millis += millis;
    const due = this.#timers.filter((timer) => timer.at <= this.#millis).sort((a, b) => a.at - b.at);
    this.#timers = this.#timers.filter((timer) => timer.at > this.#millis);
    for (const timer of due) timer.callback();
  }
}
