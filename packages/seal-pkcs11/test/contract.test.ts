import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { readSettings, sealContract } from '@strongroom/seal-sdk';
import { pkcs11Seal } from '../src/index.ts';
import { LIB, PIN, softHsmMissing, startSoftHsm } from './soft-hsm.ts';

const inProcess = 'SoftHSM is a library in this process: it neither goes away, nor refuses for a while, nor asks for a pause';

describeWhere(softHsmMissing(), 'SoftHSM', () => {
  let hsm: Awaited<ReturnType<typeof startSoftHsm>>;
  let made = 0;
  beforeAll(async () => {
    hsm = await startSoftHsm();
    hsm.rsa('pair', 'aa');
  });
  afterAll(() => hsm.stop());

  const newKey = (): Record<string, string> => {
    const label = `seal-${(made += 1)}`;
    hsm.aes(label, made.toString(16).padStart(2, '0'));
    return { lib: LIB!, token_label: 'strongroom', pin: PIN, key_label: label };
  };
  const open = (block: Record<string, string>) =>
    pkcs11Seal.open(readSettings(pkcs11Seal.settings, { block, env: {}, readFile: () => Buffer.alloc(0) }).values(), {} as never);
  const { signal } = new AbortController();

  sealContract(
    { describe, test },
    {
      plugin: pkcs11Seal,
      start: async () => {
        const block = newKey();
        return {
          block,
          otherKey: newKey(),
          rotate: async () => newKey(),
          fail: async () => async () => undefined,
          stop: async () => undefined,
        };
      },
      skip: [
        { test: 'another key does not open it', reason: 'a blob names its key, so that another key of the token can be configured' },
        {
          test: 'a session that was open while the key was rotated uses the new version',
          reason: 'another key is configured, which takes a restart',
        },
        { test: 'a service that is away is unavailable, and the same session works once it is back', reason: inProcess },
        { test: 'a permission that was lost is named as such, and the same session works once it is granted again', reason: inProcess },
        { test: 'a service that asks for a pause is named as such, and the same session works afterwards', reason: inProcess },
        { test: 'a session opens while the service is away', reason: inProcess },
      ],
    },
  );

  test('a pair of RSA keys wraps as well, by its id', async () => {
    const block = { lib: LIB!, token_label: 'strongroom', pin: PIN, key_id: '0xAA', mechanism: '0x0009', rsa_oaep_hash: 'sha1' };
    const session = await open(block);
    const { blob, keyId } = await session.wrap({ plain: Buffer.from('a key'), aad: Buffer.from('a'), signal });
    expect(keyId).toBe('aa:pair');
    expect(Buffer.from(await session.unwrap({ blob, aad: Buffer.from('a'), signal })).toString()).toBe('a key');
    await session.close();
  });

  test('a key, a token or a slot that is not there is named', async () => {
    const failing = async (block: Record<string, string>): Promise<unknown> => {
      const session = await open({ lib: LIB!, token_label: 'strongroom', pin: PIN, key_label: 'none', ...block });
      const error = await session.keyId({ signal }).catch((thrown: unknown) => thrown);
      await session.close();
      return error;
    };
    expect(await failing({})).toMatchObject({ code: 'seal_permission_denied', serviceCode: 'KeyMissing' });
    expect(await failing({ token_label: 'other' })).toMatchObject({ code: 'seal_unavailable', serviceCode: 'CKR_TOKEN_NOT_PRESENT' });
    expect(await failing({ slot: '99' })).toMatchObject({ code: 'seal_unavailable', serviceCode: 'CKR_TOKEN_NOT_PRESENT' });
  });
});

describe('the settings of a PKCS #11 module', () => {
  const faults = (block: Record<string, string>): string =>
    pkcs11Seal.check!(readSettings(pkcs11Seal.settings, { block, env: {}, readFile: () => Buffer.alloc(0) }).values()).join('; ');

  test('are refused by name', () => {
    const good = { lib: '/lib', pin: '1', token_label: 't', key_label: 'k' };
    expect(faults(good)).toBe('');
    expect(faults({ lib: '/lib', pin: '1' })).toBe('slot or token_label is required; key_label or key_id is required');
    expect(faults({ ...good, slot: 'one', key_id: 'xyz', mechanism: 'DES' })).toMatch(/slot must.*key_id must.*mechanism must/);
  });

  test('name a library that is there', async () => {
    const values = readSettings(pkcs11Seal.settings, {
      block: { lib: '/no/lib.so', pin: '1', slot: '0', key_label: 'k' },
      env: {},
      readFile: () => Buffer.alloc(0),
    }).values();
    await expect(pkcs11Seal.open(values, {} as never)).rejects.toMatchObject({ code: 'seal_settings_invalid' });
  });
});
