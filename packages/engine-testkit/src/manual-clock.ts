import { parseDuration, type Clock } from '@strongroom/engine-sdk';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Advances by `"1h"` or a number of seconds, running the timers on the way in order; resolves when their work had its turn. */
  advance(by: string | number): Promise<void>;
  set(to: Date | string): Promise<void>;
}

/** A clock that stands still until the test moves it. */
export function manualClock(start: Date | string = '2030-01-01T00:00:00Z'): ManualClock {
  let now = new Date(start).getTime();
  let order = 0;
  const timers = new Set<Timer>();

  const moveTo = async (target: number): Promise<void> => {
    for (;;) {
      let next: Timer | undefined;
      for (const timer of timers) {
        if (timer.at <= target && (!next || timer.at < next.at || (timer.at === next.at && timer.order < next.order))) next = timer;
      }
      if (!next) break;
      timers.delete(next);
      now = Math.max(now, next.at);
      next.callback();
      await turn();
    }
    now = target;
    await turn();
  };

  return {
    now: () => new Date(now),
    millis: () => now,
    after(millis, callback) {
      const timer = { at: now + Math.max(0, millis), order: (order += 1), callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance: async (by) => moveTo(now + parseDuration(by) * 1_000),
    set: async (to) => moveTo(new Date(to).getTime()),
  };
}

/** Lets promises and I/O that the timers set off go on. */
async function turn(): Promise<void> {
  for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
}
