import { expect, test } from '@jest/globals';
import { Bulkhead } from '../../../src/kernel/work/bulkhead.ts';

test('a bulkhead runs so much at a time, queues so much more in order, and is full then', async () => {
  const bulkhead = new Bulkhead({ concurrent: 2, queued: 1 });
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const work = async (n: number): Promise<number> =>
    bulkhead.run(async () => {
      begun.push(n);
      await new Promise<void>((resolve) => ends.push(resolve));
      return n;
    });
  expect(bulkhead.idle).toBe(true);
  const all = [work(1), work(2)];
  expect(bulkhead.full).toBe(false);
  all.push(work(3));
  expect([begun, bulkhead.full]).toEqual([[1, 2], true]);
  ends[0]!();
  await all[0];
  await new Promise((resolve) => setImmediate(resolve));
  expect([begun, bulkhead.full]).toEqual([[1, 2, 3], false]);
  for (const end of ends) end();
  expect(await Promise.all(all)).toEqual([1, 2, 3]);
  expect(bulkhead.idle).toBe(true);
});

test('a place is free again after a failure', async () => {
  const bulkhead = new Bulkhead({ concurrent: 1 });
  await expect(
    bulkhead.run(async () => {
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(await bulkhead.run(async () => 1)).toBe(1);
});
