import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { readSettings } from '@strongroom/seal-sdk';
import { pkcs11Seal } from '../src/index.ts';
import { LIB, PIN, softHsmMissing, startSoftHsm } from './soft-hsm.ts';

// A file of its own: a login of one session is one of the whole process.
describeWhere(softHsmMissing(), 'a PIN that SoftHSM refuses', () => {
  let hsm: Awaited<ReturnType<typeof startSoftHsm>>;
  beforeAll(async () => {
    hsm = await startSoftHsm();
    hsm.aes('seal', '01');
  });
  afterAll(() => hsm.stop());

  const open = (pin: string) => {
    const block = { lib: LIB!, token_label: 'strongroom', pin, key_label: 'seal' };
    return pkcs11Seal.open(readSettings(pkcs11Seal.settings, { block, env: {}, readFile: () => Buffer.alloc(0) }).values(), {} as never);
  };
  const { signal } = new AbortController();

  test('is tried once and not shown; the right one works afterwards', async () => {
    const session = await open('99887766');
    for (let time = 0; time < 3; time += 1) {
      const error = (await session.keyId({ signal }).catch((thrown: unknown) => thrown)) as Error;
      expect(error).toMatchObject({ code: 'seal_permission_denied', serviceCode: 'CKR_PIN_INCORRECT' });
      expect(error.message).not.toContain('99887766');
    }
    await session.close();
    const right = await open(PIN);
    await expect(right.keyId({ signal })).resolves.toBe('01:seal');
    await right.close();
  });
});
