import { expect, test } from '@jest/globals';
import { retryDelay } from '../src/index.ts';

const middle = () => 0.5;

test('doubles from 10 s to 5 minutes by default', () => {
  expect([0, 1, 2, 3, 6, 100].map((attempts) => retryDelay(attempts, middle))).toEqual([10_000, 10_000, 20_000, 40_000, 300_000, 300_000]);
});

test('takes a first delay and a longest one, and a quarter more or less is random', () => {
  expect(retryDelay(3, middle, { first: 1_000, most: 3_000 })).toBe(3_000);
  expect(retryDelay(1, () => 0, { first: 1_000 })).toBe(750);
  expect(retryDelay(1, () => 1, { first: 1_000 })).toBe(1_250);
});
