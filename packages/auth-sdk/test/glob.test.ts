import { describe, expect, test } from '@jest/globals';
import { matchesGlob } from '../src/index.ts';

describe('a glob', () => {
  test.each([
    ['web', 'web', true],
    ['web', 'webs', false],
    ['', '', true],
    ['*', '', true],
    ['web-*', 'web-a.b/c', true],
    ['*.example.org', 'a.b.example.org', true],
    ['a*b*c', 'a-c-b-c', true],
    ['a*b*c', 'ac', false],
    ['ab*ba', 'aba', false],
    ['a**c', 'ac', true],
    ['Web', 'web', false],
    ['a.c', 'abc', false],
    ['*a*', 'bab', true],
    ['*ab*b', 'ab', false],
  ])('%s and %s: %s', (pattern, text, fits) => {
    expect(matchesGlob(pattern, text)).toBe(fits);
  });

  test('agrees with a regular expression on generated patterns', () => {
    const letters = ['a', 'b', '*'];
    const words = (length: number, from: readonly string[]): string[] =>
      length === 0 ? [''] : words(length - 1, from).flatMap((word) => from.map((letter) => word + letter));
    for (const pattern of [1, 2, 3, 4].flatMap((length) => words(length, letters))) {
      const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}$`, 's');
      for (const text of [0, 1, 2, 3, 4].flatMap((length) => words(length, ['a', 'b']))) {
        expect([pattern, text, matchesGlob(pattern, text)]).toEqual([pattern, text, expression.test(text)]);
      }
    }
  });
});
