import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { transitEngine } from '../src/index.ts';

/** Made by OpenBao 2.5: two versions of each key but RSA, what they made of `input`, and their backup. */
const { input, agreement, keys } = JSON.parse(readFileSync(new URL('./fixtures/vectors.json', import.meta.url), 'utf8')) as {
  input: string;
  /** What a key that `base` agreed on with the holder of `peer_public_key` made of `input`. */
  agreement: { base: string; base_key_version: number; peer_public_key: string; ciphertext: string };
  keys: {
    name: string;
    context?: string;
    ciphertexts: string[];
    /** Of each version, with data that belongs to the ciphertext. */
    bound?: { associated_data: string; ciphertexts: string[] };
    signatures: Record<string, string>[];
    hmacs: string[];
    backup: string;
  }[];
};

describe('a key that another server backed up', () => {
  let mount: TestMount;
  beforeAll(async () => {
    mount = await mountForTest(transitEngine);
  });
  afterAll(async () => mount.close());

  const ask = async (path: string, data: Record<string, unknown>): Promise<Record<string, unknown>> =>
    (await mount.write(path, data)).data as Record<string, unknown>;

  test.each(keys)('is restored here, and does here what it did there: $name', async (vector) => {
    const { name, backup, ciphertexts, signatures, hmacs } = vector;
    const context = vector.context === undefined ? {} : { context: vector.context };
    await mount.write(`restore/${name}`, { backup });
    for (const ciphertext of ciphertexts) expect(await ask(`decrypt/${name}`, { ciphertext, ...context })).toEqual({ plaintext: input });
    for (const ciphertext of vector.bound?.ciphertexts ?? []) {
      const { associated_data } = vector.bound!;
      expect(await ask(`decrypt/${name}`, { ciphertext, associated_data, ...context })).toEqual({ plaintext: input });
      expect((await mount.call('update', `transit/decrypt/${name}`, { data: { ciphertext, ...context } })).status).toBe(400);
    }
    for (const signature of signatures) expect(await ask(`verify/${name}`, { input, ...signature, ...context })).toEqual({ valid: true });
    for (const [index, hmac] of hmacs.entries()) expect(await ask(`hmac/${name}`, { input, key_version: index + 1 })).toEqual({ hmac });
    const { restore_info } = (await mount.read(`keys/${name}`)).data as { restore_info: unknown };
    expect(restore_info).toEqual({ time: expect.any(String), version: hmacs.length });
  });

  test('encrypts convergently to the same ciphertext as there', async () => {
    const convergent = keys.filter(({ name }) => name.endsWith('convergent'));
    expect(convergent).toHaveLength(2);
    for (const { name, backup, context, ciphertexts } of convergent) {
      await mount.write(`restore/${name}-2`, { backup });
      for (const [index, ciphertext] of ciphertexts.entries())
        expect(await ask(`encrypt/${name}-2`, { plaintext: input, context, key_version: index + 1 })).toMatchObject({ ciphertext });
    }
  });

  test('agrees with another party on the same key as there', async () => {
    const { base, ciphertext, ...asked } = agreement;
    await mount.write(`restore/${base}-4`, { backup: keys.find(({ name }) => name === base)!.backup });
    await mount.write('derive-key/agreed', { base_key_name: `${base}-4`, ...asked });
    expect(await ask('decrypt/agreed', { ciphertext })).toEqual({ plaintext: input });
  });

  test('has a backup here that holds the same material', async () => {
    const versionsOf = (text: string): unknown =>
      (JSON.parse(Buffer.from(text, 'base64').toString()) as { policy: { keys: Record<string, object> } }).policy.keys;
    const small = keys.filter(({ name }) => !name.startsWith('rsa'));
    for (const { name, backup } of small) {
      await mount.write(`restore/${name}-3`, { backup });
      const again = ((await mount.read(`backup/${name}-3`)).data as { backup: string }).backup;
      expect(versionsOf(again)).toEqual(versionsOf(backup));
    }
  });
});
