import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { describeWhere, openbaoMissing, startOpenbao, type OpenbaoServer } from '@strongroom/lab';
import { transitEngine } from '../src/index.ts';

type Data = Readonly<Record<string, unknown>>;

const input = Buffer.from('there and back').toString('base64');
const context = Buffer.from('of a context').toString('base64');
const associated_data = Buffer.from('of a row').toString('base64');

/** Each kind of key that encrypts, with what a call to it also sends. */
const ENCRYPTS: readonly (readonly [title: string, settings: Data, sent: Data])[] = [
  ['aes128-gcm96', {}, {}],
  ['aes256-gcm96', {}, {}],
  ['chacha20-poly1305', {}, {}],
  ['xchacha20-poly1305', {}, {}],
  ['aes256-gcm96', { derived: true }, { context }],
  ['chacha20-poly1305', { derived: true }, { context }],
  ['aes256-gcm96', { derived: true, convergent_encryption: true }, { context }],
  ['chacha20-poly1305', { derived: true, convergent_encryption: true }, { context }],
  ['aes256-gcm96', {}, { associated_data }],
  ['chacha20-poly1305', {}, { associated_data }],
  ['rsa-2048', {}, {}],
  ['rsa-3072', {}, {}],
  ['rsa-4096', {}, {}],
];

/** Each kind of key that signs, with how it does. */
const PSS_PREHASHED = { prehashed: true, hash_algorithm: 'sha2-256', input: Buffer.alloc(32, 7).toString('base64') };
const SIGNS: readonly (readonly [title: string, settings: Data, sent: Data])[] = [
  ['ed25519', {}, {}],
  ['ed25519', { derived: true }, { context }],
  ['ecdsa-p256', {}, {}],
  ['ecdsa-p384', {}, { marshaling_algorithm: 'jws', hash_algorithm: 'sha2-384' }],
  ['ecdsa-p521', {}, { hash_algorithm: 'sha3-512' }],
  ['ecdsa-p521', {}, PSS_PREHASHED],
  ['rsa-2048', {}, { signature_algorithm: 'pss' }],
  ['rsa-2048', {}, { signature_algorithm: 'pkcs1v15', hash_algorithm: 'sha3-384' }],
  ['rsa-3072', {}, { ...PSS_PREHASHED, signature_algorithm: 'pss', salt_length: 'hash' }],
  ['rsa-4096', {}, { ...PSS_PREHASHED, signature_algorithm: 'pkcs1v15' }],
];

