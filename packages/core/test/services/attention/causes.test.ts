import { describe, expect, test } from '@jest/globals';
import { gist } from '../../../src/services/attention/causes.ts';

describe('the gist of a sentence', () => {
  test.each([
    ['password authentication failed for user "a"', 'password authentication failed for user "b"'],
    ['static role r1: no answer within 5 s', 'static role r2: no answer within 15 s'],
    ["role 'x' is gone", "role 'y' is gone"],
    ['request 5a52c0ffee00 was refused', 'request 0badc0de1234 was refused'],
    ['the  server\n closed it', 'the server closed it'],
  ])('is the same whoever it is about: %j', (one, other) => {
    expect(gist(one, { name: 'r1' })).toBe(gist(other, { name: 'r2' }));
  });

  test.each([
    ['connection refused', 'password authentication failed'],
    ['no such user', 'no such database'],
  ])('tells causes apart: %j and %j', (one, other) => {
    expect(gist(one, { name: '' })).not.toBe(gist(other, { name: '' }));
  });

  test('is short, however long the sentence is', () => {
    expect(gist('x '.repeat(10_000), { name: '' }).length).toBeLessThanOrEqual(200);
  });
});
