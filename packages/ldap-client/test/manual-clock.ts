import type { DirectoryClock } from '../src/clock.ts';

/** A clock that stands still until the test moves it. */
export interface ManualClock extends DirectoryClock {
  advance(millis: number): void;
}

export function manualClock(): ManualClock {
  let now = 1_000_000;
  const timers = new Set<{ at: number; callback: () => void }>();
  return {
    millis: () => now,
    after(millis, callback) {
      const timer = { at: now + millis, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(millis) {
      now += millis;
      for (const timer of [...timers].filter(({ at }) => at <= now)) {
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}
