import { describe, expect, test } from '@jest/globals';
import { silentLog } from '@strongroom/engine-sdk';
import { manualClock } from '@strongroom/engine-testkit';
import { KeyCount } from '../../../src/services/figures/key-count.ts';

describe('a count of keys', () => {
  const counted = (total: number) => {
    const clock = manualClock();
    const world = { total, pages: 0, millis: 0 };
    const count = new KeyCount({
      clock,
      log: silentLog,
      keys: async ({ after = '-1', limit }) => {
        world.pages += 1;
        if (world.millis > 0) await clock.advance(`${world.millis}ms`);
        const first = Number(after) + 1;
        return Array.from({ length: Math.min(limit, world.total - first) }, (_, at) => String(first + at));
      },
    });
    return { clock, world, count };
  };

  test.each([0, 1, 999, 1_000, 1_001, 2_500])('is exact for %i keys', async (total) => {
    const { count } = counted(total);
    expect(await count.current()).toBe(total);
    expect(count.last).toBe(total);
  });

  test('is taken again when it is asked for, unless it takes long', async () => {
    const { clock, world, count } = counted(10);
    expect(await count.current()).toBe(10);
    world.total = 11;
    await clock.advance('1s');
    expect(await count.current()).toBe(11);
    world.millis = 1_000;
    await clock.advance('1s');
    await count.current();
    world.total = 12;
    await clock.advance('49s');
    expect(await count.current()).toBe(11);
    await clock.advance('2s');
    expect(await count.current()).toBe(12);
  });

  test('is forgotten at seal', async () => {
    const { count } = counted(3);
    await count.current();
    count.forget();
    expect(count.last).toBeUndefined();
  });
});
