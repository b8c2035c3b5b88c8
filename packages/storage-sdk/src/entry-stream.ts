import { MAX_KEY_BYTES } from './driver.ts';
import type { Entry } from './driver.ts';
import { keyProblem } from './key.ts';

/** Bytes that say how long a key or a value is, big endian. */
const LENGTH = 4;
/** Longest value that is read; a longer one is taken for damage. */
const MAX_VALUE_BYTES = 2 ** 30;

/** Entries that cannot be read: cut off, or never written by `encodeEntries`. */
export class DamagedEntries extends Error {
  override readonly name = 'DamagedEntries';
}

/** Bytes of one entry in the format of `encodeEntries`, whose key and value have these lengths in bytes. */
export function entryBytes(key: number, value: number): number {
  return 2 * LENGTH + key + value;
}

/** Each entry as key length, key, value length and value; the lengths have 4 bytes, big endian, and keys are UTF-8. Any number may be put one behind the other. */
export function encodeEntries(entries: readonly Entry[]): Uint8Array {
  const keys = entries.map(({ key }) => Buffer.from(key));
  const out = Buffer.allocUnsafeSlow(entries.reduce((sum, { value }, i) => sum + entryBytes(keys[i]!.length, value.length), 0));
  let at = 0;
  for (const [i, { value }] of entries.entries()) {
    const key = keys[i]!;
    at = out.writeUInt32BE(key.length, at);
    at += key.copy(out, at);
    at = out.writeUInt32BE(value.length, at);
    out.set(value, at);
    at += value.length;
  }
  return out;
}

/** The entries of a stream, in whatever pieces it comes; several at a time. Keys must ascend. @throws DamagedEntries */
export async function* decodeEntries(source: AsyncIterable<Uint8Array>): AsyncGenerator<Entry[]> {
  let last: Buffer | undefined;
  /** Pieces of an entry that is longer than what has come. */
  let waiting: Uint8Array[] = [];
  let waited = 0;
  let needed = 0;
  for await (const piece of source) {
    waiting.push(piece);
    waited += piece.length;
    if (waited < needed) continue;
    const come = waiting.length === 1 ? Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength) : Buffer.concat(waiting, waited);
    const entries: Entry[] = [];
    let at = 0;
    for (;;) {
      const { bytes, key, value } = entryAt(come, at);
      needed = bytes;
      if (!key || !value) break;
      if (last && last.compare(key) >= 0) throw new DamagedEntries('the keys are not in ascending order');
      last = key;
      entries.push({ key: textOf(key), value });
      at += bytes;
    }
    if (last) last = Buffer.from(last);
    const rest = come.subarray(at);
    waiting = rest.length === 0 ? [] : [rest];
    waited = rest.length;
    if (entries.length > 0) yield entries;
  }
  if (waited > 0) throw new DamagedEntries('they end in the middle of an entry');
}

/** The entry that begins at a position, and its bytes; without key and value where more bytes are needed, at least that many. */
function entryAt(from: Buffer, at: number): { bytes: number; key?: Buffer; value?: Buffer } {
  const here = from.length - at;
  if (here < LENGTH) return { bytes: LENGTH };
  const keyLength = from.readUInt32BE(at);
  if (keyLength > MAX_KEY_BYTES) throw new DamagedEntries(`a key of ${keyLength} bytes is too long`);
  const head = 2 * LENGTH + keyLength;
  if (here < head) return { bytes: head };
  const valueLength = from.readUInt32BE(at + LENGTH + keyLength);
  if (valueLength > MAX_VALUE_BYTES) throw new DamagedEntries(`a value of ${valueLength} bytes is too long`);
  const bytes = head + valueLength;
  if (here < bytes) return { bytes };
  return { bytes, key: from.subarray(at + LENGTH, at + LENGTH + keyLength), value: from.subarray(at + head, at + bytes) };
}

/** @throws DamagedEntries */
function textOf(bytes: Buffer): string {
  const text = bytes.toString();
  const problem = keyProblem(text);
  if (problem !== undefined || Buffer.byteLength(text) !== bytes.length) throw new DamagedEntries(problem ?? 'a key is not UTF-8');
  return text;
}
