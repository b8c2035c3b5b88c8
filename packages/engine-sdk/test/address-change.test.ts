import { describe, expect, test } from '@jest/globals';
import { requireSecretsAgain } from '../src/index.ts';

describe('a stored secret and a new address', () => {
  test('a new address asks for the secret again and names both', () => {
    expect(() => requireSecretsAgain({ changed: ['url'], kept: ['bindpass'], sudo: false })).toThrow(
      /^url: .*stored bindpass.*send bindpass again.*sudo/,
    );
  });
  test.each([
    ['nothing changes', { changed: [], kept: ['bindpass'], sudo: false }],
    ['the secret comes with it', { changed: ['url'], kept: [], sudo: false }],
    ['the caller has sudo', { changed: ['url'], kept: ['bindpass'], sudo: true }],
  ])('the write passes where %s', (_, change) => expect(() => requireSecretsAgain(change)).not.toThrow());
});
