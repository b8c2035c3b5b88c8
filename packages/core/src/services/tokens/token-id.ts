import { createHmac, type KeyObject } from 'node:crypto';
import { orderedBase62, placeOf } from '../../kernel/random/ordered-base62.ts';

const PREFIX = 's.';
const LENGTH = 24;

/** `s.` and 24 letters and digits, of which 21 are random: 125 bits. */
export function newServiceToken(millis: number): string {
  return PREFIX + orderedBase62(LENGTH, millis);
}

/** 24 letters and digits, 21 of them random. */
export function newAccessor(millis: number): string {
  return orderedBase62(LENGTH, millis);
}

/** The name under which a token or an accessor is stored: itself it never is. 192 bits of an HMAC with the store's own salt. */
export function digestOf(salt: KeyObject, value: string): string {
  return createHmac('sha256', salt).update(value).digest().subarray(0, 24).toString('base64url');
}

/** What stands before the digest of a token, so that it lies with others of its time. Empty for a token that somebody chose. */
export function placeOfToken(token: string): string {
  return token.startsWith(PREFIX) ? placeOf(token.slice(PREFIX.length), LENGTH) : '';
}

export function placeOfAccessor(accessor: string): string {
  return placeOf(accessor, LENGTH);
}
