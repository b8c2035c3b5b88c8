import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { URI, type TOTP } from 'otpauth';
import { totpEngine } from '../src/index.ts';

const ACCOUNT = { generate: true, issuer: 'Acme & Co', account_name: 'ada@example.org' };

describe('one-time codes', () => {
  let mount: TestMount;
  beforeEach(async () => {
    mount = await mountForTest(totpEngine);
  });
  afterEach(async () => mount.close());

  const made = async (name: string): Promise<string> => ((await mount.read(`code/${name}`)).data as { code: string }).code;
  const check = async (name: string, code: string): ReturnType<TestMount['call']> =>
    mount.call('update', `totp/code/${name}`, { data: { code } });
  const wrong = (code: string): string => (code.startsWith('0') ? '1' : '0') + code.slice(1);

  test.each([
    ['SHA1', 6, 30],
    ['SHA256', 8, 60],
    ['SHA512', 6, 15],
  ])('of a generated key are those of an authenticator (%s, %i digits, %i seconds)', async (algorithm, digits, period) => {
    const { data } = await mount.write('keys/a', { ...ACCOUNT, algorithm, digits, period });
    const theirs = URI.parse((data as { url: string }).url) as TOTP;
    const read = (await mount.read('code/a')).data as { code: string; generated: number };
    expect(read.code).toBe(theirs.generate({ timestamp: read.generated * 1_000 }));
    expect([theirs.issuer, theirs.label]).toEqual([ACCOUNT.issuer, ACCOUNT.account_name]);
    await mount.write('keys/b', { url: theirs.toString() });
    expect(await made('b')).toBe(await made('a'));
  });

  test('are valid once', async () => {
    await mount.write('keys/a', ACCOUNT);
    const code = await made('a');
    expect((await check('a', code)).data).toEqual({ valid: true });
    const again = await check('a', code);
    expect([again.status, again.errors]).toEqual([400, ['code already used; wait until the next time period']]);
  });

  test('are valid once for requests at the same time', async () => {
    await mount.write('keys/a', ACCOUNT);
    const code = await made('a');
    const answers = await Promise.all(Array.from({ length: 8 }, async () => check('a', code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400, 400, 400]);
  });

  test('are accepted one period late, and not two', async () => {
    await mount.write('keys/a', ACCOUNT);
    await mount.write('keys/strict', { ...ACCOUNT, skew: 0 });
    const [late, strict] = [await made('a'), await made('strict')];
    await mount.advance('30s');
    expect((await check('strict', strict)).data).toEqual({ valid: false });
    const later = await made('a');
    expect((await check('a', late)).data).toEqual({ valid: true });
    await mount.advance('60s');
    expect((await check('a', later)).data).toEqual({ valid: false });
  });

  test('are not compared for a while after five wrong ones, not even the right one', async () => {
    await mount.write('keys/a', ACCOUNT);
    for (let guess = 0; guess < 5; guess += 1) expect((await check('a', wrong(await made('a')))).data).toEqual({ valid: false });
    const paused = await check('a', await made('a'));
    expect(paused.status).toBe(429);
    expect(paused.errors?.join()).toContain('too many wrong codes');
    await mount.advance('30s');
    expect((await check('a', await made('a'))).data).toEqual({ valid: true });
  });

  test.each([
    ['qr_size', { qr_size: 100_000 }],
    ['key_size', { key_size: 1_000_000 }],
    ['period', { period: '48h' }],
    ['issuer', { issuer: 'x'.repeat(2_000) }],
    ['account_name', { account_name: 'ü'.repeat(100) }],
    ['url', { generate: false, url: 'nonsense' }],
    ['key', { generate: false, key: 'A' }],
  ])('a wrong %s is a 400 that names it', async (field, sent) => {
    const { status, errors } = await mount.call('update', 'totp/keys/a', { data: { ...ACCOUNT, ...sent } });
    expect(status).toBe(400);
    expect(errors?.join()).toContain(field);
  });
});
