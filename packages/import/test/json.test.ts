import { describe, expect, test } from '@jest/globals';
import { ExactNumber } from '@strongroom/engine-sdk';
import { alike, canonical, digest } from '../src/json.ts';

describe('settings are alike', () => {
  test.each([
    [3600, '1h'],
    ['1h', 3600],
    ['30m0s', '1800'],
    [
      ['a', 'b'],
      ['b', 'a'],
    ],
    ['a, b', ['a', 'b']],
    [null, []],
    ['', undefined],
    [{ a: null }, undefined],
    [{ a: 1 }, { a: 1, b: 2 }],
    ['-----BEGIN-----\n', '-----BEGIN-----'],
    [{ a: { b: '5m' } }, { a: { b: 300 } }],
  ])('%j and %j', (wanted, there) => {
    expect(alike(wanted, there)).toBe(true);
  });

  test.each([
    [3600, '2h'],
    [['a'], ['a', 'b']],
    [
      ['a', 'a'],
      ['a', 'b'],
    ],
    ['a', undefined],
    [{ a: 1 }, {}],
    [false, true],
    [{ constructor: 'x' }, {}],
    [0, undefined],
  ])('but not %j and %j', (wanted, there) => {
    expect(alike(wanted, there)).toBe(false);
  });
});

describe('a digest', () => {
  test('does not depend on the order of keys, and has all digits of a number', () => {
    expect(digest({ a: 1, b: { c: 2, d: 3 } })).toBe(digest({ b: { d: 3, c: 2 }, a: 1 }));
    expect(canonical({ n: new ExactNumber('12345678901234567890') })).toBe('{"n":12345678901234567890}');
    expect(digest({ n: 1 })).not.toBe(digest({ n: '1' }));
  });
});
