import { beforeEach, describe, expect, test } from '@jest/globals';
import { OneAtATime } from '../src/index.ts';

/** Work that ends when a test says so. */
function held(): { work: () => Promise<string>; begun: () => number; end: () => void } {
  let begun = 0;
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const work = async (): Promise<string> => {
    begun += 1;
    await ended;
    return 'done';
  };
  return { work, begun: () => begun, end };
}

describe('work for one id at a time', () => {
  let one: OneAtATime;
  beforeEach(() => {
    one = new OneAtATime((id) => new Error(`${id} is busy`));
  });

  test('that is asked for while it is under way is refused by the name of the id, and other ids are not held up', async () => {
    const first = held();
    const running = one.alone('a', first.work);
    await expect(one.alone('a', async () => 'second')).rejects.toThrow('a is busy');
    expect(await one.alone('b', async () => 'other')).toBe('other');
    first.end();
    expect(await running).toBe('done');
    expect(await one.alone('a', async () => 'third')).toBe('third');
  });

  test('that is joined is done once, and those who join share its failure', async () => {
    const first = held();
    const running = one.alone('a', async () => {
      await first.work();
      throw new Error('it failed');
    });
    const joined = [one.join('a', first.work), one.join('a', first.work)];
    first.end();
    const all = await Promise.allSettled([running, ...joined]);
    expect(all.map((end) => (end.status === 'rejected' ? (end.reason as Error).message : ''))).toEqual(Array(3).fill('it failed'));
    expect(first.begun()).toBe(1);
  });

  test('that nobody is doing is begun by who joins, and is over when it ends, also in failure', async () => {
    let begun = 0;
    await one.join('a', async () => (begun += 1));
    expect(begun).toBe(1);
    await expect(one.join('a', async () => Promise.reject(new Error('it failed')))).rejects.toThrow('it failed');
    expect(one.underWay('a')).toBeUndefined();
  });
});
