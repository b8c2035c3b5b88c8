import { afterEach, describe, expect, test } from '@jest/globals';
import { mounted, WRONG, type MountedUserpass } from './mounted.ts';

let mount: MountedUserpass;
afterEach(async () => mount?.close());

async function refusal(path: string, data: Record<string, unknown>): Promise<string> {
  const { status, errors } = await mount.call('update', `${mount.path}/${path}`, { data });
  return `${status} ${(errors ?? []).join()}`;
}

describe('users', () => {
  test('every variant of case of a name is one user, whichever path names it', async () => {
    mount = await mounted();
    await mount.write('users/Bob', { password: 'first' });
    await mount.write('users/BOB/password', { password: 'second' });
    await mount.write('users/bOb/policies', { token_policies: 'dev' });
    expect((await mount.list('users')).data).toEqual({ keys: ['bob'] });
    expect((await mount.read('users/boB')).data).toMatchObject({ token_policies: ['dev'] });
    expect([await mount.outcome('bob', 'first'), await mount.outcome('boB', 'second')]).toEqual([WRONG, 'in']);
    await mount.delete('users/BOB');
    expect((await mount.call('read', `${mount.path}/users/bob`)).status).toBe(404);
  });

  test.each(['u@b', 'a b', '-a', 'a-', 'a/b', '\u212Aarl', 'ſam', 'Ａnn'])('there is no user %j', async (name) => {
    mount = await mounted();
    for (const path of [`users/${name}`, `login/${name}`]) {
      const { status } = await mount.call('update', `${mount.path}/${path}`, { data: { password: 'x' } });
      expect(status).toBe(404);
    }
  });

  test('a write changes only what it sends', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'first', token_policies: 'a', token_ttl: '1h' });
    await mount.write('users/bob', { token_ttl: '2h' });
    expect((await mount.read('users/bob')).data).toMatchObject({ token_policies: ['a'], token_ttl: 7200 });
    expect(await mount.outcome('bob', 'first')).toBe('in');
    await mount.write('users/bob', { password: 'second' });
    expect((await mount.read('users/bob')).data).toMatchObject({ token_policies: ['a'], token_ttl: 7200 });
    expect([await mount.outcome('bob', 'first'), await mount.outcome('bob', 'second')]).toEqual([WRONG, 'in']);
  });

  test('a write that is refused changes nothing', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'first', token_policies: 'a' });
    expect(await refusal('users/bob', { password: 'second', token_ttl: '2h', token_max_ttl: '1h' })).toMatch(/^400 'token_ttl'/);
    expect(await refusal('users/bob', { password: 'second', token_policies: 'Root' })).toMatch(/^400 token_policies: no login can give/);
    expect(await mount.outcome('bob', 'first')).toBe('in');
  });

  test('policies are stored in lower case, each once', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'x', token_policies: ['Q', 'q', ' P '] });
    expect((await mount.read('users/bob')).data).toMatchObject({ token_policies: ['p', 'q'] });
  });

  test('the old names of parameters are read back while they were written last', async () => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'x', policies: 'a' });
    expect((await mount.read('users/bob')).data).toMatchObject({ policies: ['a'], token_policies: ['a'] });
    await mount.write('users/bob/policies', { policies: 'b' });
    expect((await mount.read('users/bob')).data).toMatchObject({ policies: ['b'], token_policies: ['b'] });
    await mount.write('users/bob/policies', { token_policies: 'c' });
    const { data } = await mount.read('users/bob');
    expect(data).toMatchObject({ token_policies: ['c'] });
    expect(data).not.toHaveProperty('policies');
  });

  test.each([
    ['users/none/password', { password: 'x' }, '404 username does not exist'],
    ['users/none/policies', { token_policies: 'x' }, '404 username does not exist'],
    ['users/bob/policies', {}, '400 missing token_policies'],
    ['users/bob/password', {}, '400 must provide either password or password_hash'],
    ['users/bob/password', { password: '' }, '400 must provide either password or password_hash'],
    ['users/bob', { password: '' }, '400 must provide either password or password_hash'],
    ['users/bob', { password: 'x', password_hash: 'y' }, '400 only one of password or password_hash may be provided'],
    ['users/bob', { password: 'x'.repeat(65_537) }, '400 password is longer than 65536 bytes'],
    ['users/new', { token_ttl: 5 }, '400 must provide either password or password_hash'],
    [
      'users/new',
      { password_hash: '$2b$04$C1.OWFgmzLaol1/xH2md6u1Ly0tdJ7/4SJaEgHixhkKFtShyNmF9u' },
      '400 bcrypt cost of 4 is too low, want 5 at minimum',
    ],
    [
      'users/new',
      { password_hash: '$2b$13$C1.OWFgmzLaol1/xH2md6u1Ly0tdJ7/4SJaEgHixhkKFtShyNmF9u' },
      '400 bcrypt cost of 13 exceeds maximum cost of 12',
    ],
    [
      'users/new',
      { password_hash: '$2x$10$C1.OWFgmzLaol1/xH2md6u1Ly0tdJ7/4SJaEgHixhkKFtShyNmF9u' },
      '400 password_hash is not a valid bcrypt hash',
    ],
    ['users/new', { password_hash: 'C1.OWFgmzLaol1' }, '400 password_hash is not a valid bcrypt hash'],
  ])('a write to %s of %j answers %s', async (path, data, answer) => {
    mount = await mounted();
    await mount.write('users/bob', { password: 'first' });
    expect(await refusal(path, data)).toBe(answer);
    expect(await mount.outcome('bob', 'first')).toBe('in');
  });

  test('writes of new users and of known ones are different capabilities', async () => {
    mount = await mounted();
    await mount.call('update', 'sys/policies/acl/creator', {
      data: { policy: 'path "auth/userpass/users/*" { capabilities = ["create"] }' },
    });
    const { auth } = await mount.call('update', 'auth/token/create', { data: { policies: ['creator'] } });
    const write = async (): Promise<number> =>
      (await mount.call('update', `${mount.path}/users/new`, { data: { password: 'x' }, token: auth!.client_token })).status;
    expect([await write(), await write()]).toEqual([204, 403]);
  });
});
