import {
  constants,
  createCipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  publicEncrypt,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { transitEngine } from '../src/index.ts';

const input = Buffer.from('imported').toString('base64');
const pkcs8 = (key: KeyObject): Buffer => key.export({ type: 'pkcs8', format: 'der' });
const spki = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }) as string;

describe('keys that come from elsewhere', () => {
  let mount: TestMount;
  let wrapping: string;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const ed = generateKeyPairSync('ed25519');

  beforeAll(async () => {
    mount = await mountForTest(transitEngine);
    wrapping = ((await mount.read('wrapping_key')).data as { public_key: string }).public_key;
  }, 60_000);
  afterAll(async () => mount.close());

  const ask = async (path: string, data: Record<string, unknown>): Promise<Record<string, unknown>> =>
    (await mount.write(path, data)).data as Record<string, unknown>;
  const refused = async (path: string, data: Record<string, unknown>): Promise<string> => {
    const { status, errors } = await mount.call('update', `transit/${path}`, { data });
    expect(status).toBe(400);
    return errors?.join() ?? '';
  };
  const exportOf = async (path: string): Promise<Record<string, string>> =>
    ((await mount.read(path)).data as { keys: Record<string, string> }).keys;

  /** As the documents of other servers tell clients to do it. */
  function wrapped(target: Buffer, hash = 'sha256'): string {
    const key = randomBytes(32);
    const outer = publicEncrypt({ key: wrapping, oaepHash: hash, padding: constants.RSA_PKCS1_OAEP_PADDING }, key);
    const cipher = createCipheriv('id-aes256-wrap-pad', key, Buffer.from('a65959a6', 'hex'));
    return Buffer.concat([outer, cipher.update(target), cipher.final()]).toString('base64');
  }

  test('the wrapping key stays the same', async () => {
    expect((await mount.read('wrapping_key')).data).toEqual({ public_key: wrapping });
    expect(createPublicKey(wrapping).asymmetricKeyDetails?.modulusLength).toBe(4096);
  });

  test.each([
    ['aes128-gcm96', 'encryption-key', randomBytes(16)],
    ['aes256-gcm96', 'encryption-key', randomBytes(32)],
    ['chacha20-poly1305', 'encryption-key', randomBytes(32)],
    ['xchacha20-poly1305', 'encryption-key', randomBytes(32)],
    ['hmac', 'hmac-key', randomBytes(40)],
  ])('%s is imported as its bytes, and exported as %s', async (type, kind, bytes) => {
    await mount.write(`keys/${type}/import`, { type, ciphertext: wrapped(bytes), exportable: true });
    expect(await exportOf(`export/${kind}/${type}`)).toEqual({ '1': bytes.toString('base64') });
    expect((await mount.read(`keys/${type}`)).data).toMatchObject({ imported_key: true, imported_key_allow_rotation: false });
  });

  test.each([
    ['rsa-2048', rsa],
    ['ecdsa-p256', p256],
    ['ed25519', ed],
  ] as const)('%s is imported as PKCS #8, with every hash of OAEP, and signs', async (type, pair) => {
    for (const hash of ['SHA1', 'SHA224', 'SHA256', 'SHA384', 'SHA512']) {
      const name = `${type}-${hash}`.toLowerCase();
      await mount.write(`keys/${name}/import`, { type, ciphertext: wrapped(pkcs8(pair.privateKey), hash), hash_function: hash });
    }
    const { signature } = await ask(`sign/${type}-sha1`, { input });
    expect(await ask(`verify/${type}-sha512`, { input, signature })).toEqual({ valid: true });
  });

  test('a public key verifies and encrypts, until its private key comes as well', async () => {
    await mount.write('keys/half/import', { type: 'rsa-2048', public_key: spki(rsa.publicKey) });
    expect(await refused('sign/half', { input })).toContain('private part');
    const { ciphertext } = await ask('encrypt/half', { plaintext: input });
    expect(await refused('decrypt/half', { ciphertext })).toContain('private');
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
    expect(await refused('keys/half/import_version', { ciphertext: wrapped(pkcs8(other.privateKey)), version: 1 })).toContain(
      'does not match',
    );
    await mount.write('keys/half/import_version', { ciphertext: wrapped(pkcs8(rsa.privateKey)) });
    expect(await ask('decrypt/half', { ciphertext })).toEqual({ plaintext: input });
    expect((await mount.read('keys/half')).data).toMatchObject({ latest_version: 1 });
    expect(await refused('keys/half/import_version', { ciphertext: wrapped(pkcs8(rsa.privateKey)), version: 1 })).toContain(
      'cannot be updated',
    );
  });

  test('a further version is imported; the server makes one only where that is allowed', async () => {
    const [first, second] = [randomBytes(32), randomBytes(32)];
    await mount.write('keys/more/import', { ciphertext: wrapped(first), exportable: true });
    const { ciphertext } = await ask('encrypt/more', { plaintext: input });
    await mount.write('keys/more/import_version', { ciphertext: wrapped(second) });
    expect(Object.keys(await exportOf('export/encryption-key/more'))).toEqual(['1', '2']);
    expect(await exportOf('export/encryption-key/more/latest')).toEqual({ '2': second.toString('base64') });
    expect(await ask('decrypt/more', { ciphertext })).toEqual({ plaintext: input });
    expect(await refused('keys/more/rotate', {})).toContain('does not allow rotation');
    await mount.write('keys/free/import', { ciphertext: wrapped(first), allow_rotation: true });
    await mount.write('keys/free/rotate', {});
    expect((await mount.read('keys/free')).data).toMatchObject({ latest_version: 2, imported_key: false });
  });

  test.each([
    ['neither ciphertext nor public_key', { type: 'rsa-2048' }, 'ciphertext or public_key is required'],
    ['a public key of a symmetric type', { public_key: 'x' }, 'ciphertext is required'],
    ['an unknown hash', { ciphertext: 'AAAA', hash_function: 'MD5' }, 'hash_function must be one of SHA1'],
    ['no Base64', { ciphertext: '%' }, 'illegal base64'],
    ['too short a ciphertext', { ciphertext: 'AAAA' }, 'too short'],
    ['a ciphertext for another key', { ciphertext: Buffer.alloc(600).toString('base64') }, 'wrapped with wrapping_key'],
    ['a period without allow_rotation', { ciphertext: 'AAAA', auto_rotate_period: '2h' }, 'allow_rotation'],
    ['no PEM', { type: 'ed25519', public_key: 'zz' }, 'must be PEM'],
    ['a derived public key', { type: 'ed25519', derived: true, public_key: spki(ed.publicKey) }, 'derived needs the private key'],
    ['a public key of another type', { type: 'ed25519', public_key: spki(p256.publicKey) }, 'expected ed25519, got ec'],
  ])('refuses %s', async (_what, data, complaint) => {
    expect(await refused('keys/never/import', data)).toContain(complaint);
    expect((await mount.call('read', 'transit/keys/never')).status).toBe(404);
  });

  test('refuses keys that are not of the type', async () => {
    const cases: [string, Buffer, string][] = [
      ['aes256-gcm96', randomBytes(16), 'invalid key size 16 bytes for key type aes256-gcm96'],
      ['hmac', randomBytes(16), 'it must be from 32 to 512'],
      ['rsa-3072', pkcs8(rsa.privateKey), 'expected 3072 bits, got 2048'],
      ['ecdsa-p384', pkcs8(p256.privateKey), 'expected P-384'],
      ['ed25519', randomBytes(64), 'PKCS #8'],
    ];
    for (const [type, bytes, complaint] of cases)
      expect(await refused('keys/wrong/import', { type, ciphertext: wrapped(bytes) })).toContain(complaint);
  });

  test('import needs a free name, import_version an imported key', async () => {
    await mount.write('keys/own', {});
    const ciphertext = wrapped(randomBytes(32));
    expect(await refused('keys/own/import', { ciphertext })).toContain('import_version');
    expect(await refused('keys/own/import_version', { ciphertext })).toContain('only be used with an imported key');
    expect(await refused('keys/absent/import_version', { ciphertext })).toContain('no key found');
  });

  test('a key travels to another server under its wrapping key', async () => {
    const there = await mountForTest(transitEngine);
    try {
      const { public_key } = (await there.read('wrapping_key')).data as { public_key: string };
      await mount.write('keys/there/import', { type: 'rsa-4096', public_key });
      for (const type of ['aes256-gcm96', 'rsa-2048', 'ecdsa-p521', 'ed25519', 'hmac']) {
        const name = `travels-${type}`;
        await mount.write(`keys/${name}`, { type, exportable: true });
        const [ciphertext] = Object.values(await exportOf(`byok-export/there/${name}/latest`));
        await there.write(`keys/${name}/import`, { type, ciphertext, exportable: true });
        const kind = type === 'aes256-gcm96' ? 'encryption-key' : type === 'hmac' ? 'hmac-key' : 'signing-key';
        expect(((await there.read(`export/${kind}/${name}`)).data as { keys: unknown }).keys).toEqual(
          await exportOf(`export/${kind}/${name}`),
        );
      }
      await mount.write('keys/stays', {});
      const answer = async (path: string) => (await mount.call('read', `transit/byok-export/${path}`)).errors?.join();
      expect(await answer('there/stays')).toContain('not exportable');
      expect(await answer('stays/stays')).toContain('destination must be a rsa key');
      expect(await answer('none/stays')).toContain('destination');
      expect(await answer('there/none')).toContain('source');
    } finally {
      await there.close();
    }
  }, 60_000);

  test('exports say what they refuse', async () => {
    await mount.write('keys/kept', { type: 'ecdsa-p256' });
    const answer = async (path: string) => {
      const { status, errors } = await mount.call('read', `transit/export/${path}`);
      return `${status} ${errors?.join()}`;
    };
    expect(await answer('signing-key/kept')).toContain('400 private key material is not exportable');
    expect(await answer('anything/kept')).toContain('400 invalid export type');
    expect(await answer('public-key/none')).toContain('404');
    expect(await answer('certificate-chain/kept')).toContain('400 selected key version does not have a certificate chain');
    expect(await answer('public-key/kept/9')).toContain('400 version does not exist');
    expect(await answer('public-key/kept/0')).toContain('400 version for export is below');
    expect(await answer('public-key/kept/x')).toContain('400 invalid key version');
    await mount.write('keys/kept/config', { exportable: true });
    expect(await answer('encryption-key/kept')).toContain('400 encryption not supported');
    expect((await exportOf('export/signing-key/kept'))['1']).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n/);
  });

  test('two parties agree on a key that is never sent', async () => {
    await mount.write('keys/base', { type: 'ecdsa-p384' });
    const { keys } = (await mount.read('keys/base')).data as { keys: Record<string, { public_key: string }> };
    const secret = diffieHellman({ privateKey: p384.privateKey, publicKey: createPublicKey(keys['1']!.public_key) });
    expect(secret).toHaveLength(48);
    await mount.write('derive-key/agreed', { base_key_name: 'base', peer_public_key: spki(p384.publicKey) });
    await mount.write('keys/mirror/import', { type: 'ecdsa-p384', ciphertext: wrapped(pkcs8(p384.privateKey)) });
    await mount.write('derive-key/agreed-too', { base_key_name: 'mirror', peer_public_key: keys['1']!.public_key });
    const { ciphertext } = await ask('encrypt/agreed', { plaintext: input });
    expect(await ask('decrypt/agreed-too', { ciphertext })).toEqual({ plaintext: input });
    await mount.write('derive-key/agreed', { base_key_name: 'base', peer_public_key: spki(p384.publicKey) });
    expect((await mount.read('keys/agreed')).data).toMatchObject({ latest_version: 2 });
  });

  test.each([
    ['no base key', {}, 'base_key_name'],
    ['a base key of another type', { base_key_name: 'aes' }, 'does not support key agreement'],
    ['no public key', { base_key_name: 'curve' }, 'not provided'],
    ['no PEM', { base_key_name: 'curve', peer_public_key: 'x' }, 'must be the PEM'],
    ['a public key of another curve', { base_key_name: 'curve', peer_public_key: spki(p384.publicKey) }, 'does not match'],
    ['a type that cannot be derived', { base_key_name: 'curve', derived_key_type: 'rsa-2048' }, 'derived_key_type must be one of'],
    ['another algorithm', { base_key_name: 'curve', key_derivation_algorithm: 'dh' }, 'it must be ecdh'],
    ['a version that there is not', { base_key_name: 'curve', base_key_version: 3, peer_public_key: spki(p256.publicKey) }, 'higher than'],
    [
      'a key of the server under the name',
      { base_key_name: 'curve', peer_public_key: spki(p256.publicKey) },
      'only a derived or imported key',
    ],
  ])('refuses to derive with %s', async (_what, data, complaint) => {
    await mount.write('keys/aes', {});
    await mount.write('keys/curve', { type: 'ecdsa-p256' });
    expect(await refused('derive-key/aes', data)).toContain(complaint);
  });

  test('random bytes come in as many as asked, in the path or the body', async () => {
    expect(Buffer.from(String((await ask('random', { bytes: 7 }))['random_bytes']), 'base64')).toHaveLength(7);
    expect((await ask('random/5', { format: 'hex' }))['random_bytes']).toMatch(/^[0-9a-f]{10}$/);
    expect((await ask('random/platform/3', { format: 'hex' }))['random_bytes']).toMatch(/^[0-9a-f]{6}$/);
    expect(await refused('random/0', {})).toContain('less than 1');
    expect(await refused('random/many', {})).toContain('not a whole number');
  });
});
