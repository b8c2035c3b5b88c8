import { describe, expect, test } from '@jest/globals';
import { killableMount, manualClock, mountForTest, sharedMemory, type TestMount } from '@strongroom/engine-testkit';
import { totpEngine } from '../src/index.ts';

const ACCOUNT = { generate: true, issuer: 'Acme', account_name: 'ada' };
const USED = 'code already used; wait until the next time period';

const made = async (mount: TestMount): Promise<string> => ((await mount.read('code/a')).data as { code: string }).code;
const check = async (mount: TestMount, code: string): Promise<[number, unknown]> => {
  const { status, data, errors } = await mount.call('update', 'totp/code/a', { data: { code } });
  return [status, data ?? errors];
};
const wrong = (code: string): string => (code.startsWith('0') ? '1' : '0') + code.slice(1);

describe('a code on two servers of one store', () => {
  test('is valid once, also when it comes to both at once', async () => {
    const store = sharedMemory();
    const clock = manualClock();
    const first = await mountForTest(totpEngine, { storage: store.open(), clock });
    await first.write('keys/a', ACCOUNT);
    const second = await mountForTest(totpEngine, { storage: store.open(), clock });
    const code = await made(second);
    const answers = await Promise.all([first, second, first, second].map(async (mount) => check(mount, code)));
    expect(answers.filter(([status]) => status === 200)).toEqual([[200, { valid: true }]]);
    expect(answers.filter(([status]) => status === 400)).toEqual(Array.from({ length: 3 }, () => [400, [USED]]));
    await clock.advance('30s');
    const next = await made(first);
    expect(await check(first, next)).toEqual([200, { valid: true }]);
    expect(await check(second, next)).toEqual([400, [USED]]);
    await Promise.all([first.close(), second.close()]);
  });

  test('counts on both when it is wrong', async () => {
    const store = sharedMemory();
    const clock = manualClock();
    const first = await mountForTest(totpEngine, { storage: store.open(), clock });
    await first.write('keys/a', ACCOUNT);
    const second = await mountForTest(totpEngine, { storage: store.open(), clock });
    const code = await made(first);
    for (const mount of [first, second, first, second, first]) expect(await check(mount, wrong(code))).toEqual([200, { valid: false }]);
    expect((await check(first, code))[0]).toBe(429);
    expect((await check(second, code))[0]).toBe(429);
    await Promise.all([first.close(), second.close()]);
  });
});

describe('a server that dies', () => {
  test('knows the used and the wrong codes when it starts again', async () => {
    const before = await killableMount(totpEngine, { clock: manualClock() });
    await before.write('keys/a', ACCOUNT);
    const code = await made(before);
    expect(await check(before, code)).toEqual([200, { valid: true }]);
    for (let guess = 0; guess < 5; guess += 1) await check(before, wrong(code));
    const after = await before.restart(1);
    expect((await check(after, code))[0]).toBe(429);
    await after.advance('30s');
    expect(await check(after, code)).toEqual([400, [USED]]);
    await after.close();
  });

  test('while it checks a code, accepts the code afterwards or has it used, and never both', async () => {
    const deaths: boolean[] = [];
    for (const commits of [0, 1, 2]) {
      const before = await killableMount(totpEngine, { clock: manualClock() });
      await before.write('keys/a', ACCOUNT);
      const code = await made(before);
      before.storage.dieAfter(commits);
      const died = await before.diesIn(check(before, code));
      const after = await before.restart(1);
      expect(await check(after, code)).toEqual(died ? [200, { valid: true }] : [400, [USED]]);
      deaths.push(died);
      await after.close();
    }
    expect(new Set(deaths).size).toBe(2);
  });

  test('while it writes a key, has the old key or the new one afterwards', async () => {
    const deaths: boolean[] = [];
    for (const commits of [0, 1]) {
      const before = await killableMount(totpEngine, { clock: manualClock() });
      await before.write('keys/a', ACCOUNT);
      const old = await made(before);
      before.storage.dieAfter(commits);
      const died = await before.diesIn(before.write('keys/a', { key: 'JBSWY3DPEHPK3PXP' }));
      const after = await before.restart(1);
      expect((await made(after)) === old).toBe(died);
      deaths.push(died);
      await after.close();
    }
    expect(deaths).toEqual([true, false]);
  });
});
