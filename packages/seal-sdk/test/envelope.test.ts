import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { isSealError, openEnvelope, sealEnvelope } from '../src/index.ts';

const aad = Buffer.from('aad');
const mask = async (key: Uint8Array): Promise<Uint8Array> => Buffer.from(key.map((byte) => byte ^ 0xa5));

describe('an envelope', () => {
  test('asks the service to wrap 32 bytes, whatever is in it', async () => {
    const seen: number[] = [];
    for (const length of [0, 1, 33, 4_096]) {
      const plain = randomBytes(length);
      const blob = await sealEnvelope(plain, aad, async (key) => {
        seen.push(key.length);
        return mask(key);
      });
      expect(Buffer.from(await openEnvelope(blob, aad, mask))).toEqual(plain);
    }
    expect(seen).toEqual([32, 32, 32, 32]);
  });

  test('that was cut, damaged or is for other data does not open, at no byte', async () => {
    const blob = await sealEnvelope(Buffer.from('secret'), aad, mask);
    const open = async (bytes: Uint8Array, data = aad): Promise<boolean> =>
      openEnvelope(bytes, data, mask).then(
        () => true,
        (error: unknown) => !isSealError(error, 'seal_wrong_key'),
      );
    expect(await open(blob, Buffer.from('other'))).toBe(false);
    for (let at = 0; at < blob.length; at += 1) {
      expect(await open(blob.subarray(0, at))).toBe(false);
      const damaged = Buffer.from(blob);
      damaged[at]! ^= 1;
      expect(await open(damaged)).toBe(false);
    }
  });
});
