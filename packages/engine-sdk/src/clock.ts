/** The source of time, which tests control. */
export interface Clock {
  now(): Date;
  /** Milliseconds since the epoch. Cheaper than `now`. */
  millis(): number;
  /**
   * Calls `callback` once, at the earliest in `millis`, and returns a function that cancels it. The timer never keeps the process alive.
   */
  after(millis: number, callback: () => void): () => void;
}

/** The time and the timers of the system. */
export const systemClock: Clock = {
  now: () => new Date(),
  millis: () => Date.now(),
  after(millis, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(millis, 0), 2 ** 31 - 1));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
