import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { transitEngine } from '../src/index.ts';

const input = Buffer.from('kept').toString('base64');

describe('backups of keys', () => {
  let mount: TestMount;
  beforeAll(async () => {
    mount = await mountForTest(transitEngine);
  });
  afterAll(async () => mount.close());

  const ask = async (path: string, data: Record<string, unknown> = {}): Promise<Record<string, unknown>> =>
    (await mount.write(path, data)).data as Record<string, unknown>;
  const backupOf = async (name: string): Promise<string> => ((await mount.read(`backup/${name}`)).data as { backup: string }).backup;
  const refused = async (operation: 'read' | 'update', path: string, data: Record<string, unknown> = {}): Promise<string> => {
    const { status, errors } = await mount.call(operation, `transit/${path}`, { data });
    expect(status).toBe(400);
    return errors?.join() ?? '';
  };
  const open = { exportable: true, allow_plaintext_backup: true };

  test('a key that was lost is there again, with all its versions and settings', async () => {
    await mount.write('keys/lost', { ...open, type: 'rsa-2048' });
    await mount.write('keys/lost/rotate', {});
    await mount.write('keys/lost/config', { deletion_allowed: true, min_decryption_version: 2 });
    const { signature } = await ask('sign/lost', { input });
    const backup = await backupOf('lost');
    const before = (await mount.read('keys/lost')).data as Record<string, unknown>;
    await mount.call('delete', 'transit/keys/lost');
    await mount.write('restore', { backup });
    expect((await mount.read('keys/lost')).data).toEqual({ ...before, restore_info: { time: expect.any(String), version: 2 } });
    expect(await ask('verify/lost', { input, signature })).toEqual({ valid: true });
  });

  test('versions that were trimmed are not in it, and the others keep their numbers', async () => {
    await mount.write('keys/trimmed', { ...open, type: 'aes256-gcm96' });
    for (let n = 0; n < 3; n += 1) await mount.write('keys/trimmed/rotate', {});
    await mount.write('keys/trimmed/config', { min_decryption_version: 3, min_encryption_version: 3 });
    const { ciphertext } = await ask('encrypt/trimmed', { plaintext: input, key_version: 3 });
    await mount.write('keys/trimmed/trim', { min_available_version: 2 });
    await mount.write('restore/trimmed-2', { backup: await backupOf('trimmed') });
    expect(await ask('decrypt/trimmed-2', { ciphertext })).toEqual({ plaintext: input });
    expect((await mount.read('keys/trimmed-2')).data).toMatchObject({ latest_version: 4, min_available_version: 2 });
  });

  test('replaces a key only with force, and leaves none of its versions', async () => {
    await mount.write('keys/taken', { ...open });
    const backup = await backupOf('taken');
    await mount.write('keys/taken/rotate', {});
    const { ciphertext } = await ask('encrypt/taken', { plaintext: input });
    expect(await refused('update', 'restore', { backup })).toContain('already exists: set force');
    await mount.write('restore', { backup, force: true });
    expect((await mount.read('keys/taken')).data).toMatchObject({ latest_version: 1 });
    expect(await refused('update', 'decrypt/taken', { ciphertext })).toContain('version is too new');
  });

  test('a key that cannot be rotated by its plan says why', async () => {
    await mount.write('keys/fixed', { ...open });
    const text = Buffer.from(await backupOf('fixed'), 'base64').toString();
    const imported = text
      .replace('"auto_rotate_period":0', '"auto_rotate_period":7200000000000')
      .replace('"Imported":false', '"Imported":true');
    await mount.write('restore/fixed-2', { backup: Buffer.from(imported).toString('base64') });
    await mount.advance('2h');
    expect((await mount.read('keys/fixed-2')).data).toMatchObject({
      latest_version: 1,
      rotation: {
        next_attempt: expect.any(String),
        attempts: 1,
        last_error: { message: 'imported key fixed-2 does not allow rotation by the server', time: expect.any(String) },
      },
    });
  });

  test('are refused for keys that do not allow them', async () => {
    await mount.write('keys/closed', {});
    expect(await refused('read', 'backup/closed')).toContain('set exportable');
    await mount.write('keys/closed/config', { exportable: true });
    expect(await refused('read', 'backup/closed')).toContain('set allow_plaintext_backup');
    expect(await refused('read', 'backup/none')).toContain('not found');
  });

  test('that are broken are refused with what is wrong, and never with a part of a key', async () => {
    await mount.write('keys/whole', { ...open, type: 'ecdsa-p256' });
    const text = Buffer.from(await backupOf('whole'), 'base64').toString();
    const with_ = (from: RegExp | string, to: string): string => Buffer.from(text.replace(from, to)).toString('base64');
    for (const [backup, complaint] of [
      ['§', 'must be Base64'],
      [Buffer.from('{').toString('base64'), 'must hold JSON'],
      [Buffer.from('[]').toString('base64'), 'the backup must be an object'],
      [Buffer.from('{}').toString('base64'), 'policy must be an object'],
      [with_('"type":1', '"type":99'), 'no type of key'],
      [with_('"latest_version":1', '"latest_version":0'), 'latest_version'],
      [with_('"latest_version":1', '"latest_version":2'), 'version 2 is missing'],
      [with_('"latest_version":1', '"latest_version":100000000'), 'latest_version'],
      [with_(/"ec_d":\d+/, '"ec_d":7'), 'version 1.ec_d does not belong'],
      [with_(/"ec_x":\d+/, '"ec_x":"x"'), 'version 1.ec_x must be a whole number'],
      [with_('"exportable":true', '"exportable":1'), 'exportable must be true or false'],
      [with_('"min_encryption_version":0', '"min_encryption_version":-1'), 'min_encryption_version must be a whole number'],
      [with_(/"min_available_version":0/, '"min_available_version":-1'), 'min_available_version must be a whole number'],
      [with_('"auto_rotate_period":0', '"auto_rotate_period":1000000000'), 'at least an hour'],
      [with_('"auto_rotate_period":0', `"auto_rotate_period":${'9'.repeat(19)}`), 'fit in 64 bits'],
      [with_('"auto_rotate_period":0', `"auto_rotate_period":${'9'.repeat(400)}`), 'fit in 64 bits'],
    ] as const) {
      const sentence = await refused('update', 'restore/broken', { backup });
      expect(sentence).toContain(complaint);
      expect(sentence).not.toMatch(/\d{20}/);
    }
    expect(await refused('update', 'restore', {})).toContain("'backup' must be supplied");
    expect(await refused('update', 'restore', { backup: await backupOf('whole'), name: '../x' })).toContain('name');
    expect((await mount.call('read', 'transit/keys/broken')).status).toBe(404);
  });

  test.each([
    ['an empty HMAC key', /"key":"[^"]+"/g, '"key":""', 'version 1.key must be Base64'],
    ['an HMAC key that is not Base64', /"key":"[^"]+"/g, '"key":"!!!!"', 'version 1.key must be Base64'],
    ['a short HMAC key', /"key":"[^"]+"/g, '"key":"AAAA"', 'from 32 to 512'],
    ['a size that no HMAC key has', '"key_size":32', '"key_size":5', 'policy.key_size must be from 32 to 512'],
  ])('with %s are refused', async (_, from, to, complaint) => {
    await mount.write('keys/keyed', { ...open, type: 'hmac' });
    const text = Buffer.from(await backupOf('keyed'), 'base64').toString();
    const backup = Buffer.from(text.replace(from, to)).toString('base64');
    expect(await refused('update', 'restore/broken', { backup })).toContain(complaint);
  });

  test('with a public RSA key of another size are refused', async () => {
    await mount.write('keys/sized/import', { ...open, type: 'rsa-2048', public_key: publicKey(2048) });
    const text = Buffer.from(await backupOf('sized'), 'base64').toString();
    const { n } = createPublicKey(publicKey(1024)).export({ format: 'jwk' });
    const small = BigInt(`0x${Buffer.from(n!, 'base64url').toString('hex')}`);
    const backup = Buffer.from(text.replace(/"N":\d+/g, `"N":${small}`)).toString('base64');
    expect(await refused('update', 'restore/broken', { backup })).toContain('version 1.rsa_public_key must have 2048 bits');
  });
});

function publicKey(modulusLength: number): string {
  return generateKeyPairSync('rsa', {
    modulusLength,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).publicKey;
}
