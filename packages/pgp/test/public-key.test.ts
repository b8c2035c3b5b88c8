import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BadRequest } from '@strongroom/engine-sdk';
import { generateKey, revokeKey } from 'openpgp';
import { readPublicKey } from '../src/index.ts';
import { GpgHome, noGnuPg } from './gpg-home.ts';

const now = new Date();
const after = (days: number): Date => new Date(now.getTime() + days * 86_400_000);

/** The text of the refusal. */
async function refusal(bytes: Uint8Array, at = now): Promise<string> {
  const error: unknown = await readPublicKey(bytes, at).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BadRequest);
  return (error as Error).message;
}

async function keyPair(options: { keyExpirationTime?: number; date?: Date } = {}) {
  return generateKey({ userIDs: [{ name: 'Ann' }], format: 'object', ...options });
}

describe('a public key', () => {
  test('is read binary or armored, and named by the fingerprint of its primary key', async () => {
    const { publicKey } = await keyPair();
    const fingerprint = publicKey.getFingerprint();
    expect((await readPublicKey(publicKey.write(), now)).fingerprint).toBe(fingerprint);
    expect((await readPublicKey(Buffer.from(publicKey.armor()), now)).fingerprint).toBe(fingerprint);
    expect(fingerprint).toMatch(/^[0-9a-f]{40}$/);
  });

  test('counts as new if its clock was ahead of the one here', async () => {
    const { publicKey } = await keyPair({ date: after(30) });
    await (await readPublicKey(publicKey.write(), now)).encrypt(Buffer.from('x'));
  });

  test('is refused if it cannot be encrypted to, with the reason', async () => {
    const { publicKey, privateKey } = await keyPair({ keyExpirationTime: 86_400 });
    expect(await refusal(publicKey.write(), after(2))).toMatch(/^it cannot be encrypted to: .*expired/i);
    expect(await refusal(privateKey.write())).toMatch(/private key/);
    expect(await refusal(Buffer.from('abc'))).toBe('openpgp: invalid data: tag byte does not have MSB set');
    expect(await refusal(new Uint8Array(0))).toBe('openpgp: invalid data: tag byte does not have MSB set');
    expect(await refusal(Buffer.from([0x99, 1, 2]))).toMatch(/^it is no OpenPGP key: /);
    expect(await refusal(Buffer.alloc(65_537, 0x99))).toMatch(/65537 bytes, more than 65536/);
    expect(await refusal(Buffer.concat([publicKey.write(), (await keyPair()).publicKey.write()]))).toBe('it holds 2 keys: send one');
    const { publicKey: signing } = await generateKey({ userIDs: [{ name: 'Sign' }], format: 'object', subkeys: [] });
    expect(await refusal(signing.write())).toMatch(/^it cannot be encrypted to: /);
    const half = publicKey.write().subarray(0, 60);
    expect(await refusal(half)).toMatch(/^it (is no OpenPGP key|cannot be encrypted to|holds no key)/);
  });

  test('is refused if it was revoked', async () => {
    const { publicKey, revocationCertificate } = await generateKey({ userIDs: [{ name: 'Ann' }], format: 'object' });
    const { publicKey: revoked } = await revokeKey({ key: publicKey, revocationCertificate, format: 'object' });
    expect(await refusal(revoked.write())).toMatch(/^it cannot be encrypted to: .*revoked/i);
  });
});

const withGnuPg = noGnuPg === undefined ? describe : describe.skip;

withGnuPg(`GnuPG${noGnuPg === undefined ? '' : ` (${noGnuPg})`}`, () => {
  let home: GpgHome;
  beforeAll(() => {
    home = new GpgHome();
  });
  afterAll(() => home.close());

  test.each(['rsa2048', 'future-default'])('decrypts what is encrypted to its key of %s', async (algorithm) => {
    const user = `${algorithm}@example.org`;
    home.generate(user, algorithm);
    for (const exported of [home.export(user), home.export(user, '--armor')]) {
      const key = await readPublicKey(exported, new Date());
      expect(key.fingerprint).toBe(home.fingerprint(user));
      expect(home.decrypt(await key.encrypt(Buffer.from('8cb296f7')))).toBe('8cb296f7');
    }
    expect(await refusal(home.exportPrivate(user))).toMatch(/private key/);
  });
});
