import { randomFillSync } from 'node:crypto';

/** What is longer is drawn by itself. */
const LONGEST = 128;

/** Random bytes are drawn in blocks, since one draw costs more than most of what wants a few of them; each is given out once and wiped. */
const pool = Buffer.alloc(4_096);
let drawn = pool.length;

/** Bytes of the system's random source, as those of node:crypto. */
export function randomBytes(count: number): Buffer {
  const bytes = Buffer.allocUnsafe(count);
  if (count > LONGEST) return randomFillSync(bytes);
  if (drawn + count > pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  pool.copy(bytes, 0, drawn, drawn + count);
  pool.fill(0, drawn, drawn + count);
  drawn += count;
  return bytes;
}
