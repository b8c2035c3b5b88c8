import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { globMatches } from '../src/glob.ts';

test.each<[string, string, boolean]>([
  ['', '', true],
  ['', 'a', false],
  ['*', '', true],
  ['*', 'anything/at/all', true],
  ['**', 'x', true],
  ['app', 'app', true],
  ['app', 'apps', false],
  ['app-*', 'app-', true],
  ['app-*', 'app-a/b', true],
  ['app-*', 'my-app-a', false],
  ['*-ro', 'db-ro', true],
  ['*-ro', 'db-rot', false],
  ['*mid*', 'amidst', true],
  ['*mid*', 'mod', false],
  ['a*b', 'ab', true],
  ['a*b', 'a', false],
  ['ab*b', 'ab', false],
  ['a*b*c', 'a1b2c', true],
  ['a*b*c', 'a1c2b', false],
  ['*a', 'aba', true],
  ['a.c', 'abc', false],
  ['[ab]', 'a', false],
])('the pattern %j matches %j: %s', (pattern, value, matches) => {
  expect(globMatches(pattern, value)).toBe(matches);
});

test('a pattern made by cutting pieces out of a value matches that value', () => {
  fc.assert(
    fc.property(fc.array(fc.string().map((text) => text.replaceAll('*', ''))), fc.array(fc.string()), (fixed, holes) => {
      const value = fixed.map((part, index) => part + (holes[index] ?? '')).join('');
      const pattern = fixed.map((part) => `${part}*`).join('');
      expect(globMatches(pattern, value)).toBe(fixed.length > 0 || value === '');
    }),
  );
});

test('a hostile pattern comes to an end', () => {
  expect(globMatches('*a'.repeat(2000) + 'b', 'a'.repeat(20000))).toBe(false);
});
