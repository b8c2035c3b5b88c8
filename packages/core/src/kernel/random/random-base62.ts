import { randomFillSync } from 'node:crypto';

/** In the order of their bytes, as stores order keys. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Random bytes are drawn in blocks, since one draw costs as much as a whole token; each is used once and wiped. */
const pool = Buffer.alloc(4_096);
let drawn = pool.length;

/** Letters and digits without bias, drawn from the system's random source. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    if (drawn === pool.length) {
      randomFillSync(pool);
      drawn = 0;
    }
    const byte = pool[drawn]!;
    pool[drawn] = 0;
    drawn += 1;
    // 248 is the last multiple of 62 that a byte reaches.
    if (byte < 248) text += BASE62[byte % 62]!;
  }
  return text;
}
