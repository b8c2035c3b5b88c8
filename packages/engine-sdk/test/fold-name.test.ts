import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { foldName } from '../src/index.ts';

test.each([
  ['USER 1', 'user 1'],
  ['  user   1 ', 'user 1'],
  ['user\u00a01', 'user 1'],
  ['user\t\u20031', 'user 1'],
  ['ｕｓｅｒ　１', 'user 1'],
  ['us\u00ade\u200br 1', 'user 1'],
  ['JOSE\u0301', 'josé'],
  ['Straße', 'strasse'],
  ['ΟΔΟΣ', 'οδοσ'],
  ['οδος', 'οδοσ'],
  ['\u00a0', ''],
])('%j is written %j', (name, folded) => {
  expect(foldName(name)).toBe(folded);
});

test('names that differ stay different: letters, accents, inner spaces or none', () => {
  expect(new Set(['ann', 'anne', 'änn', 'an n', 'a-nn', 'anı'].map((name) => foldName(name))).size).toBe(6);
});

test('keepCase folds all but the case', () => {
  expect(foldName(' Ｕｓｅｒ \u00a0 Straße ', { keepCase: true })).toBe('User Straße');
});

test('a NUL stays, so that the name is refused where it is used', () => {
  expect(foldName('a\0b')).toBe('a\0b');
});

test('folding twice changes nothing, and a name folded without case folds like the name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      expect(foldName(foldName(name))).toBe(foldName(name));
      const cased = foldName(name, { keepCase: true });
      expect(foldName(cased, { keepCase: true })).toBe(cased);
      expect(foldName(cased)).toBe(foldName(name));
    }),
    { numRuns: 5_000 },
  );
});
