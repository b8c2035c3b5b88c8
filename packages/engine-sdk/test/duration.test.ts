import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DurationError, formatDuration, parseDuration } from '../src/duration.ts';

describe('a duration read', () => {
  test.each<[string | number, number]>([
    ['', 0],
    ['0', 0],
    [0, 0],
    [3600, 3600],
    ['3600', 3600],
    [-5, -5],
    ['-5', -5],
    ['+5', 5],
    ['1h', 3600],
    ['1h30m', 5400],
    ['1.5h', 5400],
    ['.5s', 0.5],
    ['1.s', 1],
    ['250ms', 0.25],
    ['1us', 1e-6],
    ['1\u00b5s', 1e-6],
    ['1\u03bcs', 1e-6],
    ['1ns', 1e-9],
    ['-1m30s', -90],
    ['+1m', 60],
    ['7d', 604800],
    ['-1d', -86400],
    ['2562047h', 9223369200],
    ['1h1h', 7200],
  ])('%j is %d seconds', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  test.each<[string | number, string]>([
    ['abc', 'time: invalid duration "abc"'],
    ['zz', 'time: invalid duration "zz"'],
    ['1x', 'time: unknown unit "x" in duration "1x"'],
    ['1.5', 'time: missing unit in duration "1.5"'],
    [1.5, 'time: missing unit in duration "1.5"'],
    ['1h5', 'time: missing unit in duration "1h5"'],
    ['1d12h', 'time: unknown unit "d" in duration "1d12h"'],
    ['1.5d', 'strconv.ParseInt: parsing "1.5": invalid syntax'],
    ['.', 'time: invalid duration "."'],
    ['-', 'time: invalid duration "-"'],
    ['+-3s', 'time: invalid duration "+-3s"'],
    ['.s', 'time: invalid duration ".s"'],
    [' 1s', 'time: invalid duration " 1s"'],
    ['1 s', 'time: unknown unit " s" in duration "1 s"'],
    ['1\u00e4', 'time: unknown unit "\\xc3\\xa4" in duration "1\\xc3\\xa4"'],
    ['1"', 'time: unknown unit "\\"" in duration "1\\""'],
    ['1toString', 'time: unknown unit "toString" in duration "1toString"'],
    ['3000000h', 'time: invalid duration "3000000h"'],
    ['99999999999', 'time: invalid duration "99999999999"'],
    [Number.NaN, 'time: invalid duration "NaN"'],
    ['1'.repeat(1000), 'time: invalid duration: text too long'],
  ])('%j is refused in the words of Go', (text, message) => {
    expect(() => parseDuration(text)).toThrow(new DurationError(message));
  });
});

describe('a duration printed', () => {
  test.each<[number, string]>([
    [0, '0s'],
    [3600, '1h0m0s'],
    [86400, '24h0m0s'],
    [90, '1m30s'],
    [1.5, '1.5s'],
    [0.25, '250ms'],
    [0.0000015, '1.5\u00b5s'],
    [1e-9, '1ns'],
    [-90.5, '-1m30.5s'],
    [3661.001, '1h1m1.001s'],
    [2764800, '768h0m0s'],
  ])('%d seconds print as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });

  test('what is printed reads back to the same seconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: -9_000_000, max: 9_000_000 }), fc.integer({ min: 0, max: 999 }), (whole, millis) => {
        const seconds = whole + millis / 1000;
        expect(parseDuration(formatDuration(seconds))).toBeCloseTo(seconds, 9);
      }),
    );
  });

  test('an endless duration cannot be printed', () => {
    expect(() => formatDuration(Infinity)).toThrow(RangeError);
  });
});
