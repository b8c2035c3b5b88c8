import { describe, expect, test } from '@jest/globals';
import { randomBytes } from '../../../src/kernel/random/random-bytes.ts';

describe('randomBytes', () => {
  test.each([0, 1, 9, 64, 65, 5_000])('gives %i bytes', (count) => {
    expect(randomBytes(count)).toHaveLength(count);
  });

  test('gives no byte out twice, and all values alike', () => {
    const seen = new Set<string>();
    const values = new Uint32Array(256);
    for (let i = 0; i < 20_000; i += 1) {
      const bytes = randomBytes(16);
      seen.add(bytes.toString('hex'));
      for (const byte of bytes) values[byte]! += 1;
    }
    expect(seen.size).toBe(20_000);
    // 1,250 of each are expected; ten standard deviations are 353.
    expect(Math.min(...values)).toBeGreaterThan(897);
    expect(Math.max(...values)).toBeLessThan(1_603);
  });

  test('what was given out does not change afterwards', () => {
    const first = randomBytes(32);
    const copy = Buffer.from(first);
    for (let i = 0; i < 1_000; i += 1) randomBytes(32);
    expect(first.equals(copy)).toBe(true);
  });
});
