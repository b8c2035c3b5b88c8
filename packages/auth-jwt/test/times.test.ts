import { describe, expect, test } from '@jest/globals';
import { checkTimes } from '../src/token/token-times.ts';

const usual = { clock_skew_leeway: 0, expiration_leeway: 0, not_before_leeway: 0 };
const none = { clock_skew_leeway: -1, expiration_leeway: -1, not_before_leeway: -1 };
const now = 1_000_000;

function verdict(claims: Record<string, unknown>, leeways: Parameters<typeof checkTimes>[1] = usual): string {
  try {
    checkTimes(claims, leeways, now);
    return 'fine';
  } catch (error) {
    return (error as Error).message.replace('error validating token: ', '');
  }
}

const expired = 'invalid expiration time (exp) claim: token is expired';
const early = 'invalid not before (nbf) claim: token not yet valid';

describe('the times of a token', () => {
  test('one of them is needed', () => {
    expect(verdict({})).toBe('no issued at (iat), not before (nbf), or expiration time (exp) claims in token');
  });

  test.each([
    [{ exp: now - 60 }, usual, 'fine'],
    [{ exp: now - 61 }, usual, expired],
    [{ exp: now }, none, 'fine'],
    [{ exp: now - 0.5 }, none, expired],
    [{ exp: now - 5 }, { ...usual, clock_skew_leeway: 5 }, 'fine'],
    [{ exp: now - 6 }, { ...usual, clock_skew_leeway: 5 }, expired],
    [{ exp: now + 1e12, iat: now }, usual, 'fine'],
  ])('an expiry of %j', (claims, leeways, result) => expect(verdict(claims, leeways)).toBe(result));

  test.each([
    [{ iat: now - 210 }, usual, 'fine'],
    [{ iat: now - 211 }, usual, expired],
    [{ iat: now - 300, nbf: now - 200 }, usual, 'fine'],
    [{ nbf: now - 300, iat: now - 200 }, usual, 'fine'],
    [{ iat: now - 1 }, none, expired],
    [{ iat: now - 30 }, { ...none, expiration_leeway: 30 }, 'fine'],
  ])('without an expiry, %j', (claims, leeways, result) => expect(verdict(claims, leeways)).toBe(result));

  test.each([
    [{ nbf: now + 60, exp: now + 600 }, usual, 'fine'],
    [{ nbf: now + 61, exp: now + 600 }, usual, early],
    [{ iat: now + 61, exp: now + 600 }, usual, early],
    [{ iat: now + 61, nbf: now, exp: now + 600 }, usual, 'invalid issued at (iat) claim: token issued in the future'],
    [{ exp: now + 210 }, usual, 'fine'],
    [{ exp: now + 211 }, usual, early],
    [{ exp: now + 600 }, { ...usual, not_before_leeway: 600 }, 'fine'],
  ])('a beginning of %j', (claims, leeways, result) => expect(verdict(claims, leeways)).toBe(result));

  test.each(['1000600', null, true, {}, [now]])('an expiry that is not a number, but %j', (exp) => {
    expect(verdict({ exp, iat: now })).toBe('invalid expiration time (exp) claim: not a number');
  });

  test('a limit on the age counts from iat, which is needed then', () => {
    const limited = { ...usual, max_token_age: 100 };
    expect(verdict({ iat: now - 160, exp: now + 9 }, limited)).toBe('fine');
    expect(verdict({ iat: now - 161, exp: now + 9 }, limited)).toBe('invalid issued at (iat) claim: token is older than the role allows');
    expect(verdict({ nbf: now, exp: now + 9 }, limited)).toContain('no issued at (iat) claim');
  });

  test('the result is when the token ends, tolerance included', () => {
    expect(checkTimes({ exp: now + 5 }, { ...usual, not_before_leeway: 99 }, now)).toBe(now + 65);
    expect(checkTimes({ iat: now }, none, now)).toBe(now);
  });
});
