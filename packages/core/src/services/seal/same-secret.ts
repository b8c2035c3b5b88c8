import { timingSafeEqual } from 'node:crypto';

/** Whether two secrets have the same bytes, in a time that does not tell how many of them. */
export function sameSecret(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
