/** Time is an argument: tests move it. */
export interface Clock {
  now(): Date;
  /** Milliseconds since the epoch; the cheap form of `now`. */
  millis(): number;
  /**
   * Calls back once, no earlier than `millis` from now; returns the cancellation. The timer never keeps a process alive.
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
