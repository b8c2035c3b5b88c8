import { expect, test } from '@jest/globals';
import { mapConcurrently } from '../src/index.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('works on all items in order, with their positions, at most so many at a time', async () => {
  const begun: [string, number][] = [];
  let underWay = 0;
  let most = 0;
  await mapConcurrently(['a', 'b', 'c', 'd', 'e'], 2, async (item, position) => {
    begun.push([item, position]);
    underWay += 1;
    most = Math.max(most, underWay);
    await turn();
    underWay -= 1;
  });
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e'].map((item, position) => [item, position]));
  expect(most).toBe(2);
});

test('rejects with the first failure, and still works on the other items', async () => {
  const worked: number[] = [];
  const working = mapConcurrently([0, 1, 2, 3], 2, async (item) => {
    await turn();
    if (item === 1) throw new Error('one failed');
    worked.push(item);
  });
  await expect(working).rejects.toThrow('one failed');
  while (worked.length < 3) await turn();
  expect(worked).toEqual([0, 2, 3]);
});

test('takes no items', async () => {
  await mapConcurrently([], 4, async () => {
    throw new Error('no item to work on');
  });
});
