const BLOCK = 512;
/** A size is 11 octal digits; a larger one is written in base 256, as GNU tar does. */
const OCTAL_MAX = 8 ** 11;

/** A file within an archive. */
export interface TarEntry {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/** The end of an archive. */
export const TAR_END: Uint8Array = Buffer.alloc(2 * BLOCK);

/** The block that comes before a file. `modified`: seconds since the epoch. */
export function tarHeader({ name, size }: TarEntry, modified: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0, 100, 'utf8');
  block.write('0000600\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  if (size < OCTAL_MAX) block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  else {
    block[124] = 0x80;
    block.writeBigUInt64BE(BigInt(size), 128);
  }
  block.write(`${modified.toString(8).padStart(11, '0')}\0`, 136);
  block.write('0', 156);
  block.write('ustar\x0000', 257, 'latin1');
  block.write(`${checksumOf(block).toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** What is behind a file, so that the next begins with a block. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** Undefined for the end of an archive, and a text for what is no header of a plain file. */
export function readTarHeader(block: Buffer): TarEntry | string | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  const checksum = Number.parseInt(block.toString('latin1', 148, 156), 8);
  if (checksum !== checksumOf(block)) return 'it is no tar archive, or is damaged';
  const type = block[156];
  if (type !== 0 && type !== 0x30) return 'it has an entry that is no plain file';
  const end = block.indexOf(0);
  const name = block.toString('utf8', 0, Math.min(end < 0 ? 100 : end, 100));
  const size = block[124] === 0x80 ? Number(block.readBigUInt64BE(128)) : Number.parseInt(block.toString('latin1', 124, 136), 8);
  return Number.isSafeInteger(size) && size >= 0 ? { name, size } : 'it has an entry without a size';
}

/** The sum of all bytes, with spaces where the checksum itself is. */
function checksumOf(block: Buffer): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < BLOCK; at++) if (at < 148 || at >= 156) sum += block[at]!;
  return sum;
}
