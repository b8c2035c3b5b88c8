import { randomBase62 } from './random-base62.ts';

/** In the order of their bytes, as stores order keys. */
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Milliseconds in which ids begin alike. The cycle of all beginnings takes half an hour. */
const STEP = 8;
const PLACES = DIGITS.length ** 3;

/**
 * Letters and digits, of which the first three follow the clock in a cycle and all others are random, with 5.95 bits each. The records of what is made at one time
 * then lie next to each other: a commit of many touches few pages of a store, where with random ids each record is on a page of its own.
 */
export function orderedBase62(length: number, millis: number): string {
  const place = Math.floor(millis / STEP) % PLACES;
  const [first, second, third] = [Math.floor(place / DIGITS.length ** 2), Math.floor(place / DIGITS.length), place];
  return [first, second, third].map((value) => DIGITS[value % DIGITS.length]).join('') + randomBase62(length - 3);
}

/** The three characters that place an id among others, of an id of the right length; otherwise ''. */
export function placeOf(id: string, length: number): string {
  return id.length === length && /^[\dA-Za-z]{3}/.test(id) ? id.slice(0, 3) : '';
}