describeWhere(openbaoMissing(), 'OpenBao with what was made here', () => {
  let mount: TestMount;
  let peer: OpenbaoServer;
  let count = 0;
  beforeAll(async () => {
    [mount, peer] = await Promise.all([mountForTest(transitEngine), startOpenbao()]);
    await there('POST', 'sys/mounts/transit', { type: 'transit' });
  }, 60_000);
  afterAll(async () => Promise.all([mount?.close(), peer?.stop()]));

  const there = async (method: string, path: string, body?: Data): Promise<Record<string, unknown>> => {
    const headers = { 'X-Vault-Token': peer.rootToken };
    const answer = await fetch(`${peer.address}/v1/${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as { data: Record<string, unknown> }).data;
  };
  const here = async (path: string, data: Data): Promise<Record<string, unknown>> =>
    (await mount.write(path, data)).data as Record<string, unknown>;
  const publicKeyHere = async (name: string): Promise<string> =>
    ((await mount.read(`keys/${name}`)).data as { keys: Record<string, { public_key: string }> }).keys['1']!.public_key;

  /** A new key of two versions, or of one where it takes long to make. */
  async function newKey(type: string, settings: Data): Promise<string> {
    count += 1;
    const name = `${type}-${count}`;
    await mount.write(`keys/${name}`, { type, exportable: true, allow_plaintext_backup: true, ...settings });
    if (!type.startsWith('rsa')) await mount.write(`keys/${name}/rotate`, {});
    return name;
  }

  async function restoredThere(name: string): Promise<void> {
    const { backup } = (await mount.read(`backup/${name}`)).data as { backup: string };
    await there('POST', `transit/restore/${name}`, { backup });
  }

  test.each(ENCRYPTS)('decrypts what %s encrypted here, and the other way round: %j with %j', async (type, settings, sent) => {
    const name = await newKey(type, settings);
    const first = await here(`encrypt/${name}`, { plaintext: input, key_version: 1, ...sent });
    const latest = await here(`encrypt/${name}`, { plaintext: input, ...sent });
    await restoredThere(name);
    for (const { ciphertext } of [first, latest])
      expect(await there('POST', `transit/decrypt/${name}`, { ciphertext, ...sent })).toEqual({ plaintext: input });
    const theirs = await there('POST', `transit/encrypt/${name}`, { plaintext: input, ...sent });
    expect(await here(`decrypt/${name}`, { ciphertext: theirs['ciphertext'], ...sent })).toEqual({ plaintext: input });
    if (settings['convergent_encryption']) expect(theirs['ciphertext']).toBe(latest['ciphertext']);
  });

  test.each(SIGNS)('verifies what %s signed here, and the other way round: %j with %j', async (type, settings, sent) => {
    const name = await newKey(type, settings);
    const { signature } = await here(`sign/${name}`, { input, ...sent });
    const { hmac } = await here(`hmac/${name}`, { input });
    await restoredThere(name);
    expect(await there('POST', `transit/verify/${name}`, { input, ...sent, signature })).toEqual({ valid: true });
    expect(await there('POST', `transit/hmac/${name}`, { input })).toEqual({ hmac });
    const theirs = await there('POST', `transit/sign/${name}`, { input, ...sent });
    expect(await here(`verify/${name}`, { input, ...sent, signature: theirs['signature'] })).toEqual({ valid: true });
  });

  test('imports what was wrapped for it here, and its keys are imported here in the same way', async () => {
    const { public_key } = await there('GET', 'transit/wrapping_key');
    await mount.write('keys/there/import', { type: 'rsa-4096', public_key });
    const own = (await mount.read('wrapping_key')).data as { public_key: string };
    await there('POST', 'transit/keys/here/import', { type: 'rsa-4096', public_key: own.public_key });
    for (const type of ['aes256-gcm96', 'ecdsa-p384', 'ed25519', 'rsa-2048']) {
      const name = await newKey(type, {});
      const wrapped = ((await mount.read(`byok-export/there/${name}/1`)).data as { keys: Record<string, string> }).keys;
      await there('POST', `transit/keys/${name}/import`, { type, ciphertext: wrapped['1'], exportable: true });
      const back = (await there('GET', `transit/byok-export/here/${name}`))['keys'] as Record<string, string>;
      await mount.write(`keys/${name}-back/import`, { type, ciphertext: back['1'], exportable: true });
      const kind = type === 'aes256-gcm96' ? 'encryption-key' : 'signing-key';
      const exported = async (of: string): Promise<unknown> =>
        ((await mount.read(`export/${kind}/${of}/1`)).data as { keys: unknown }).keys;
      expect(await exported(`${name}-back`)).toEqual(await exported(name));
    }
  });

  test('agrees with a key here on the same key', async () => {
    await mount.write('keys/ours', { type: 'ecdsa-p521' });
    await there('POST', 'transit/keys/theirs', { type: 'ecdsa-p521' });
    const theirs = ((await there('GET', 'transit/keys/theirs'))['keys'] as Record<string, { public_key: string }>)['1']!.public_key;
    await mount.write('derive-key/agreed', { base_key_name: 'ours', peer_public_key: theirs });
    await there('POST', 'transit/derive-key/agreed', { base_key_name: 'theirs', peer_public_key: await publicKeyHere('ours') });
    const { ciphertext } = await here('encrypt/agreed', { plaintext: input });
    expect(await there('POST', 'transit/decrypt/agreed', { ciphertext })).toEqual({ plaintext: input });
  });
});
