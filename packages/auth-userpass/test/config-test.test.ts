import { afterEach, describe, expect, test } from '@jest/globals';
import { mounted, type MountedUserpass } from './mounted.ts';

let mount: MountedUserpass;
afterEach(async () => mount?.close());

interface Report {
  readonly ok: boolean;
  readonly steps: readonly { step: string; ok: boolean; error?: string }[];
  readonly policies?: readonly string[];
}

async function tried(data: Record<string, unknown>): Promise<{ ok: boolean; steps: string[]; policies?: readonly string[] }> {
  const { steps, ...report } = (await mount.write('config/test', data)).data as Report;
  return { ...report, steps: steps.map(({ step, ok, error }) => (ok ? step : `${step}: ${error}`)) };
}

describe('config/test', () => {
  test('passes step by step for a user who could log in', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'right', token_policies: 'dev' });
    const report = { ok: true, steps: ['user', 'lockout', 'password', 'addresses', 'policies'], policies: ['dev'] };
    expect(await tried({ username: 'BOB', password: 'right' })).toEqual(report);
    expect(await tried({ username: 'bob' })).toEqual({ ...report, steps: ['user', 'lockout', 'addresses', 'policies'] });
  });

  test('names every reason for a refusal', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'right', token_bound_cidrs: '10.0.0.0/8' });
    for (let time = 0; time < 5; time += 1) await mount.login('bob', 'wrong');
    expect(await tried({ username: 'bob', password: 'other', address: '192.0.2.1' })).toEqual({
      ok: false,
      steps: [
        'user',
        'lockout: the name is locked after too many refused logins',
        'password: the password is wrong',
        'addresses: the address is outside token_bound_cidrs',
        'policies',
      ],
      policies: [],
    });
    expect(await tried({ username: 'nobody', password: 'x' })).toEqual({ ok: false, steps: ['user: there is no such user', 'lockout'] });
  });

  test.each(['', 'u@b', '\u212Aarl'])('refuses %j, which no path takes for a name', async (username) => {
    mount = await mounted();
    await expect(mount.write('config/test', { username })).rejects.toThrow('400 username: name the user to try');
  });

  test('counts nothing and takes sudo', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'right' });
    for (let time = 0; time < 9; time += 1) await tried({ username: 'bob', password: 'wrong' });
    expect(await mount.outcome('bob', 'right')).toBe('in');
    await mount.call('update', 'sys/policies/acl/tester', { data: { policy: 'path "auth/userpass/*" { capabilities = ["update"] }' } });
    const { auth } = await mount.call('update', 'auth/token/create', { data: { policies: ['tester'] } });
    const { status } = await mount.call('update', 'auth/userpass/config/test', { data: { username: 'bob' }, token: auth!.client_token });
    expect(status).toBe(403);
  });
});
