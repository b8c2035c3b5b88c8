import { BASE62, randomBase62 } from './random-base62.ts';

/** Milliseconds in which ids begin alike. The cycle of all beginnings takes half an hour. */
const STEP = 8;
/** The digits of a place, the first one by what it counts. */
const UNITS = [62 ** 2, 62, 1];

/**
 * Letters and digits, of which the first three follow the clock in a cycle and all others are random, with 5.95 bits each. The records of what is made at one time
 * then lie next to each other: a commit of many touches few pages of a store, where with random ids each record is on a page of its own.
 */
export function orderedBase62(length: number, millis: number): string {
  const step = Math.floor(millis / STEP);
  const place = UNITS.map((unit) => BASE62[Math.floor(step / unit) % BASE62.length]).join('');
  return place + randomBase62(length - UNITS.length);
}

/** The three characters that place an id among others, of an id of the right length; otherwise ''. */
export function placeOf(id: string, length: number): string {
  return id.length === length && /^[\dA-Za-z]{3}/.test(id) ? id.slice(0, 3) : '';
}
