import { own } from '@strongroom/engine-sdk';
import type { JsonObject } from '../json/json-pointer.ts';
import { isNumber } from '../json/json-value.ts';
import { tokenRefused } from './token-refused.ts';

/** Seconds of tolerance, as roles state them: 0 is the default, a negative number none. */
export interface Leeways {
  /** For `exp`, `nbf` and `iat`. Default 60. */
  readonly clock_skew_leeway: number;
  /** How long a token without `exp` is valid after its `iat` or `nbf`. Default 150. */
  readonly expiration_leeway: number;
  /** How long before its `exp` a token without `nbf` and `iat` is valid. Default 150. */
  readonly not_before_leeway: number;
  /** How long ago the token may have been issued; 0 is without limit. */
  readonly max_token_age?: number;
}

const SKEW = 60;
const MISSING = 150;

/**
 * Checks the times of a token, `now` in seconds since the epoch.
 * @returns when it expires, leeway included, in seconds since the epoch
 * @throws BadRequest
 */
export function checkTimes(claims: JsonObject, leeways: Leeways, now: number): number {
  const iat = time(claims, 'iat', 'issued at');
  const nbf = time(claims, 'nbf', 'not before');
  const exp = time(claims, 'exp', 'expiration time');
  if (iat === undefined && nbf === undefined && exp === undefined) {
    throw tokenRefused('no issued at (iat), not before (nbf), or expiration time (exp) claims in token');
  }
  const skew = orDefault(leeways.clock_skew_leeway, SKEW);
  const expires = exp ?? Math.max(iat ?? -Infinity, nbf ?? -Infinity) + orDefault(leeways.expiration_leeway, MISSING);
  const begins = nbf ?? iat ?? expires - orDefault(leeways.not_before_leeway, MISSING);
  if (now + skew < begins) throw tokenRefused('invalid not before (nbf) claim: token not yet valid');
  if (now - skew > expires) throw tokenRefused('invalid expiration time (exp) claim: token is expired');
  if (iat !== undefined && now + skew < iat) throw tokenRefused('invalid issued at (iat) claim: token issued in the future');
  const { max_token_age: maxAge = 0 } = leeways;
  if (maxAge > 0) {
    if (iat === undefined) throw tokenRefused('no issued at (iat) claim in token, and the role limits the age of tokens');
    if (now - skew > iat + maxAge) throw tokenRefused('invalid issued at (iat) claim: token is older than the role allows');
  }
  return expires + skew;
}

function orDefault(leeway: number, usual: number): number {
  return leeway === 0 ? usual : Math.max(0, leeway);
}

function time(claims: JsonObject, name: string, words: string): number | undefined {
  const value = own(claims, name);
  if (value === undefined) return undefined;
  if (!isNumber(value)) throw tokenRefused(`invalid ${words} (${name}) claim: not a number`);
  return Number(value);
}
