import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { transitEngine } from '../src/index.ts';

const HELLO = Buffer.from('hello').toString('base64');
const CONTEXT = Buffer.from('tenant 1').toString('base64');
const AEADS = ['aes128-gcm96', 'aes256-gcm96', 'chacha20-poly1305', 'xchacha20-poly1305'];

describe('encryption with keys of the mount', () => {
  let mount: TestMount;
  beforeEach(async () => {
    mount = await mountForTest(transitEngine);
  });
  afterEach(async () => mount.close());

  const ask = async (path: string, data: Record<string, unknown>): Promise<Record<string, unknown>> =>
    (await mount.write(path, data)).data as Record<string, unknown>;
  const refused = async (path: string, data: Record<string, unknown>): Promise<string> => {
    const { status, errors } = await mount.call('update', `transit/${path}`, { data });
    expect(status).toBe(400);
    return errors?.join() ?? '';
  };

  test.each([...AEADS, 'rsa-2048'])('%s encrypts and decrypts, also after a rotation', async (type) => {
    await mount.write('keys/k', { type });
    const { ciphertext } = await ask('encrypt/k', { plaintext: HELLO });
    expect(ciphertext).toMatch(/^vault:v1:/);
    await mount.write('keys/k/rotate', {});
    expect(await ask('decrypt/k', { ciphertext })).toEqual({ plaintext: HELLO });
    const again = await ask('rewrap/k', { ciphertext });
    expect(again).toEqual({ ciphertext: expect.stringMatching(/^vault:v2:/), key_version: 2 });
    expect(await ask('decrypt/k', { ciphertext: again['ciphertext'] })).toEqual({ plaintext: HELLO });
  });

  test.each(AEADS)('%s refuses a ciphertext that was changed, and one with other associated data', async (type) => {
    await mount.write('keys/k', { type });
    const { ciphertext } = await ask('encrypt/k', { plaintext: HELLO, associated_data: CONTEXT });
    expect(await ask('decrypt/k', { ciphertext, associated_data: CONTEXT })).toEqual({ plaintext: HELLO });
    expect(await refused('decrypt/k', { ciphertext })).toContain('message authentication failed');
    const bytes = Buffer.from(String(ciphertext).slice('vault:v1:'.length), 'base64');
    bytes[bytes.length - 1]! ^= 1;
    const changed = `vault:v1:${bytes.toString('base64')}`;
    expect(await refused('decrypt/k', { ciphertext: changed, associated_data: CONTEXT })).toContain('message authentication failed');
  });

  test.each(AEADS)('%s encrypts again what has associated data only with the same, alone and in a batch', async (type) => {
    await mount.write('keys/k', { type });
    const { ciphertext } = await ask('encrypt/k', { plaintext: HELLO, associated_data: CONTEXT });
    await mount.write('keys/k/rotate', {});
    expect(await refused('rewrap/k', { ciphertext })).toContain('message authentication failed');
    expect(await refused('rewrap/k', { ciphertext, associated_data: HELLO })).toContain('message authentication failed');
    const alone = await ask('rewrap/k', { ciphertext, associated_data: CONTEXT });
    const { batch_results: results } = (await ask('rewrap/k', {
      batch_input: [{ ciphertext, associated_data: CONTEXT }, { ciphertext }],
    })) as { batch_results: Record<string, unknown>[] };
    expect(results[1]!['error']).toContain('message authentication failed');
    for (const again of [alone, results[0]!]) {
      expect(again).toMatchObject({ ciphertext: expect.stringMatching(/^vault:v2:/), key_version: 2 });
      expect(await ask('decrypt/k', { ciphertext: again['ciphertext'], associated_data: CONTEXT })).toEqual({ plaintext: HELLO });
      expect(await refused('decrypt/k', { ciphertext: again['ciphertext'] })).toContain('message authentication failed');
    }
  });

  test('an RSA key refuses associated data by name, also to encrypt again', async () => {
    await mount.write('keys/k', { type: 'rsa-2048' });
    const { ciphertext } = await ask('encrypt/k', { plaintext: HELLO });
    expect(await refused('rewrap/k', { ciphertext, associated_data: CONTEXT })).toContain('associated_data');
  });

  test.each(AEADS)('%s of a derived key needs the context that it encrypted for', async (type) => {
    await mount.write('keys/k', { type, derived: true });
    const { ciphertext } = await ask('encrypt/k', { plaintext: HELLO, context: CONTEXT });
    expect(await ask('decrypt/k', { ciphertext, context: CONTEXT })).toEqual({ plaintext: HELLO });
    expect(await refused('decrypt/k', { ciphertext })).toContain("missing 'context'");
    expect(await refused('decrypt/k', { ciphertext, context: HELLO })).toContain('message authentication failed');
  });

  test.each(AEADS)('%s with convergent encryption gives one ciphertext for one plaintext and context', async (type) => {
    await mount.write('keys/k', { type, derived: true, convergent_encryption: true });
    const once = await ask('encrypt/k', { plaintext: HELLO, context: CONTEXT });
    expect(await ask('encrypt/k', { plaintext: HELLO, context: CONTEXT })).toEqual(once);
    expect(await ask('encrypt/k', { plaintext: CONTEXT, context: CONTEXT })).not.toEqual(once);
    expect(await ask('decrypt/k', { ciphertext: once['ciphertext'], context: CONTEXT })).toEqual({ plaintext: HELLO });
  });

  test('a batch keeps its order and references, and an item that fails leaves the others alone', async () => {
    await mount.write('keys/k', {});
    const batch_input = [{ plaintext: HELLO, reference: 'a' }, { plaintext: '***', reference: 'b' }, { plaintext: HELLO }];
    const failed = await mount.call('update', 'transit/encrypt/k', { data: { batch_input } });
    expect(failed.status).toBe(400);
    expect(failed.data).toMatchObject({
      batch_results: [
        { key_version: 1, reference: 'a' },
        { error: 'illegal base64 data at input byte 0', reference: 'b' },
        { key_version: 1, reference: '' },
      ],
    });
    const partial = await mount.call('update', 'transit/encrypt/k', { data: { batch_input, partial_failure_response_code: 207 } });
    expect(partial.status).toBe(207);
  });

  test('min_decryption_version ends what older versions encrypted, and trim removes them for good', async () => {
    await mount.write('keys/k', {});
    const { ciphertext } = await ask('encrypt/k', { plaintext: HELLO });
    await mount.write('keys/k/rotate', {});
    await mount.write('keys/k/config', { min_decryption_version: 2, min_encryption_version: 2 });
    expect(await refused('decrypt/k', { ciphertext })).toContain('too old');
    await mount.write('keys/k/config', { min_decryption_version: 1 });
    expect(await ask('decrypt/k', { ciphertext })).toEqual({ plaintext: HELLO });
    await mount.write('keys/k/config', { min_decryption_version: 2 });
    expect(await ask('keys/k/trim', { min_available_version: 2 })).toMatchObject({ min_available_version: 2 });
    expect(await refused('keys/k/config', { min_decryption_version: 1 })).toContain('min available version');
  });

  test('a key is made by the first encryption, unless the settings of the mount forbid it', async () => {
    expect(await ask('encrypt/new', { plaintext: HELLO })).toMatchObject({ key_version: 1 });
    expect((await mount.read('keys/new')).data).toMatchObject({ type: 'aes256-gcm96', derived: false });
    await mount.write('config/keys', { disable_upsert: true });
    expect(await refused('encrypt/other', { plaintext: HELLO })).toContain('encryption key not found');
  });

  test('a key is deleted only where that is allowed', async () => {
    await mount.write('keys/k', {});
    const { status, errors } = await mount.call('delete', 'transit/keys/k');
    expect({ status, errors }).toEqual({ status: 400, errors: ['error deleting policy k: deletion is not allowed for this key'] });
    await mount.write('keys/k/config', { deletion_allowed: true });
    await mount.delete('keys/k');
    expect((await mount.call('read', 'transit/keys/k')).status).toBe(404);
  });

  test('a key rotates by itself when its period is over', async () => {
    const made = mount.clock.millis();
    await mount.write('keys/k', { auto_rotate_period: '24h' });
    expect((await mount.read('keys/k')).data).toMatchObject({
      rotation: { next_attempt: new Date(made + 86_400_000).toISOString(), attempts: 0, last_error: null },
    });
    await mount.advance('23h');
    expect((await mount.read('keys/k')).data).toMatchObject({ latest_version: 1 });
    await mount.advance('1h');
    expect((await mount.read('keys/k')).data).toMatchObject({ latest_version: 2, auto_rotate_period: 86_400 });
    await mount.write('keys/k/rotate', {});
    await mount.advance('24h');
    expect((await mount.read('keys/k')).data).toMatchObject({ latest_version: 4 });
    await mount.write('keys/k/config', { auto_rotate_period: 0 });
    expect((await mount.read('keys/k')).data).not.toHaveProperty('rotation');
    await mount.advance('48h');
    expect((await mount.read('keys/k')).data).toMatchObject({ latest_version: 4 });
  });

  test('a key that is quarantined serves nothing until it is brought back', async () => {
    await mount.write('keys/k', {});
    const { ciphertext } = await ask('encrypt/k', { plaintext: HELLO });
    await mount.delete('keys/k/soft-delete');
    expect(await refused('decrypt/k', { ciphertext })).toContain('soft-deleted');
    await mount.write('keys/k/soft-delete-restore', {});
    expect(await ask('decrypt/k', { ciphertext })).toEqual({ plaintext: HELLO });
  });

  test.each([
    ['keys/x', { type: 'aes512' }, 'type'],
    ['keys/x', { convergent_encryption: true }, 'derivation'],
    ['keys/x', { auto_rotate_period: '10m' }, 'auto rotate period'],
    ['keys/x', { key_size: 40 }, 'key_size'],
    ['encrypt/x', {}, 'missing plaintext'],
    ['encrypt/x', { batch_input: [] }, 'batch input'],
    ['encrypt/x', { batch_input: ['a'] }, 'batch input: [0]'],
    ['encrypt/x', { batch_input: [{ plaintext: 1 }] }, "[0].plaintext'"],
    ['encrypt/x', { plaintext: HELLO, type: 'ed25519' }, 'not supported'],
    ['decrypt/x', { ciphertext: 'vault:v1:AAAA' }, 'encryption key not found'],
    ['datakey/both/x', {}, 'plaintext'],
  ])('%s with %j is refused, and the answer says why', async (path, data, text) => {
    expect(await refused(path, data)).toContain(text);
  });
});
