import { MAX_KEY_BYTES } from '@strongroom/storage-sdk';
import type { RangeQuery } from '@strongroom/storage-sdk';

/** Keys of callers hold no U+0000, so every key of theirs is at least this. Below it the driver keeps its own. */
const FIRST = Buffer.from([1]);
const BEYOND = Buffer.from([0xff]);

/** The half-open interval of keys, `from` inclusive and `to` exclusive, that a query spans; undefined when it can hold nothing. */
export function boundsOf(query: RangeQuery): { from: Buffer; to: Buffer } | undefined {
  let from: Buffer = FIRST;
  let to: Buffer = BEYOND;
  if (query.prefix) {
    const prefix = Buffer.from(query.prefix);
    if (prefix.length > MAX_KEY_BYTES || prefix.includes(0)) return undefined;
    from = prefix;
    to = Buffer.from(prefix);
    // The last byte of UTF-8 is never 0xff.
    to[to.length - 1] = (to[to.length - 1] as number) + 1;
  }
  if (query.after) {
    const bytes = storable(Buffer.from(query.after));
    const next = Buffer.concat([bytes, FIRST]);
    if (next.compare(from) > 0) from = next;
  }
  if (query.before !== undefined) {
    const bytes = Buffer.from(query.before);
    const cut = storable(bytes);
    const end = cut.length < bytes.length ? Buffer.concat([cut, FIRST]) : cut;
    if (end.compare(to) < 0) to = end;
  }
  return from.compare(to) < 0 ? { from, to } : undefined;
}

/** The longest beginning of a bound that could be a key: no key lies between it and the bound. */
function storable(bytes: Buffer): Buffer {
  const zero = bytes.indexOf(0);
  return bytes.subarray(0, Math.min(zero < 0 ? bytes.length : zero, MAX_KEY_BYTES));
}
