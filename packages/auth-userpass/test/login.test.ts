import { afterEach, describe, expect, test } from '@jest/globals';
import { DENIED, mounted, WRONG, type MountedUserpass } from './mounted.ts';

let mount: MountedUserpass;
afterEach(async () => mount?.close());

async function guess(username: string, times: number): Promise<string[]> {
  const outcomes: string[] = [];
  for (let time = 0; time < times; time += 1) outcomes.push(await mount.outcome(username, `guess ${time}`));
  return outcomes;
}

describe('logins', () => {
  test('a wrong password and an unknown user get the same answers, before and after the lock', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'right' });
    const known = await guess('bob', 7);
    expect(await guess('nobody', 7)).toEqual(known);
    expect(known).toEqual([WRONG, WRONG, WRONG, WRONG, WRONG, DENIED, DENIED]);
  });

  test('a lock holds for every variant of the name and against the right password, until an operator ends it', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'right' });
    await guess('BOB', 3);
    await guess('bob', 2);
    expect(await mount.outcome('Bob', 'right')).toBe(DENIED);
    const { data } = await mount.call('read', 'sys/auth/userpass');
    const { accessor } = data as { accessor: string };
    expect((await mount.call('update', `sys/locked-users/${accessor}/unlock/BoB`)).status).toBe(204);
    expect(await mount.outcome('Bob', 'right')).toBe('in');
  });

  test('a mount is tuned to a lockout of its own', async () => {
    mount = await mounted();
    const config = { lockout_threshold: '2', lockout_duration: '10m', lockout_counter_reset: '10m', lockout_disable: false };
    expect((await mount.call('update', 'sys/auth/userpass/tune', { data: { user_lockout_config: config } })).status).toBe(204);
    expect((await mount.call('read', 'sys/auth/userpass/tune')).data).toMatchObject({
      user_lockout_counter_threshold: 2,
      user_lockout_duration: 600,
      user_lockout_counter_reset_duration: 600,
      user_lockout_disable: false,
    });
    expect(await guess('bob', 3)).toEqual([WRONG, WRONG, DENIED]);
    await mount.advance('10m');
    expect(await guess('bob', 1)).toEqual([WRONG]);
  });

  test('the right password from an address that is not allowed is refused, and does not lock the user', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'right', token_bound_cidrs: '10.0.0.0/8' });
    for (let time = 0; time < 9; time += 1) expect(await mount.outcome('bob', 'right', '192.0.2.1')).toBe(DENIED);
    expect(await mount.outcome('bob', 'right', '10.1.2.3')).toBe('in');
  });

  test.each([
    ['as before', async () => undefined, 200],
    ['deleted', async () => mount.delete('users/bob'), 400],
    ['given another password', async () => mount.write('users/bob/password', { password: 'other' }), 400],
  ])('a login that waits for a second factor while the user is %s: the status of its end', async (_what, change, status) => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'right' });
    const { data } = await mount.call('update', 'identity/mfa/method/totp', { data: { issuer: 'Test' } });
    const enforcement = 'identity/mfa/login-enforcement/all';
    const { method_id } = data as { method_id: string };
    await mount.call('update', enforcement, { data: { mfa_method_ids: [method_id], auth_method_types: ['userpass'] } });
    const { pendingAuth } = await mount.login('bob', 'right');
    const { mfa_request_id } = pendingAuth!.mfa_requirement;
    // So no code is needed.
    await mount.call('delete', enforcement);
    await change();
    expect((await mount.call('update', 'sys/mfa/validate', { token: '', data: { mfa_request_id } })).status).toBe(status);
  });

  test('a lifetime that the explicit maximum of the user cuts is a warning', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'right', token_ttl: '1h', token_explicit_max_ttl: '10m' });
    const { auth, warnings } = await mount.login('bob', 'right');
    expect(auth!.lease_duration).toBe(600);
    expect(warnings).toEqual(['TTL of "1h" exceeded the effective max_ttl of "10m"; TTL value is capped accordingly']);
  });

  test('logins that find the queue full are answered with 429 and do not lock the user', async () => {
    mount = await mounted({ limits: { running: 1, waiting: 1 } });
    await mount.write('users/bob', { password: 'right' });
    const outcomes = await Promise.all(Array.from({ length: 20 }, async (_, number) => mount.outcome(`user-${number}`, 'wrong')));
    expect(new Set(outcomes)).toEqual(new Set([WRONG, '429 too many passwords are being checked; try again in a moment']));
    const again = await Promise.all(Array.from({ length: 20 }, async (_, number) => mount.outcome(`other-${number % 10}`, 'right')));
    expect(again).not.toContain(DENIED);
    expect(await mount.outcome('bob', 'right')).toBe('in');
  });

  test('all variants of a name are one identity', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'right' });
    const one = await mount.login('bob', 'right');
    const other = await mount.login('BOB', 'right');
    expect(other.auth!.entity_id).toBe(one.auth!.entity_id);
    expect(other.auth!.metadata).toEqual({ username: 'bob' });
  });

  test('tokens are what the user says', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'right', token_policies: 'dev', token_no_default_policy: true, token_type: 'batch' });
    const { auth } = await mount.login('bob', 'right');
    expect(auth).toMatchObject({ policies: ['dev'], token_type: 'batch', renewable: false, accessor: '' });
    await mount.write('users/bob', {
      token_type: 'service',
      token_no_default_policy: false,
      token_strictly_bind_ip: true,
      token_num_uses: 2,
    });
    const bound = await mount.login('bob', 'right', '10.0.0.1');
    const lookup = async (remoteAddress: string): Promise<number> =>
      (await mount.call('read', 'auth/token/lookup-self', { token: bound.auth!.client_token, remoteAddress })).status;
    expect([await lookup('10.0.0.2'), await lookup('10.0.0.1')]).toEqual([403, 200]);
  });

  test('an empty password is refused', async () => {
    mount = await mounted();
    expect(await mount.outcome('bob', '')).toBe('400 missing password');
  });
});

describe('renewals', () => {
  test('a token is renewed by the terms that the user has now', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'right', token_policies: 'Q', token_ttl: '10m' });
    const token = (await mount.login('bob', 'right')).auth!.client_token;
    await mount.write('users/bob', { token_ttl: '20m' });
    expect((await mount.renew(token)).auth).toMatchObject({ lease_duration: 1200, policies: ['default', 'q'] });
  });

  test('a user with other policies, or who is gone, renews nothing; the token lives to its end', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'right', token_policies: 'a', token_ttl: '10m' });
    const token = (await mount.login('bob', 'right')).auth!.client_token;
    await mount.write('users/bob/policies', { token_policies: 'b' });
    const changed = await mount.renew(token);
    expect([changed.status, changed.errors]).toEqual([
      400,
      ['1 error occurred:\n\t* failed to renew entry: policies have changed, not renewing\n\n'],
    ]);
    await mount.delete('users/bob');
    const gone = await mount.renew(token);
    expect([gone.status, gone.errors]).toEqual([
      400,
      ['1 error occurred:\n\t* failed to renew entry: user "bob" does not exist during renewal\n\n'],
    ]);
    expect((await mount.call('read', 'auth/token/lookup-self', { token })).status).toBe(200);
  });
});
