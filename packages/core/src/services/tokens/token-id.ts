import { createHmac, type KeyObject } from 'node:crypto';
import { randomBase62 } from '../../kernel/random/random-base62.ts';

/** `s.` and 24 letters and digits: 142 bits. */
export function newServiceToken(): string {
  return `s.${randomBase62(24)}`;
}

export function newAccessor(): string {
  return randomBase62(24);
}

/** The name under which a token is stored: the token itself never is. 192 bits of an HMAC with the store's own salt. */
export function digestOf(salt: KeyObject, value: string): string {
  return createHmac('sha256', salt).update(value).digest().subarray(0, 24).toString('base64url');
}
