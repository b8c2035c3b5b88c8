import { describe, expect, test } from '@jest/globals';
import { LookupPace } from '../src/lookup-pace.ts';

const never = new AbortController().signal;

describe('the pace of looking versions up', () => {
  const clock = { now: 0, waits: [] as number[] };
  const paced = (): LookupPace => {
    Object.assign(clock, { now: 0, waits: [] });
    return new LookupPace({
      millis: () => clock.now,
      wait: async (millis) => {
        clock.waits.push(millis);
        clock.now += millis;
      },
    });
  };

  test('lets 250 through at once, then 5 a second, so that 1,000 take no more than 600 in any minute', async () => {
    const pace = paced();
    const at: number[] = [];
    for (let index = 0; index < 100; index += 1) {
      await pace.take(10, never);
      at.push(clock.now);
    }
    expect(at.slice(0, 25).every((time) => time === 0)).toBe(true);
    expect(at[25]).toBe(2_000);
    expect(at.at(-1)).toBe(150_000);
    for (const from of at) expect(at.filter((time) => time >= from && time < from + 60_000).length * 10).toBeLessThan(600);
  });

  test('what was not used comes back, and no more', async () => {
    const pace = paced();
    await pace.take(250, never);
    clock.now = 3_600_000;
    await pace.take(250, never);
    expect(clock.waits).toEqual([]);
    await pace.take(5, never);
    expect(clock.waits).toEqual([1_000]);
  });

  test('a list that is given up waits no longer', async () => {
    const pace = new LookupPace();
    await pace.take(250, never);
    await expect(pace.take(1_000, AbortSignal.abort(new Error('too late')))).rejects.toThrow();
  });
});
