import { expect, test } from '@jest/globals';
import { BadRequest, boundsOf, pageIn, slicePage } from '../src/index.ts';

test.each([
  [{}, {}],
  [{ after: '', limit: 0 }, {}],
  [{ limit: -1 }, {}],
  [
    { after: 'b', limit: '2' },
    { after: 'b', limit: 2 },
  ],
])('the parameters %j bound a query by %j', (raw, bounds) => {
  expect(boundsOf(pageIn(raw))).toEqual(bounds);
});

test('a limit that is no number is refused', () => {
  expect(() => pageIn({ limit: 'many' })).toThrow(BadRequest);
});

test.each([
  [{}, 'abcd'],
  [{ limit: 2 }, 'ab'],
  [{ after: 'b' }, 'cd'],
  [{ after: 'aa', limit: 1 }, 'b'],
  [{ after: 'd' }, ''],
])('the page %j of a, b, c, d is %j', (raw, page) => {
  expect(slicePage([...'abcd'], pageIn(raw), (name) => name).join('')).toBe(page);
});
