/**
 * The checksum that Secret Manager keeps beside a payload: CRC-32C (Castagnoli's polynomial), bit by bit as in its definition. Drivers compute it by a
 * table, so that a mistake in one of the two is seen.
 */
export function crc32c(bytes: Uint8Array): number {
  let remainder = 0xffffffff;
  for (const byte of bytes) {
    remainder ^= byte;
    for (let bit = 0; bit < 8; bit += 1) remainder = (remainder >>> 1) ^ (remainder & 1 ? 0x82f63b78 : 0);
  }
  return ~remainder >>> 0;
}
