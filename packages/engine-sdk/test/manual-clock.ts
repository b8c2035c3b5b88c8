import type { Clock } from '../src/index.ts';

/** A clock that a test moves, by milliseconds; back as well. */
export function manualClock(): Clock & { advance(millis: number): Promise<void> } {
  let now = 0;
  const timers = new Set<{ at: number; callback: () => void }>();
  return {
    now: () => new Date(now),
    millis: () => now,
    after(millis, callback) {
      const timer = { at: now + millis, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(millis) {
      now += millis;
      for (const timer of timers) if (timer.at <= now && timers.delete(timer)) timer.callback();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
