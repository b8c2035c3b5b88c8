import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { transitEngine } from '../src/index.ts';

const INPUT = Buffer.from('what is signed');
const input = INPUT.toString('base64');
const HASHES: [string, string][] = [
  ['sha1', 'sha1'],
  ['sha2-224', 'sha224'],
  ['sha2-256', 'sha256'],
  ['sha2-384', 'sha384'],
  ['sha2-512', 'sha512'],
  ['sha3-224', 'sha3-224'],
  ['sha3-256', 'sha3-256'],
  ['sha3-384', 'sha3-384'],
  ['sha3-512', 'sha3-512'],
];

describe('signatures', () => {
  let mount: TestMount;
  beforeAll(async () => {
    mount = await mountForTest(transitEngine);
    for (const type of ['rsa-2048', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'ed25519', 'hmac'])
      await mount.write(`keys/${type}`, { type });
    await mount.write('keys/derived', { type: 'ed25519', derived: true });
  });
  afterAll(async () => mount.close());

  const ask = async (path: string, data: Record<string, unknown>): Promise<Record<string, unknown>> =>
    (await mount.write(path, data)).data as Record<string, unknown>;

  const schemes = [
    ['rsa-2048', { signature_algorithm: 'pss' }],
    ['rsa-2048', { signature_algorithm: 'pss', salt_length: 'hash' }],
    ['rsa-2048', { signature_algorithm: 'pkcs1v15' }],
    ['ecdsa-p256', {}],
    ['ecdsa-p384', { marshaling_algorithm: 'jws' }],
    ['ecdsa-p521', {}],
  ] as const;

  test.each(schemes)('%s with %j signs data and digests alike, with every hash', async (type, scheme) => {
    for (const [name, node] of HASHES) {
      const whole = { ...scheme, input, hash_algorithm: name };
      const digest = { ...scheme, input: createHash(node).update(INPUT).digest('base64'), hash_algorithm: name, prehashed: true };
      const { signature } = await ask(`sign/${type}`, whole);
      const prehashed = await ask(`sign/${type}`, digest);
      expect(await ask(`verify/${type}`, { ...digest, signature })).toEqual({ valid: true });
      expect(await ask(`verify/${type}`, { ...whole, signature: prehashed['signature'] })).toEqual({ valid: true });
      expect(await ask(`verify/${type}`, { ...whole, input: '', signature })).toEqual({ valid: false });
    }
  });

  test('an Ed25519 signature verifies with the public key that the key shows', async () => {
    const { signature } = await ask('sign/ed25519', { input });
    const { keys } = (await mount.read('keys/ed25519')).data as { keys: Record<string, { public_key: string }> };
    const x = Buffer.from(keys['1']!.public_key, 'base64').toString('base64url');
    const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
    expect(verify(null, INPUT, key, Buffer.from(String(signature).slice('vault:v1:'.length), 'base64'))).toBe(true);
  });

  test('a derived Ed25519 key signs for its context, and answers the public key of it', async () => {
    const signed = await ask('sign/derived', { input, context: input });
    expect(signed['public_key']).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    expect(await ask('verify/derived', { input, context: input, signature: signed['signature'] })).toEqual({ valid: true });
  });

  test('every key makes HMACs, and verifies them', async () => {
    for (const type of ['hmac', 'rsa-2048', 'ed25519']) {
      const { hmac } = await ask(`hmac/${type}/sha2-512`, { input });
      expect(await ask(`verify/${type}/sha2-512`, { input, hmac })).toEqual({ valid: true });
      expect(await ask(`verify/${type}/sha2-256`, { input, hmac })).toEqual({ valid: false });
    }
  });

  test('a batch is signed and verified item by item', async () => {
    const { batch_results } = (await ask('sign/ecdsa-p256', { batch_input: [{ input, reference: 'a' }, {}] })) as {
      batch_results: Record<string, unknown>[];
    };
    expect(batch_results[1]).toMatchObject({ error: 'missing input', reference: '' });
    const verified = await ask('verify/ecdsa-p256', { batch_input: [{ input, signature: batch_results[0]!['signature'] }] });
    expect(verified).toEqual({ batch_results: [{ valid: true, reference: '' }] });
  });

  test.each([
    ['sign/rsa-2048', { input, hash_algorithm: 'md5' }, 'hash algorithm'],
    ['sign/rsa-2048', { input, prehashed: true }, 'prehashed'],
    ['sign/rsa-2048', { input, hash_algorithm: 'none' }, 'hash_algorithm=none'],
    ['sign/rsa-2048', { input, salt_length: '999' }, 'salt length'],
    ['sign/hmac', { input }, 'does not support signing'],
    ['sign/nope', { input }, 'signing key not found'],
    ['verify/rsa-2048', { input }, "neither a 'signature'"],
    ['hash', { input, algorithm: 'md5' }, 'unsupported algorithm'],
  ])('%s with %j is refused, and the answer says why', async (path, data, text) => {
    const { status, errors } = await mount.call('update', `transit/${path}`, { data });
    expect(status).toBe(400);
    expect(errors?.join()).toContain(text);
  });
});
