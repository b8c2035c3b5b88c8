import { expect, test } from '@jest/globals';
import { UnfinishedList } from '../src/unfinished-list.ts';

test('what an unfinished list has looked up counts for two hours, also that there was nothing', () => {
  let now = 0;
  const list = new UnfinishedList<string>(() => new Date(now));
  list.add('a', 'v1');
  list.add('b', undefined);
  now = 2 * 3_600_000 - 1;
  expect(list.of('a')).toMatchObject({ version: 'v1' });
  expect(list.of('b')).toMatchObject({ version: undefined });
  now += 1;
  expect(list.of('a')).toBeUndefined();
});
