import { createHmac } from 'node:crypto';

const HASH_BYTES = 32;

/**
 * HKDF with SHA-256 and without a salt. Node's own takes at most 1,024 bytes of `info`, and contexts may be longer.
 */
export function hkdfSha256(key: Uint8Array, info: Uint8Array, length: number): Buffer {
  const extracted = createHmac('sha256', Buffer.alloc(HASH_BYTES)).update(key).digest();
  const blocks: Buffer[] = [];
  let last: Buffer = Buffer.alloc(0);
  for (let count = 1; blocks.length * HASH_BYTES < length; count += 1) {
    last = createHmac('sha256', extracted).update(last).update(info).update(Buffer.of(count)).digest();
    blocks.push(last);
  }
  return Buffer.concat(blocks).subarray(0, length);
}
