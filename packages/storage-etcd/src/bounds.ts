import type { RangeQuery } from '@strongroom/storage-sdk';
import { behind, type Span } from './layout.ts';

/** The keys that a query can find among those of a generation; undefined where there can be none. */
export function boundsOf({ prefix = '', after, before }: RangeQuery, all: Span): Span | undefined {
  const at = (key: string): Buffer => Buffer.concat([all.key, Buffer.from(key)]);
  let key = at(prefix);
  let end = prefix === '' ? all.end : behind(key);
  if (after !== undefined) key = larger(key, Buffer.concat([at(after), Buffer.from([0])]));
  if (before !== undefined) end = smaller(end, at(before));
  return Buffer.compare(key, end) < 0 ? { key, end } : undefined;
}

function larger(a: Buffer, b: Buffer): Buffer {
  return Buffer.compare(a, b) < 0 ? b : a;
}

function smaller(a: Buffer, b: Buffer): Buffer {
  return Buffer.compare(a, b) < 0 ? a : b;
}
