import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CoreResponse, RequestOperation } from '@strongroom/core';
import { mounted, type MountedAppRole } from './mounted.ts';

describe('a role', () => {
  let mount: MountedAppRole;
  beforeEach(async () => {
    mount = await mounted();
  });
  afterEach(async () => mount.close());

  const ask = async (operation: RequestOperation, path: string, data?: Record<string, unknown>): Promise<CoreResponse> =>
    mount.call(operation, `auth/approle/role/${path}`, data ? { data } : {});
  const read = async (path: string): Promise<unknown> => (await ask('read', path)).data;

  test('is one role, whatever the case of its name', async () => {
    const roleId = await mount.role('Web', { token_policies: 'app' });
    expect(await mount.role('WEB', { token_ttl: '5m' })).toBe(roleId);
    expect((await mount.list('role')).data).toEqual({ keys: ['web'] });
    expect(await read('web')).toMatchObject({ token_policies: ['app'], token_ttl: 300 });
  });

  test('keeps what a write does not send', async () => {
    await mount.role('web', { secret_id_num_uses: 3, secret_id_bound_cidrs: '10.0.0.0/8' });
    await mount.role('web', { secret_id_ttl: '1h' });
    expect(await read('web')).toMatchObject({ secret_id_num_uses: 3, secret_id_bound_cidrs: ['10.0.0.0/8'], secret_id_ttl: 3_600 });
  });

  test.each([
    [{ bind_secret_id: false }, 'at least one constraint should be enabled on the role'],
    [{ secret_id_num_uses: -1 }, 'secret_id_num_uses cannot be negative'],
    [{ secret_id_bound_cidrs: 'zz' }, 'failed to validate CIDR blocks: invalid CIDR address: zz'],
    [{ role_id: '' }, 'invalid role_id supplied, or failed to generate a role_id'],
    [{ role_id: 'a\u0000b' }, 'role_id must not contain control characters'],
    [{ role_id: 'x'.repeat(513) }, 'role_id is longer than 512 bytes'],
    [{ token_period: '800h' }, `period of "800h0m0s" is greater than the backend's maximum lease TTL of "768h0m0s"`],
    [
      { token_policies: 'Root ' },
      'token_policies: no login can give the policy "root"; write a policy of your own with the paths that are needed',
    ],
  ])('is not written with %p', async (data, text) => {
    expect(await ask('update', 'web', data)).toMatchObject({ status: 400, errors: [text] });
    expect(await read('web')).toBeNull();
  });

  test('says of token types for mounts what they become', async () => {
    expect(await ask('update', 'web', { token_type: 'default-batch' })).toMatchObject({
      status: 200,
      warnings: ['default-batch has no useful meaning; adjusting to batch'],
    });
    expect(await read('web')).toMatchObject({ token_type: 'batch' });
  });

  test('says that a lifetime above the maximum of the mount is cut', async () => {
    const { warnings } = await ask('update', 'web', { token_max_ttl: '2000h' });
    expect(warnings).toEqual([expect.stringContaining('token_max_ttl')]);
  });

  test('takes local_secret_ids at its creation, and the same value later', async () => {
    await mount.role('web', { local_secret_ids: true });
    expect((await ask('update', 'web', { local_secret_ids: true })).status).toBe(204);
    expect(await ask('update', 'web', { local_secret_ids: false })).toMatchObject({
      errors: ['local_secret_ids can only be modified during role creation'],
    });
    expect(await read('web/local-secret-ids')).toEqual({ local_secret_ids: true });
  });

  test('has a role id of its own, which no other role can take', async () => {
    await mount.role('web', { role_id: ' web-1 ' });
    expect(await read('web/role-id')).toEqual({ role_id: 'web-1' });
    expect(await ask('update', 'other', { role_id: 'web-1' })).toMatchObject({ status: 400, errors: ['role_id already in use'] });
    await mount.role('web', { role_id: 'web-2' });
    expect(await mount.role('other', { role_id: 'web-1' })).toBe('web-1');
    await mount.delete('role/other');
    expect(await mount.role('third', { role_id: 'web-1' })).toBe('web-1');
  });

  test('of two that are created at once with one role id, one is', async () => {
    const answers = await Promise.all(['a', 'b', 'c'].map(async (name) => ask('update', name, { role_id: 'same' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400, 400]);
  });

  test.each([
    ['policies', { token_policies: 'Ops,dev' }, { token_policies: ['dev', 'ops'] }, { token_policies: [] }],
    ['bind-secret-id', { bind_secret_id: false }, { bind_secret_id: false }, { bind_secret_id: true }],
    ['secret-id-num-uses', { secret_id_num_uses: 5 }, { secret_id_num_uses: 5 }, { secret_id_num_uses: 0 }],
    ['secret-id-ttl', { secret_id_ttl: '1h' }, { secret_id_ttl: 3_600 }, { secret_id_ttl: 0 }],
    [
      'secret-id-bound-cidrs',
      { secret_id_bound_cidrs: '10.0.0.0/8' },
      { secret_id_bound_cidrs: ['10.0.0.0/8'] },
      { secret_id_bound_cidrs: null },
    ],
    ['bound-cidr-list', { bound_cidr_list: '10.0.0.0/8' }, { bound_cidr_list: ['10.0.0.0/8'] }, { bound_cidr_list: null }],
    ['token-bound-cidrs', { token_bound_cidrs: '10.0.0.0/8' }, { token_bound_cidrs: ['10.0.0.0/8'] }, { token_bound_cidrs: [] }],
    ['period', { token_period: '1h' }, { token_period: 3_600 }, { token_period: 0 }],
    ['token-num-uses', { token_num_uses: 5 }, { token_num_uses: 5 }, { token_num_uses: 0 }],
    ['token-ttl', { token_ttl: '1h' }, { token_ttl: 3_600 }, { token_ttl: 0 }],
    ['token-max-ttl', { token_max_ttl: '1h' }, { token_max_ttl: 3_600 }, { token_max_ttl: 0 }],
  ])('has a path for %s alone', async (at, written, shown, empty) => {
    await mount.role('web', { token_bound_cidrs: at === 'bind-secret-id' ? '10.0.0.0/8' : [] });
    expect((await ask('update', `web/${at}`, written)).status).toBe(204);
    expect(await read(`web/${at}`)).toEqual(shown);
    expect((await ask('delete', `web/${at}`)).status).toBe(204);
    expect(await read(`web/${at}`)).toEqual(empty);
    expect(await ask('update', `web/${at}`, {})).toMatchObject({ status: 400, errors: [expect.stringMatching(/^missing \w+$/)] });
    expect((await ask('update', `none/${at}`, written)).status).toBe(404);
    expect([(await ask('read', `none/${at}`)).status, (await ask('delete', `none/${at}`)).status]).toEqual([404, 204]);
  });

  test('shows an old name where it was written by it', async () => {
    await mount.role('web');
    await ask('update', 'web/policies', { policies: 'ops' });
    expect(await read('web/policies')).toEqual({ token_policies: ['ops'], policies: ['ops'] });
    await ask('update', 'web/period', { period: '1h' });
    expect(await read('web/period')).toEqual({ token_period: 3_600, period: 3_600 });
    await ask('update', 'web/policies', { token_policies: 'dev' });
    expect(await read('web/policies')).toEqual({ token_policies: ['dev'] });
  });

  test('keeps its lifetimes in order, whichever path writes them', async () => {
    await mount.role('web', { token_ttl: '30m', token_max_ttl: '1h' });
    expect((await ask('update', 'web/token-ttl', { token_ttl: '2h' })).errors).toEqual([
      'token_ttl should not be greater than token_max_ttl',
    ]);
    expect((await ask('update', 'web/token-max-ttl', { token_max_ttl: '10m' })).errors).toEqual([
      'token_max_ttl should be greater than or equal to token_ttl',
    ]);
  });

  test('is not left without a constraint by a path for one parameter', async () => {
    await mount.role('web', { bind_secret_id: false, secret_id_bound_cidrs: '10.0.0.0/8' });
    expect((await ask('delete', 'web/secret-id-bound-cidrs')).errors).toEqual(['at least one constraint should be enabled on the role']);
  });

  test('is created by the capability create, and changed by update', async () => {
    await mount.call('update', 'sys/policies/acl/maker', { data: { policy: 'path "auth/approle/role/*" { capabilities = ["create"] }' } });
    const { auth } = await mount.call('update', 'auth/token/create', { data: { policies: ['maker'] } });
    const write = async (): Promise<number> =>
      (await mount.call('update', 'auth/approle/role/web', { token: auth!.client_token, data: { token_ttl: '1m' } })).status;
    expect([await write(), await write()]).toEqual([204, 403]);
  });
});
