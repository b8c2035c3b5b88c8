const TABLE = Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0x82f63b78 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

/** The checksum (Castagnoli's polynomial) by which Secret Manager refuses a value that was damaged on its way. */
export function crc32c(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = TABLE[(value ^ byte) & 0xff]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
